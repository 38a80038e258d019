package extractive

import (
	"slices"
	"strings"
)

const (
	// maxEssence is how many units of what a failed call says are kept.
	maxEssence = 220
	// maxNamed is how many files and failed tests of one failure are noted.
	maxNamed = 40
	// frameWeight is the weight of a line that frames an error.
	frameWeight = 1
	// leastLine is the smallest room that another line is added in.
	leastLine = 40
)

// message returns the lines that say most about the error as one text, in their original order.
func (e *errorScan) message() string {
	lines := slices.DeleteFunc([]found{e.first, e.second, e.last}, func(f found) bool {
		return f.text == "" || len(e.tests) > 0 && f.weight <= frameWeight
	})
	if !e.many {
		lines = lines[:0]
		for _, line := range e.few {
			if !isBoilerplate(line) && failedTest(line) == "" {
				score, _ := errorScore(line)
				if score == 0 && logsSuccess(line) {
					continue
				}
				lines = append(lines, found{text: line, line: len(lines), weight: max(2*score+detail(line), frameWeight+1)})
			}
		}
	}
	if vague := e.first.weight <= frameWeight || e.first.score < 3 && e.first.weight < brokenWeight; vague && len(e.tests) == 0 && e.broken.text != "" {
		// Which test failed is not said. What it said last is the best that is known of it.
		if tellsOfFailure(e.saidLast) && !slices.ContainsFunc(lines, func(f found) bool { return f.weight > frameWeight }) {
			lines = append(lines, found{text: e.saidLast, line: e.broken.line - 1, weight: frameWeight + 1})
		}
		lines = append(lines, e.broken)
	}
	return e.joined(lines)
}

// tellsOfFailure says whether the last line before a failed package can say why it failed.
func tellsOfFailure(line string) bool {
	return !isBoilerplate(line) && !isFraming(line) && !logsSuccess(line) && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "coverage:") &&
		!strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "? ") && strings.Contains(line, " ")
}

// joined puts lines together, the weightiest first, while there is room.
func (e *errorScan) joined(lines []found) string {
	slices.SortStableFunc(lines, func(a, b found) int { return b.weight - a.weight })
	room := maxEssence
	var kept []found
	for _, f := range lines {
		f.text = shorten(oneLine(f.text), room)
		same := slices.ContainsFunc(kept, func(k found) bool { return strings.Contains(k.text, f.text) })
		if f.text == "" || same || len(kept) > 0 && (room < leastLine || f.weight <= frameWeight) {
			continue
		}
		kept = append(kept, f)
		room -= units(f.text) + units(lineBreak)
	}
	if len(kept) == 0 && len(e.tests) > 0 {
		return ""
	}
	if len(kept) == 0 {
		return shorten(oneLine(clip(e.final, 4*maxEssence)), maxEssence)
	}
	slices.SortStableFunc(kept, func(a, b found) int { return a.line - b.line })
	texts := make([]string, len(kept))
	for i, f := range kept {
		texts[i] = f.text
	}
	return strings.Join(texts, lineBreak)
}

// compare joins the values that a failed check compares, which stand in lines of their own, one right below the other.
func (e *errorScan) compare(line string) {
	before := e.compared
	e.compared = found{text: line, line: e.lines, weight: comparedWeight}
	if before.text != "" && before.line+1 == e.lines {
		e.compared.text = before.text + ", " + line
		e.note(e.compared)
		e.compared = found{}
	}
}

// comparedWeight is the weight of compared values: they say most about a failed check. brokenWeight is that of a package
// that failed.
const (
	comparedWeight = 9
	brokenWeight   = 7
)

// comparedLabels are the labels of values that a failed check compares.
var comparedLabels = wordSet(`expected actual got want wanted received left right found was`)

// isCompared says whether a line is a label and a value that a failed check compares.
func isCompared(line string) bool {
	label, value, ok := strings.Cut(line, ":")
	return ok && len(label) <= len("expected ") && strings.TrimSpace(value) != "" && comparedLabels[strings.ToLower(strings.TrimSpace(label))]
}

