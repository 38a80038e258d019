package extractive

import (
	"slices"
	"strconv"
	"strings"
)

// outcome is how a tool call ended.
type outcome struct {
	failed bool
	// declined says that the user did not let the tool run; said is what the user said to it.
	declined bool
	said     string
	// errors is what the tool said went wrong, word for word.
	errors string
	// closing is what the last line says, "ok" where there is none, or where the tool said so.
	closing string
}

// maxErrorText is how many units of an error are kept.
const maxErrorText = 420

// errorScan finds the lines of a text that tell of errors.
type errorScan struct {
	// first and second are the lines that tell most, last is the latest that tells as much as the second.
	first, second, last found
	// exit is the exit status that the text names, -1 where it names none, the highest where it names several.
	exit int
	// ending are the last lines that are not empty, of which there were ends; the older ones are overwritten.
	ending [endingLines]found
	ends   int
	// final is the last line that is not empty.
	final string
	// lines counts the lines that are not empty; few joins them, as long as it is not many.
	lines int
	few   string
	many  bool
}

// found is a line that tells of an error.
type found struct {
	text string
	line int
	// score is how surely it does, weight how much there is in it beside.
	score, weight int
}

// endingLines is how many lines count as the end of an output.
const endingLines = 6

// fewBytes is how long an output is at most that is kept whole when it is the output of a failure.
const fewBytes = 320

// scan reads all of a text. It looks at each byte once and keeps a few lines.
func (e *errorScan) scan(text string) {
	e.exit = -1
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		e.lines++
		// Tools put the exit status into the first lines or the last.
		if (e.lines <= 6 || len(text) < 512) && e.readExit(trimmed) || trimmed == "Output:" {
			continue
		}
		if !isFraming(trimmed) {
			e.final = trimmed
			if e.many = e.many || len(e.few)+len(trimmed) > fewBytes; !e.many {
				e.few += trimmed + "\n"
			}
		}
		score, at := errorScore(trimmed)
		if len(trimmed) > 600 {
			trimmed = around(trimmed, at)
		}
		e.ending[e.ends%endingLines] = found{text: trimmed, line: e.lines, score: score}
		e.ends++
		if score > 0 {
			e.note(found{text: trimmed, line: e.lines, score: score, weight: 2*score + detail(trimmed)})
		}
	}
}

// isFraming says whether a line is what stands around an output and tells nothing of how it ended: what a harness adds,
// the prompt of a shell, a command that a runner repeats before it runs it, a file that a commit lists.
func isFraming(line string) bool {
	last := line[len(line)-1]
	switch line[0] {
	case '<':
		return last == '>'
	case '[':
		return last == ']' || strings.Contains(line, "] $ ")
	case '(':
		return last == ')'
	case '$', '+', '>':
		return len(line) > 1 && line[1] == ' '
	}
	switch last {
	case '$', '#', '%', '>':
		return len(line) < 60 && (strings.Contains(line, "@") || strings.Contains(line, "-"+line[len(line)-1:]))
	}
	return strings.HasPrefix(line, "create mode ") || strings.HasPrefix(line, "delete mode ")
}

// endsBadly says whether the end of the output tells that the command failed. What the command itself said, in `said`,
// tells nothing. A line that says that all is well takes back what compilers said before it, and no more.
func (e *errorScan) endsBadly(said string) bool {
	complaint := found{}
	for i := max(0, e.ends-endingLines); i < e.ends; i++ {
		f := e.ending[i%endingLines]
		if quotes(said, f.text) {
			continue
		}
		if message := complains(f.text); message != "" {
			// Tests say where they logged something in the form in which they say where they failed.
			f.score, _ = errorScore(message)
			if f.score < 3 {
				f.score, f.weight = 3, 6+detail(f.text)
				complaint = f
				continue
			}
		}
		switch {
		case f.score >= 3 || isDeath(f.text):
			return true
		case f.score == 0 && allIsWell(f.text):
			complaint = found{}
		}
	}
	if complaint.score == 0 {
		return false
	}
	e.note(complaint)
	return true
}

