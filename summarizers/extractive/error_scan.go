package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// errorScan finds the lines of a text that report errors.
type errorScan struct {
	// first and second are the lines with the highest weight. last is the latest line with at least the weight of
	// second.
	first, second, last found
	// exit is the exit status that the text names: -1 if it names none, the highest if it names several.
	exit int
	// ending is a ring of the last lines that are not empty, and ends is how many such lines there were.
	ending [endingLines]found
	ends   int
	// opening is the first line that is not empty or framing, final the last one, and before the one before that.
	opening, before, final string
	// lines counts the lines that are not empty. few are they while they are short; many says that they are not.
	lines int
	few   []string
	many  bool
	// fewSize is how many bytes they have.
	fewSize int
	// tests are the tests that the text reports as failed, and files the files and packages with errors.
	tests, files []string
	// traced is the last file of the project that a traceback names: the error is there.
	traced string
	// compared is the last value of a failed comparison.
	compared found
	// broken is the first package that failed.
	broken found
	// headed is the number of the last line that only leads to what is wrong, which the next line says.
	headed int
	// saying is the last line that is not about a failed package, and saidLast is the one before the first of these.
	saying, saidLast string
}

// found is a line that may report an error.
type found struct {
	text string
	line int
	// score is how surely it reports an error, and weight how much it says about it.
	score, weight int
}

// endingLines is how many lines count as the end of an output.
const endingLines = 6

// maxLead is how far from its beginning a line can say that it reports an error.
const maxLead = 240

// fewBytes is the length up to which the output of a failure is kept whole.
const fewBytes = 320

// scan reads a text once and keeps a few of its lines.
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
		trimmed = evidence.WithoutStatus(trimmed)
		e.lines++
		// Tools put the exit status into the first or the last lines.
		if (e.lines <= 6 || len(text) < 512) && e.readExit(trimmed) || trimmed == "Output:" {
			continue
		}
		if !isFraming(trimmed) && says(trimmed) && (e.final == "" || !isNotice(trimmed)) {
			e.before, e.final = e.final, trimmed
			if e.opening == "" {
				e.opening = trimmed
			}
			if e.many = e.many || e.fewSize+len(trimmed) > fewBytes; !e.many && !isStepDone(trimmed) {
				e.few, e.fewSize = append(e.few, trimmed), e.fewSize+len(trimmed)+1
			}
		}
		if trimmed != "FAIL" && !strings.HasPrefix(trimmed, "FAIL\t") {
			e.saying = trimmed
		}
		score, at := errorScore(trimmed)
		if raises(trimmed) {
			// A traceback shows this line of code above the error.
			score = 0
		}
		if at > maxLead {
			// A long line of data can hold any word.
			score = min(score, 1)
		}
		e.name(trimmed, score)
		if len(trimmed) > 600 {
			trimmed = around(trimmed, at)
		}
		e.ending[e.ends%endingLines] = found{text: trimmed, line: e.lines, score: score}
		e.ends++
		switch message := complaintIn(trimmed, score); {
		case isCompared(trimmed):
			e.compare(trimmed)
		case e.broken.text == "" && strings.HasPrefix(trimmed, "FAIL\t"):
			e.broken = found{text: failedTests + fileIn(trimmed), line: e.lines, weight: brokenWeight}
			e.saidLast = e.saying
		case message != "":
			// A linter's message need not have a word for errors.
			e.note(found{text: trimmed, line: e.lines, weight: 5 + detail(message)})
		case score > 0 && 2*score+mostDetail >= e.second.weight:
			f := found{text: trimmed, line: e.lines, score: score, weight: 2*score + detail(trimmed)}
			if isBoilerplate(trimmed) || failedTest(trimmed) != "" {
				f.weight = frameWeight
			}
			e.note(f)
			if f.weight > frameWeight && endsInColon(trimmed) {
				e.headed = e.lines
			}
		case score == 0 && e.lines > 1 && e.headed == e.lines-1 && (line[0] == ' ' || line[0] == '\t') && !tellsTime(trimmed):
			e.explain(trimmed)
		}
	}
}

