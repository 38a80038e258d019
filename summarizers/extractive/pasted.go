package extractive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fewestPasted is how many lines in a row look pasted if no fence or mark says that they are.
const fewestPasted = 3

// pastedLines says which lines of a message its author pasted: code in fences, quotations, diffs, logs, other code,
// lines that the agent wrote before, and blocks that show something, such as examples.
func pastedLines(lines []string, echoed map[string]bool) []bool {
	pasted := make([]bool, len(lines))
	fence, shown := "", ""
	for i, line := range lines {
		switch {
		case shown != "":
			pasted[i] = true
			if containsAnyCase(line, shown) {
				shown = ""
			}
		case fence != "":
			pasted[i] = true
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case opensFence(line) && slices.ContainsFunc(lines[i+1:], func(l string) bool { return strings.HasPrefix(l, line[:3]) }):
			pasted[i], fence = true, line[:3]
		case endsShown(lines[i:]) != "":
			pasted[i], shown = true, endsShown(lines[i:])
		default:
			pasted[i] = line[0] == '>' || isLongQuotation(line) || echoed[line]
		}
	}
	for from := 0; from < len(lines); {
		to, signs := from, 0
		for to < len(lines) && !pasted[to] && !reads(lines[to]) {
			if isData(lines[to]) {
				signs++
			}
			to++
		}
		if signs >= fewestPasted && 2*signs >= to-from {
			for i := from; i < to; i++ {
				pasted[i] = true
			}
		}
		from = to + 1
	}
	return pasted
}

// endsShown returns what the last line of a block holds that shows something, if lines begin with one that ends.
func endsShown(lines []string) string {
	end := shownUntil(strings.TrimSpace(lines[0]))
	if end == "" || !slices.ContainsFunc(lines[1:], func(l string) bool { return containsAnyCase(l, end) }) {
		return ""
	}
	return end
}

// isLongQuotation says whether a long line stands in quotation marks as a whole.
func isLongQuotation(line string) bool {
	return units(line) > maxGoal && strings.ContainsAny(line[:1], "\"“„«") && strings.ContainsAny(line[len(line)-2:], "\"”“»")
}

func opensFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// reads says whether a line is a sentence or an item in somebody's own words.
func reads(line string) bool {
	if isData(line) {
		return false
	}
	if _, listed := listItem(line + " "); listed || isHeading(line) {
		return true
	}
	words := 0
	for word := range strings.FieldsSeq(line) {
		word = strings.TrimRight(word, ".,:;!?)\"'”’")
		if word != "" && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' && r != '-' }) < 0 {
			words++
		}
	}
	first, _ := utf8.DecodeRuneInString(line)
	return words >= 4 || isCJK(first)
}

// dataOpenings begin lines of diffs, shells, tracebacks and code.
var dataOpenings = []string{
	"diff --git", "+++ ", "--- a/", "@@ ", "index ", ">>> ", "$ ", "% ", "File \"", "Traceback (most", "at ", "//", "/*", "*/", "#include", "import ", "from ",
	"package ", "func ", "def ", "class ", "return ", "const ", "let ", "var ", "if (", "if err", "for (", "while (", "}", ")", "]", "<", "{", "npm ", "SELECT ", "|",
}

// isData says whether a line looks like one of code, of a diff, or of a program's output.
func isData(line string) bool {
	if len(line) > 1 && (line[0] == '+' || line[0] == '-') && line[1] != ' ' && line[1] != '-' {
		return true
	}
	if rest, ok := strings.CutPrefix(line, "+ "); ok && rest != "" {
		return isData(rest) || strings.ContainsAny(rest, "=(;")
	}
	if strings.IndexByte("{};([\\|", line[len(line)-1]) >= 0 || strings.HasSuffix(line, "),") || strings.HasSuffix(line, "=>") || strings.HasSuffix(line, "):") {
		return true
	}
	for _, opening := range dataOpenings {
		if strings.HasPrefix(line, opening) {
			return opening != "at " && opening != "from " || strings.ContainsAny(line, "(:/")
		}
	}
	return isStamped(line) || signsIn(line)*8 > len(line)
}

// isStamped says whether a line begins with a time, as in logs.
func isStamped(line string) bool {
	line = strings.TrimLeft(line, "[(")
	digits, marks := 0, 0
	for i := 0; i < len(line) && i < 24; i++ {
		switch b := line[i]; {
		case isDigit(b):
			digits++
		case b == ':' || b == '-' || b == '/':
			marks++
		case b != 'T' && b != '.' && b != ' ' && b != ',':
			return digits >= 6 && marks >= 2
		}
	}
	return digits >= 6 && marks >= 2
}

// signsIn counts the characters of a line that programs write more than people.
func signsIn(line string) int {
	n := 0
	for i := range len(line) {
		if strings.IndexByte("{}()[]<>=;|\\_&$@^~", line[i]) >= 0 {
			n++
		}
	}
	return n
}

// opening is how many units of what is pasted are shown at least, and maxLastLine how many of its last line, if that is
// the error.
const (
	leastPasted = 60
	maxLastLine = 160
)

// firstWords returns the first words of something pasted in at most so many units, and its last line if that is an error.
func firstWords(lines []string, limit int) string {
	whole := strings.Join(lines, lineBreak)
	if units(whole) <= limit {
		return whole
	}
	lines = slices.DeleteFunc(slices.Clone(lines), opensFence)
	last := ""
	if n := len(lines) - 1; n > 0 {
		if score, _ := errorScore(lines[n]); score > 0 {
			last = " " + shorten(lines[n], maxLastLine)
		}
	}
	return headOf(strings.Join(lines, lineBreak), limit) + " …" + last
}

// headOf returns the beginning of a text in at most so many units. It cuts no word.
func headOf(text string, limit int) string {
	head := prefixUnits(text, limit)
	if len(head) == len(text) {
		return text
	}
	end := wordEnd(text, len(head))
	if p, inside := dividedAt(unbroken(clip(text, 4*limit)), end); inside && p.from > end/2 {
		end = p.from
	}
	if end == 0 {
		end = len(head)
	}
	return strings.TrimRight(text[:end], " …⏎")
}