// endsWell says whether the last line tells that all is well.
func (e *errorScan) endsWell() bool {
	score, _ := errorScore(e.final)
	return score == 0 && e.final != "" && allIsWell(e.final)
}

// isDeath says whether a line is what is left of a program that was ended.
func isDeath(line string) bool {
	return line == "Killed" || line == "Terminated" || strings.HasPrefix(line, "Traceback (most") || strings.Contains(line, "Segmentation fault") ||
		strings.Contains(line, "core dumped") || strings.HasSuffix(line, "Aborted")
}

// quotes says whether a line of an output repeats what a command said, as that of a commit does.
func quotes(said, line string) bool {
	if i := strings.Index(line, "] "); i > 0 && line[0] == '[' {
		line = line[i+2:]
	}
	return len(line) > 8 && strings.Contains(said, line)
}

// complains returns the message of a line that has the form in which compilers and linters complain: a path, a line,
// perhaps a column, and a message that is not of less weight. It returns "" for any other line.
func complains(line string) string {
	colon := strings.IndexByte(line, ':')
	if colon < 3 || colon > maxIdentifier || strings.ContainsAny(line[:colon], " \t\"'=(") || !hasExtension(line[:colon]) {
		return ""
	}
	rest := line[colon+1:]
	numbers := 0
	for numbers < 2 {
		digits := 0
		for digits < len(rest) && digits < 7 && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits == len(rest) || rest[digits] != ':' {
			break
		}
		rest = rest[digits+1:]
		numbers++
	}
	if numbers == 0 || !strings.HasPrefix(rest, " ") {
		return ""
	}
	rest = strings.TrimSpace(rest)
	for _, mild := range []string{"note:", "info", "debug", "hint", "help:", "warning"} {
		if hasFold(rest, mild) {
			return ""
		}
	}
	if what, _, named := strings.Cut(rest, ":"); named && len(what) < 40 && strings.Contains(strings.ToLower(what), "warning") {
		return ""
	}
	return rest
}

// saysOnlyOK says whether a line tells that a command ended well, and no more.
func saysOnlyOK(line string) bool {
	return strings.HasPrefix(line, "ok  ") || strings.HasPrefix(line, "ok \t") || line == "PASS" || line == "OK" || line == "ok"
}

// allIsWell says whether a line tells in so many words that a command ended well.
func allIsWell(line string) bool {
	if saysOnlyOK(line) || strings.HasPrefix(line, "--- PASS") {
		return true
	}
	if len(line) > 160 {
		return false
	}
	lower := strings.ToLower(line)
	for _, w := range []string{
		" passed", "tests pass", "all pass", "all checks pass", "succeeded", "build success", "successful", "0 issues", "0 errors", "no issues", "no errors",
		"0 failed", "0 failures", "no problems", "up to date", "全部通过", "成功",
	} {
		if strings.Contains(lower, w) {
			return !strings.Contains(lower, "not "+strings.TrimSpace(w)) && !strings.Contains(lower, "未") && !strings.Contains(lower, "unsuccessful")
		}
	}
	return false
}

// note keeps a line, if it tells more than those that are kept.
func (e *errorScan) note(f found) {
	switch {
	case f.weight > e.first.weight:
		if e.first.weight >= e.second.weight {
			e.second = e.first
		}
		e.first = f
	case f.weight > e.second.weight:
		e.second = f
	case f.weight >= e.second.weight:
		e.last = f
	}
}

// bestScore returns how surely the text tells of an error.
func (e *errorScan) bestScore() int { return max(e.first.score, e.second.score) }

// detail says whether a line has more to say than that something failed.
func detail(line string) int {
	switch words := strings.Count(line, " "); {
	case words == 0:
		return -2
	case words > 2 && (strings.Contains(line, ": ") || strings.Contains(line, "：")):
		return 2
	case words > 2:
		return 1
	}
	return 0
}