// tellsTime says whether a line says how far a program is, or how long it took.
func tellsTime(line string) bool {
	return strings.Contains(line, "%") || hasOpening(line, "done", "finished", "completed", "took ", "elapsed", "time", "duration", "real ", "real\t", "ran ", "total") || isStepDone(line)
}

// explain adds what is wrong to the line before, which leads to it and stands to the left of it: "Error at line 12 (find_chart):".
func (e *errorScan) explain(reason string) {
	for _, f := range []*found{&e.first, &e.second, &e.last} {
		if f.line == e.headed && f.text != "" {
			f.text += lineBreak + reason
		}
	}
}

// raises says whether a line is code that raises an error.
func raises(line string) bool {
	return line[0] == 'r' && strings.HasPrefix(line, "raise ") || line[0] == 't' && strings.HasPrefix(line, "throw ")
}

// name notes the test or the file that a line reports an error in.
func (e *errorScan) name(line string, score int) {
	switch {
	case line[0] == 'F' || line[0] == '-' || line[0] == 'E' || line[0] == 'n' || line[0] == 't' && score > 0 || line[0] >= 0x80:
		if test := failedTest(line); test != "" && len(e.tests) < maxNamed && !slices.Contains(e.tests, test) {
			e.tests = append(e.tests, test)
		}
	case score == 0 && (len(e.files) > 0 || strings.IndexByte(line, ':') < 0):
		return
	}
	if file, traced := tracedFile(line); traced {
		if file != "" {
			e.traced = file
		}
		return
	}
	if file := fileIn(line); file != "" && len(e.files) < maxNamed && !slices.Contains(e.files, file) {
		e.files = append(e.files, file)
	}
}

// complaintIn returns the message of a line in the form of linters, if its words do not show an error.
func complaintIn(line string, score int) string {
	if score > 0 {
		return ""
	}
	return complains(line)
}

// named returns the files and packages that the text reports errors in.
func (e *errorScan) named() []string {
	if e.traced == "" || slices.Contains(e.files, e.traced) {
		return e.files
	}
	return append(e.files, e.traced)
}

// reportsFailures says whether the text names failed tests, or is the message of a compiler, though it does not end with
// it. `ok` in the last line is about one package only.
func (e *errorScan) reportsFailures() bool {
	if e.endsWell() && !saysOnlyOK(e.final) {
		return false
	}
	return len(e.tests) > 0 || len(e.files) > 0 && e.first.score >= 3 && saysUncompiled(e.first.text)
}

// isFraming says whether a line surrounds an output and says nothing about its outcome: a line of the harness, a
// shell's prompt, a command that a runner repeats before it runs it, a file that a commit lists.
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
	return opensFraming[line[0]] && slices.ContainsFunc(framing, func(head string) bool { return strings.HasPrefix(line, head) })
}

// framing are the beginnings of lines that programs for agents put around an output, and of those with the files of a commit.
var framing = []string{
	"create mode ", "delete mode ", "Shell cwd was reset to ", "Error: (none)", "Output: (empty)", "Signal: ", "Background PIDs: ", "Process Group PGID: ",
	"Wall time: ", "Chunk ID: ", "Original token count: ", "Directory: ", "Command: ",
}

// opensFraming holds the first bytes of these.
var opensFraming = func() (set [256]bool) {
	for _, head := range framing {
		set[head[0]] = true
	}
	return set
}()

// isNotice says whether a line is a program's remark, which may come after its outcome.
func isNotice(line string) bool {
	switch line[0] | 0x20 {
	case 'w', 'h', 'n', '[', 'd':
	default:
		return false
	}
	return slices.ContainsFunc(notices, func(head string) bool { return hasPrefixAnyCase(line, head) })
}

// notices are the beginnings of such lines, in lower case.
var notices = []string{"warning: ", "warn: ", "hint: ", "notice: ", "note: ", "npm notice", "npm warn", "[notice]", "[warning]", "[warn]", "deprecated: "}

