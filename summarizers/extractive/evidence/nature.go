package evidence

import (
	"strings"
	"unicode/utf8"
)

// nature is what a line is beside the names in it. Some lines hold names that nobody needs again.
type nature uint8

const (
	plain nature = iota
	// lookUp is a command that only looks: what it found matters more.
	lookUp
	// listed is an entry of a list, such as one of files.
	listed
	// match is a line that a search found, or one beside it, behind its file and number.
	match
	// header names the files or the place of a change.
	header
	// report says that a tool did its work, or when.
	report
	// series is a row of numbers.
	series
	// failure returns, raises or throws an error.
	failure
	// imported is an import.
	imported
	// announcement leads to what the agent does or says next.
	announcement
	// fragment has a quotation mark or a bracket that nothing closes.
	fragment
	natures
)

// What a line of a nature is worth beside a plain one: mentions of names in it, and quoting it. Names in imports and
// errors are used again as often as others, but these lines say little about them.
var (
	mentionShare = [natures]float64{
		plain: 1, lookUp: 0.7, listed: 0.5, match: 0.7, header: 0.3, report: 0.7, series: 0.3, failure: 1, imported: 1, announcement: 1, fragment: 1,
	}
	lineShare = [natures]float64{
		plain: 1, lookUp: 0.6, listed: 0.6, match: 0.8, header: 0.4, report: 0.7, series: 0.3, failure: 0.6, imported: 0.6, announcement: 0.6, fragment: 0.8,
	}
)

// natureOf returns what a line of a voice is.
func natureOf(line string, voice Voice) nature {
	switch returned := voice == Result || voice == Quoted; {
	case isHeader(line):
		return header
	case voice != Result && voice != Agent && looksUp(line):
		return lookUp
	case returned && isListed(line):
		return listed
	case returned && isMatch(line):
		return match
	case returned && isReport(line):
		return report
	case returned && isSeries(line):
		return series
	case isFailure(line):
		return failure
	case isImport(line):
		return imported
	case voice == Agent && line[len(line)-1] == ':':
		return announcement
	}
	return plain
}

// isHeader says whether a line of a diff names the files or the place of what follows.
func isHeader(line string) bool {
	return strings.HasPrefix(line, "diff --") || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "@@ ") ||
		strings.HasPrefix(line, "--- ") && strings.IndexByte(line, '/') > 0
}

// lookers are programs that only look, and gitLookers the subcommands of Git that do.
var (
	lookers    = setOf("ack ag awk bat cat cut dir du fd file find grep head less ls more nl pwd rg sort stat tail tree wc which")
	gitLookers = setOf("blame branch diff grep log ls-files ls-tree reflog rev-parse show status")
)

// looksUp says whether a line is a command that only looks.
func looksUp(line string) bool {
	if rest, ok := strings.CutPrefix(line, "cd "); ok {
		if _, then, ok := strings.Cut(rest, "&& "); ok {
			line = strings.TrimLeft(then, " ")
		}
	}
	program, rest, _ := strings.Cut(line, " ")
	switch {
	case lookers[program]:
		return strings.IndexByte(line, '>') < 0 || strings.Contains(line, "2>")
	case program == "sed":
		return strings.HasPrefix(rest, "-n")
	case program == "git":
		subcommand, _, _ := strings.Cut(rest, " ")
		return gitLookers[subcommand]
	}
	return false
}

// isListed says whether a line is a single word, an entry of a long listing, or files beside each other.
func isListed(line string) bool {
	if isLongEntry(line) || isRowOfFiles(line) {
		return true
	}
	for i := range len(line) {
		if !isRun(line[i]) {
			return false
		}
	}
	return true
}

// isRowOfFiles says whether a line has only names of files, as a listing in columns has.
func isRowOfFiles(line string) bool {
	files := 0
	for word := range strings.FieldsSeq(line) {
		dot := strings.LastIndexByte(word, '.')
		if dot < 0 || !isExtension(word[dot+1:]) || strings.ContainsAny(word, "()[]{}\"'`=,;:") {
			return false
		}
		files++
	}
	return files >= fewestInRow
}

// fewestInRow is how many names of files stand beside each other at least in a listing in columns.
const fewestInRow = 3

// isMatch says whether a line is one that a search found, or one beside it: a file, the number of a line and a text, between
// colons or dashes.
func isMatch(line string) bool {
	run := 0
	for run < len(line) && isRun(line[run]) {
		run++
	}
	if run > 0 && run < len(line) && line[run] == ':' {
		end := run + 1
		for end < len(line) && isDigit(line[end]) {
			end++
		}
		if end > run+1 && end < len(line) && (line[end] == ':' || line[end] == '-') {
			return true
		}
	}
	return fileBesideMatch(line[:run]) > 0
}