// around returns the part of a very long line in which the mark stands.
func around(line string, at int) string {
	start := max(0, at-120)
	return strings.ToValidUTF8(line[start:min(len(line), start+600)], "")
}

var exitMarks = []string{"exit code", "exit status", "exited with code", "exited with", "returncode", "exit_code", "exitcode", "return code", "退出码"}

// readExit reads the exit status from a line that names one.
func (e *errorScan) readExit(line string) bool {
	if len(line) > 200 {
		return false
	}
	lower := strings.ToLower(line)
	for _, mark := range exitMarks {
		i := strings.Index(lower, mark)
		if i < 0 || i > 32 {
			continue
		}
		rest := strings.TrimLeft(lower[i+len(mark):], " \":=>：code")
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if n, err := strconv.Atoi(rest[:digits]); err == nil {
			e.exit = max(e.exit, n)
			return digits+24 > len(rest)
		}
	}
	return false
}

// message returns the lines found as one text, in the order in which they stood.
func (e *errorScan) message() string {
	if !e.many && e.few != "" {
		return oneLine(e.few)
	}
	lines := []found{e.first, e.second, e.last}
	slices.SortFunc(lines, func(a, b found) int { return a.line - b.line })
	texts := make([]string, 0, len(lines))
	for _, f := range lines {
		if f.text != "" && !slices.Contains(texts, f.text) {
			texts = append(texts, f.text)
		}
	}
	if len(texts) == 0 {
		return shorten(oneLine(clip(e.final, 4*maxErrorText)), maxErrorText)
	}
	for i, text := range texts {
		texts[i] = shorten(oneLine(text), maxErrorText/len(texts))
	}
	return strings.Join(texts, lineBreak)
}

// errorScore says how surely a line tells of an error, and where the word is that says so: 4 where the line begins
// with it, 3 where the form is that of a message, 1 where only a word fits, 0 where none does.
func errorScore(line string) (score, at int) {
	for i := 0; i < len(line); i++ {
		b := line[i]
		s := 0
		switch b {
		case 'e', 'E':
			s = scoreE(line, i)
		case 'f', 'F':
			s = scoreF(line, i)
		case 'p', 'P':
			if hasFold(line[i:], "panic:") || hasFold(line[i:], "permission denied") || strings.HasPrefix(line[i:], "panicked at") {
				s = 3
			}
		case 'T':
			if strings.HasPrefix(line[i:], "Traceback (most") {
				s = 1
			}
		case 'c', 'C':
			if hasFold(line[i:], "cannot find") || hasFold(line[i:], "command not found") || hasFold(line[i:], "connection refused") {
				s = 3
			} else if hasFold(line[i:], "cannot ") {
				s = 1
			}
		case 'n', 'N':
			if hasFold(line[i:], "no such file") || hasFold(line[i:], "not found") {
				s = 2
			}
		case 'u':
			if strings.HasPrefix(line[i:], "undefined:") || strings.HasPrefix(line[i:], "undefined reference") {
				s = 3
			}
		case '_':
			// A failed check of a Go test says file and line.
			if strings.HasPrefix(line[i:], "_test.go:") && i < 80 {
				s = 3
			}
		case 0xE9, 0xE5, 0xE6:
			s = scoreIdeographs(line, i)
		}
		if s > 0 && i == 0 {
			s++
		}
		if s > score {
			score, at = min(s, 4), i
			if score == 4 {
				break
			}
		}
	}
	return score, at
}

// scoreIdeographs reads the Chinese words for errors at i; a colon after one makes it a message.
func scoreIdeographs(line string, i int) int {
	for _, word := range []string{"错误", "失败", "异常", "报错"} {
		rest, ok := strings.CutPrefix(line[i:], word)
		if !ok {
			continue
		}
		if i < 12 && (strings.HasPrefix(rest, "：") || strings.HasPrefix(rest, ":")) {
			return 3
		}
		return 1
	}
	return 0
}