// isStepDone says whether a line of output only reports a step that a program got through: "Reading the lists... Done".
func isStepDone(line string) bool {
	at := strings.LastIndex(line, "...")
	if at < 0 {
		return false
	}
	end := strings.ToLower(strings.TrimLeft(line[at+len("..."):], " "))
	return end == "done" || end == "ok" || end == "yes"
}

// says says whether a line has a letter or a digit.
func says(line string) bool {
	for i := range len(line) {
		if b := line[i]; isLetter(b) || isDigit(b) || b >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// endsBadly says whether the end of the output shows that the command failed. It ignores lines that repeat the command,
// given in `said`. A line that reports success cancels the compiler messages before it, and nothing else.
func (e *errorScan) endsBadly(said string) bool {
	complaint := found{}
	for i := max(0, e.ends-endingLines); i < e.ends; i++ {
		f := e.ending[i%endingLines]
		if quotes(said, f.text) {
			continue
		}
		if message := complains(f.text); message != "" {
			// Tests write log lines in the same form as failures.
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

// endsWell says whether the last line reports success.
func (e *errorScan) endsWell() bool {
	score, _ := errorScore(e.final)
	return score == 0 && e.final != "" && allIsWell(e.final)
}

// isDeath says whether a line reports that a program was killed or crashed.
func isDeath(line string) bool {
	return line == "Killed" || line == "Terminated" || strings.HasPrefix(line, "Traceback (most") || strings.Contains(line, "Segmentation fault") ||
		strings.Contains(line, "core dumped") || strings.HasSuffix(line, "Aborted")
}

// quotes says whether an output line repeats the command's own words, as the output of a commit does.
func quotes(said, line string) bool {
	if i := strings.Index(line, "] "); i > 0 && line[0] == '[' {
		line = line[i+2:]
	}
	return len(line) > 8 && strings.Contains(said, line)
}

// complains returns the message of a line in the form of compilers and linters: a path, a line number, perhaps a
// column, and a message. It returns "" for any other line, and for a mere warning or note.
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
		if hasPrefixAnyCase(rest, mild) {
			return ""
		}
	}
	if what, _, named := strings.Cut(rest, ":"); named && len(what) < 40 && strings.Contains(strings.ToLower(what), "warning") {
		return ""
	}
	if logsSuccess(rest) {
		return ""
	}
	return rest
}

// logsSuccess says whether a line that a test writes reports that something worked. What was expected to did not.
func logsSuccess(line string) bool { return allIsWell(line) && !expecting.in(line) }

// saysOnlyOK says whether a line reports success and nothing more.
func saysOnlyOK(line string) bool {
	return strings.HasPrefix(line, "ok  ") || strings.HasPrefix(line, "ok \t") || line == "PASS" || line == "OK" || line == "ok"
}

// allIsWell says whether a line explicitly reports success.
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

// note keeps a line if its weight is high enough.
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

// bestScore returns how surely the text reports an error.
func (e *errorScan) bestScore() int { return max(e.first.score, e.second.score) }

// mostDetail is the highest detail.
const mostDetail = 3

// detail rates whether a line says more than that something failed.
func detail(line string) int {
	switch words := strings.Count(line, " "); {
	case words == 0:
		return -2
	case words > 2 && expecting.in(line):
		return mostDetail
	case words > 2 && (strings.Contains(line, ": ") || strings.Contains(line, "：")):
		return 2
	case words > 2:
		return 1
	}
	return 0
}

// expecting are words of a failed check that compares what was expected with what there was.
var expecting = inAnyCase("want", "expected", "should ", "unexpected", "got ", "not equal", "mismatch")

// around returns the part of a very long line around a position.
func around(line string, at int) string {
	start := max(0, at-120)
	end := min(len(line), start+600)
	for start > 0 && start < at && cutsWord(line, start) {
		start++
	}
	for n := 0; n < maxIdentifier && end > at+1 && end < len(line) && cutsWord(line, end); n++ {
		end--
	}
	return strings.ToValidUTF8(line[start:end], "")
}
