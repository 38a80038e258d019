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
	// closing is the last line, where it sums up.
	closing string
}

// maxErrorText is how many units of an error are kept.
const maxErrorText = 420

// errorScan finds the lines of a text that tell of errors.
type errorScan struct {
	// first and second are the lines that tell most, last is the latest that tells as much as the second.
	first, second, last found
	// exit is the exit status that the text names, -1 where it names none.
	exit int
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
		if e.exit < 0 && (e.lines <= 6 || len(text) < 512) && e.readExit(trimmed) || trimmed == "Output:" {
			continue
		}
		if trimmed[0] != '<' || !strings.HasSuffix(trimmed, ">") {
			e.final = trimmed
			if e.many = e.many || len(e.few)+len(trimmed) > fewBytes; !e.many {
				e.few += trimmed + "\n"
			}
		}
		score, at := errorScore(trimmed)
		if score == 0 {
			continue
		}
		if len(trimmed) > 600 {
			trimmed = around(trimmed, at)
		}
		e.note(found{text: trimmed, line: e.lines, score: score, weight: 2*score + detail(trimmed)})
	}
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
			e.exit = n
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
	if i > 1 && (strings.HasSuffix(line[:i], "0 ") || strings.HasSuffix(line[:i], "no ") || strings.HasSuffix(line[:i], "No ")) {
		return 0
	}
	switch {
	case rest == "":
		return 1
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
	case line[i:i+2] == "ER":
		return 3
	}
	return 1
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
		if strings.HasPrefix(line, "---") || strings.HasPrefix(rest, "FAILED") || len(rest) == 4 || rest[4] == ' ' || rest[4] == ':' || rest[4] == '\t' {
			return 3
		}
		return 1
	case hasFold(rest, "failed"):
		if i > 1 && strings.HasSuffix(line[:i], "0 ") && (i < 3 || line[i-3] < '0' || line[i-3] > '9') {
			return 0
		}
		if i > 1 && line[i-1] == ' ' && line[i-2] >= '0' && line[i-2] <= '9' {
			return 3
		}
		return 1
	case hasFold(rest, "failure"):
		return 1
	}
	return 0
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
	switch {
	case flagged || e.exit > 0:
		// A search that finds nothing ends with a status too.
		o.failed = flagged && class != classCommand || cmd == nil || !cmd.reads || e.bestScore() > 0
	case cmd != nil && cmd.reads:
		return o
	default:
		o.failed = e.bestScore() >= 4
	}
	if o.failed {
		o.errors = strings.TrimSuffix(strings.TrimPrefix(e.message(), "<tool_use_error>"), "</tool_use_error>")
		return o
	}
	if sumsUp(e.final) {
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