// scoreE reads "error", "exception" and "ERR!" at i.
func scoreE(line string, i int) int {
	rest := line[i:]
	switch {
	case strings.HasPrefix(rest, "ERR!"):
		return 4
	case strings.HasPrefix(rest, "ERR_") && (i == 0 || !isLetter(line[i-1])):
		return 2
	case i == 0 && strings.HasPrefix(rest, "E   "):
		return 3
	case hasFold(rest, "error"):
		rest = rest[len("error"):]
	case hasFold(rest, "exception"):
		rest = rest[len("exception"):]
	default:
		return 0
	}
	// A word that ends so counts as a name (ValueError), one within a word (stderr, errors.New) does not.
	inName := i > 0 && isLetter(line[i-1])
	if inName && line[i] != 'E' {
		return 0
	}
	count := counted(line[:i])
	switch {
	case count == countNone:
		return 0
	case count == countSome && endsWord(strings.TrimPrefix(rest, "s")):
		return 3
	case rest == "" && (i == 0 || inName && strings.IndexByte(line, ' ') < 0):
		return 3
	case rest == "":
		return 1
	case rest[0] == ':' && saysNone(rest[1:]):
		return 0
	case len(rest) > 1 && rest[0] == ' ' && line[i] == 'E' && rest[1] > '0' && rest[1] <= '9':
		return 3
	case rest[0] == ':' && !inName, rest[0] == '[':
		if inName || strings.HasPrefix(rest, "[]") {
			return 1
		}
		return 3
	case rest[0] == ':' && len(rest) > 1 && rest[1] == ' ':
		if i < 80 && strings.IndexByte(line[:i], ' ') < 0 {
			return 4
		}
		return 3
	case strings.HasPrefix(rest, " TS") || strings.HasPrefix(rest, " CS") || strings.HasPrefix(rest, " E") || strings.HasPrefix(rest, " C"):
		return 3
	case isLetter(rest[0]) || rest[0] == '.' || rest[0] == '_' || rest[0] == '(' || rest[0] == ')' || rest[0] == ',' || rest[0] == ';':
		return 0
	case line[i:i+2] == "ER" && rest[0] != '`' && rest[0] != '"' && rest[0] != '\'':
		return 3
	}
	return 1
}

// endsWord says whether a word of a sentence ended before the text, and not a part of a name.
func endsWord(rest string) bool {
	return rest == "" || strings.IndexByte(" ,;:!)\t", rest[0]) >= 0 || rest == "."
}

// count is what stands before a word for errors.
type count uint8

const (
	uncounted count = iota
	countNone
	countSome
)

// counted reads the number that a text ends with, as in "12 tests ", or "no".
func counted(before string) count {
	if !strings.HasSuffix(before, " ") {
		return uncounted
	}
	before = before[:len(before)-1]
	for _, what := range []string{" tests", " test", " checks", " suites", " specs", " cases", " jobs"} {
		if rest, ok := strings.CutSuffix(before, what); ok {
			before = rest
			break
		}
	}
	start := len(before)
	for start > 0 && before[start-1] >= '0' && before[start-1] <= '9' {
		start--
	}
	digits := before[start:]
	switch {
	case digits == "":
		if hasFold(before[max(0, len(before)-2):], "no") && (len(before) == 2 || !isLetter(before[len(before)-3])) {
			return countNone
		}
		return uncounted
	case start > 0 && (isLetter(before[start-1]) || before[start-1] == '.' || before[start-1] == ':'):
		return uncounted
	case strings.Trim(digits, "0") == "":
		return countNone
	}
	return countSome
}

// saysNone says whether what stands after "error:" says that there was none.
func saysNone(rest string) bool {
	rest = strings.TrimSpace(rest)
	if len(rest) > 8 {
		return false
	}
	switch strings.ToLower(strings.Trim(rest, "\"'(),.")) {
	case "none", "null", "nil", "0", "no", "false", "n/a", "0.0", "-":
		return true
	}
	return false
}