// withoutSign returns a line without the sign of a diff and white space after it.
func withoutSign(line string) string {
	start := 0
	for start < len(line) && (line[start] == '+' || line[start] == '-' || line[start] == ' ') {
		start++
	}
	return line[start:]
}

// isFailure says whether a line of code only returns, raises or throws an error.
func isFailure(line string) bool {
	line = withoutSign(line)
	switch {
	case strings.HasPrefix(line, "return "):
		return strings.Contains(line, "rror")
	case strings.HasPrefix(line, "raise "), strings.HasPrefix(line, "throw "):
		return true
	}
	return false
}

// isImport says whether a line of code imports something.
func isImport(line string) bool {
	line = withoutSign(line)
	switch {
	case strings.HasPrefix(line, "import "), strings.HasPrefix(line, "#include "):
		return true
	case strings.HasPrefix(line, "from "):
		return strings.Contains(line, " import ")
	case strings.HasPrefix(line, "} from "), strings.HasPrefix(line, "export "):
		return strings.Contains(line, " from ")
	case strings.HasPrefix(line, "use "):
		return strings.Contains(line, "::")
	case strings.HasPrefix(line, "const "), strings.HasPrefix(line, "var "), strings.HasPrefix(line, "let "):
		return strings.Contains(line, "= require(")
	}
	return false
}

// isFragment says whether a quotation mark or a bracket in a text has no partner there. A bracket that opens a block or a
// list goes on in the next line.
func isFragment(line string) bool {
	var quotes, ticks, open int
	for i := range len(line) {
		if byteClass[line[i]]&(mark|bracket) == 0 {
			continue
		}
		switch line[i] {
		case '"':
			quotes++
		case '`':
			ticks++
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
	}
	if quotes%2 == 1 || ticks%2 == 1 || open < 0 {
		return true
	}
	last := line[len(line)-1]
	return open > 0 && last != '(' && last != '[' && last != '{' && last != ',' && last != ':'
}

// isReport says whether a line of output says that all went well, or begins with the time.
func isReport(line string) bool {
	switch {
	case isDigit(line[0]):
		return isTime(line) || isDate(line) && len(line) > dateBytes+1 && isTime(line[dateBytes+1:])
	case line[0] == '[':
		return isTime(line[1:]) || isDate(line[1:])
	}
	for _, opening := range []string{"--- PASS", "=== RUN", "ok ", "ok\t"} {
		if strings.HasPrefix(line, opening) {
			return true
		}
	}
	return strings.Contains(line, "uccessfully") || strings.Contains(line, " has been ")
}

// isPassed says whether a line says of one test that it passed.
func isPassed(line string) bool {
	if rest, ok := strings.CutPrefix(line, "--- PASS"); ok {
		return strings.HasPrefix(rest, ": ")
	}
	test, after, _ := strings.Cut(line, " ")
	if rest, ok := strings.CutPrefix(after, "PASSED"); ok {
		return strings.Contains(test, "::") && (rest == "" || rest[0] == ' ')
	}
	if strings.HasPrefix(line, "PASSED ") {
		return strings.Contains(line, "::")
	}
	return strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... ok")
}

// isTime says whether a text begins with a time such as 10:15:30.
func isTime(s string) bool {
	return len(s) >= 8 && isDigit(s[0]) && isDigit(s[1]) && s[2] == ':' && isDigit(s[3]) && isDigit(s[4]) && s[5] == ':'
}

// isLineNumber says whether the digits from start to end of a line of output are the number of a line of a file: they stand
// at its beginning or behind a colon, right before a colon or a dash.
func isLineNumber(line string, start, end int) bool {
	return (start == 0 || line[start-1] == ':') && end < len(line) && (line[end] == ':' || line[end] == '-')
}

// isFraction says whether the digits at an offset are behind the point of a number, as those of a duration are.
func isFraction(line string, at int) bool {
	return at > 1 && line[at-1] == '.' && isDigit(line[at-2])
}

// isSeries says whether a line has several numbers and hardly any letters.
func isSeries(line string) bool {
	digits, letters, numbers := 0, 0, 0
	for i := range len(line) {
		switch {
		case isDigit(line[i]):
			if digits++; i == 0 || !isDigit(line[i-1]) && line[i-1] != '.' {
				numbers++
			}
		case isLetter(line[i]) || line[i] >= utf8.RuneSelf:
			if letters++; 3*letters >= len(line) {
				return false
			}
		}
	}
	return numbers >= fewestOfSeries && digits > 2*letters
}

// fewestOfSeries is how many numbers a series has at least.
const fewestOfSeries = 4
