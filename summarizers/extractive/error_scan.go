package extractive

import (
	"slices"
	"strconv"
	"strings"
)

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