// scoreF reads "fail", "failed" and "fatal" at i.
func scoreF(line string, i int) int {
	rest := line[i:]
	if i > 0 && isLetter(line[i-1]) {
		return 0
	}
	switch {
	case hasFold(rest, "fatal:") || hasFold(rest, "fatal error"):
		return 3
	case strings.HasPrefix(rest, "FAIL"):
		if strings.HasPrefix(line, "---") || strings.HasPrefix(rest, "FAILED") || len(rest) == 4 || rest[4] == ' ' || rest[4] == ':' || rest[4] == '\t' || strings.HasPrefix(rest, "FAILURE") {
			return scoreCounted(line, i, 3)
		}
		return 1
	case i == 0 && hasFold(rest, "failed to "):
		return 2
	case hasFold(rest, "failed"), hasFold(rest, "failure"), hasFold(rest, "failing"):
		return scoreCounted(line, i, 1)
	}
	return 0
}

// scoreCounted returns the score of a word at i, by the number that stands before it.
func scoreCounted(line string, i, score int) int {
	switch counted(line[:i]) {
	case countNone:
		return 0
	case countSome:
		return 3
	default:
		return score
	}
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// hasFold says whether s begins with prefix, which is in lower case, in any case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := 0; i < len(prefix); i++ {
		b := s[i]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != prefix[i] {
			return false
		}
	}
	return true
}

// rejections are how harnesses tell the model that the user did not let a tool run.
var rejections = []string{
	"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action", "The tool use was rejected",
	"User rejected", "user rejected", "Tool call rejected by user", "[Request interrupted by user", "User declined", "The user rejected",
}

// judge says how a call ended.
func judge(text string, flagged bool, class toolClass, cmd *command) outcome {
	var o outcome
	opening := strings.TrimSpace(text[:min(len(text), 512)])
	for _, r := range rejections {
		if strings.HasPrefix(opening, r) {
			o.declined = true
			if i := strings.Index(text, "the user said:"); i >= 0 {
				o.said = strings.TrimSpace(clip(text[i+len("the user said:"):], 2048))
			}
			return o
		}
	}
	if class != classCommand && !flagged {
		// What such a tool returns is content, and content may speak of errors.
		if !opensWithError(opening) {
			return o
		}
		flagged = true
	}
	var e errorScan
	e.scan(text)
	said := ""
	if cmd != nil {
		said = cmd.said
	}
	switch {
	case flagged:
		o.failed = true
	case e.exit > 0:
		// A search that finds nothing ends with a status too.
		o.failed = cmd == nil || !cmd.reads || e.bestScore() > 0
	case cmd != nil && cmd.reads:
		return o
	case e.exit == 0 && cmd != nil && !cmd.masks:
	default:
		o.failed = e.endsBadly(said) || e.bestScore() >= 4 && !e.endsWell()
	}
	if o.failed {
		o.errors = strings.TrimSuffix(strings.TrimPrefix(e.message(), "<tool_use_error>"), "</tool_use_error>")
		return o
	}
	switch {
	case e.final == "" || saysOnlyOK(e.final) || e.exit == 0 && !allIsWell(e.final) && !sumsUp(e.final):
		o.closing = "ok"
	default:
		o.closing = shorten(oneLine(clip(e.final, 512)), 80)
	}
	return o
}

func opensWithError(opening string) bool {
	for _, p := range []string{"error", "<tool_use_error>", `{"error"`, `{"status":"error"`, "failed to ", "file not found", "file does not exist", "exception:"} {
		if hasFold(opening, p) {
			return true
		}
	}
	return strings.HasPrefix(opening, "错误") || strings.HasPrefix(opening, "失败")
}

// sumsUp says whether a last line tells how a command ended.
func sumsUp(line string) bool {
	if len(line) > 160 {
		return false
	}
	lower := strings.ToLower(line)
	for _, w := range []string{"passed", "issues", "succeeded", "success", "0 errors", "finished", "built in", "warnings", "up to date", "deployed", "applied", "通过", "成功", "->", "completed"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