// boilerplate are beginnings of lines that frame an error and do not say what it is.
var boilerplate = []string{
	"traceback (most", "file \"", "during handling of", "the above exception", "make: ***", "make[", "npm err! code", "npm error code", "npm error command",
	"npm error path", "npm error lifecycle", "npm error workspace", "npm error location", "npm err! errno", "npm error errno", "error command failed with", "exit status", "exit code", "error: process completed",
	"error: could not compile", "caused by:", "collected ", "at object.", "at module.", "at async", "node:internal", "command:", "directory:", "output:", "error: (none)",
	"signal:", "background pids", "process group", "returncode", "elifecycle", "fail\t", "npm notice", "hint:", "wanted lockfile", "node.js v", "stack trace", "rerun with", "=== run", "=== pause", "=== cont", "=== name", "run with `rust_backtrace",
	"error trace:", "test result: failed", "error: test failed", "tests: ", "test suites:", "error: |",
}

// isBoilerplate says whether a line frames an error and does not say what it is.
func isBoilerplate(line string) bool {
	if line == "" || strings.Trim(line, "^~-=_*#.│| 0123456789") == "" {
		return true
	}
	switch line[0] {
	case '!', '=':
		// A ruler with words in it, as pytest draws them around its outcome.
		if strings.HasPrefix(line, "!!!!") || strings.HasPrefix(line, "====") {
			return true
		}
	case '#':
		// The name of a package, above its errors.
		return strings.HasPrefix(line, "# ") && strings.Count(line, " ") <= 2
	case '[':
		// A runner's own line about the task that failed.
		_, rest, ok := strings.Cut(line, "] ")
		return ok && len(rest) < 40 && containsAnyCase(rest, "failed") && !strings.Contains(rest, ":")
	}
	switch strings.TrimRight(line, " .!") {
	case "FAIL", "FAILED", "Error", "ERROR", "error", "FAILURES", "Failed":
		return true
	}
	for _, b := range boilerplate {
		if hasPrefixAnyCase(line, b) {
			return true
		}
	}
	return false
}

// failedTest returns the name of the test that a line reports as failed.
func failedTest(line string) string {
	var name string
	switch {
	case strings.HasPrefix(line, "--- FAIL: "):
		name, _, _ = strings.Cut(line[len("--- FAIL: "):], " ")
	case strings.HasPrefix(line, "FAIL ") && strings.Contains(line, " > "):
		name = line[len("FAIL "):]
	case strings.HasPrefix(line, "FAILED "):
		name, _, _ = strings.Cut(line[len("FAILED "):], " - ")
		if !strings.Contains(name, "::") {
			return ""
		}
	case strings.HasPrefix(line, "FAIL: "), strings.HasPrefix(line, "ERROR: "):
		// Python's own runner names the class in parentheses.
		test, class, ok := strings.Cut(line[strings.IndexByte(line, ' ')+1:], " (")
		if !ok || strings.Contains(test, " ") || !strings.HasSuffix(class, ")") {
			return ""
		}
		name = test
	case strings.HasPrefix(line, "not ok "):
		_, name, _ = strings.Cut(line, " - ")
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		name = strings.TrimSuffix(line[len("test "):], " ... FAILED")
	default:
		for _, mark := range []string{"✗ ", "✕ ", "× ", "✘ ", "● "} {
			if rest, ok := strings.CutPrefix(line, mark); ok && strings.Contains(rest, " ") {
				name = rest
				if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, "s)") {
					name = name[:i]
				}
			}
		}
	}
	name = strings.TrimSpace(name)
	if len(name) > 120 || strings.ContainsAny(name, ",\t") || strings.HasSuffix(name, ".") {
		// Linters have the same marks before their messages.
		return ""
	}
	return name
}

// tracedFile returns the file that a line of a traceback names, or "" if it is not of the project. traced says whether
// it is such a line.
func tracedFile(line string) (file string, traced bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(line, "E "), " "), "File \"")
	name, _, _ := strings.Cut(rest, "\"")
	if !ok {
		if frame := strings.Index(line, ": in "); frame < 0 || !isDigit(line[max(frame-1, 0)]) {
			return "", false
		}
		name = fileIn(line)
	}
	if strings.HasPrefix(name, "<") || strings.Contains(name, "/site-packages/") || strings.Contains(name, "/lib/python") {
		return "", true
	}
	return name, true
}

// fileIn returns the file or the package that a line reports an error in.
func fileIn(line string) string {
	if rest, ok := strings.CutPrefix(line, "FAIL\t"); ok {
		name, _, _ := strings.Cut(rest, "\t")
		name, _, _ = strings.Cut(name, " ")
		return name
	}
	line = strings.TrimPrefix(line, "--> ")
	end := strings.IndexAny(line, ":( ")
	if end < 3 || end > maxIdentifier || end+1 >= len(line) || !isDigit(line[end+1]) || !hasExtension(line[:end]) {
		return ""
	}
	return line[:end]
}
