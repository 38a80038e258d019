package secrets

import (
	"slices"
	"strings"
)

const (
	// rowsRead is how many rows of a table are read, and rowBytes how long one may be.
	rowsRead = 24
	rowBytes = 512
)

// column adds what stands below the name of a column: in a table with bars, tabs or commas.
func (a *assignment) column() bool {
	text := a.text
	head := a.lineBefore()
	from := a.from - len(head)
	if from < a.table[1] && from != a.table[0] {
		// A row of another table.
		return false
	}
	if !maybeColumn(head, text[a.to:min(a.to+rowBytes, len(text))]) {
		return a.onlyColumn()
	}
	to := lineBreak(text, a.to)
	if to == len(text) || to-from > rowBytes {
		return false
	}
	line := text[from:to]
	delimiter := delimiterBeside(line, a.from-from, a.to-from)
	if delimiter == 0 || !headed(strings.ReplaceAll(line, "||", "|"), delimiter) {
		return false
	}
	index := strings.Count(head, string(delimiter))
	count := strings.Count(line, string(delimiter))
	if strings.HasPrefix(strings.TrimSpace(line), "||") {
		// Wikis write the bars of the names twice.
		index, count = strings.Count(head, "||"), strings.Count(line, "||")
	}
	at := to + 1
	defer func() { a.table = [2]int{from, at} }()
	for range rowsRead {
		if at >= len(text) {
			break
		}
		end := lineBreak(text, at)
		row := text[at:end]
		if end-at > rowBytes || strings.Count(row, string(delimiter)) != count && !ruler(row) {
			break
		}
		a.cell(row, at, index, delimiter)
		at = end + 1
	}
	return true
}

// onlyColumn adds what stands below a name that is alone in its line, with a line of hyphens below it.
func (a *assignment) onlyColumn() bool {
	text := a.text
	at := lineBreak(text, a.to)
	if at-a.to > shortValue || strings.TrimSpace(text[a.to:at]) != "" || strings.TrimSpace(a.lineBefore()) != "" || at >= len(text) {
		return false
	}
	end := lineBreak(text, at+1)
	if !ruler(text[at+1:end]) || strings.IndexByte(text[at+1:end], '-') < 0 {
		return false
	}
	for n := 0; n < rowsRead && end < len(text); n++ {
		at, end = end+1, lineBreak(text, end+1)
		cell := strings.TrimSpace(text[at:end])
		if cell == "" || mixtureOf(cell).blanks > 0 {
			break
		}
		if storedSecret(cell, a.kind) && (a.kind != passwordNoun || chosenText(cell)) {
			at += strings.Index(text[at:end], cell)
			a.add(a.set.index["password"], at, at+len(cell))
		}
	}
	return true
}

func lineBreak(text string, at int) int {
	if i := strings.IndexByte(text[at:min(at+rowBytes+1, len(text))], '\n'); i >= 0 {
		return at + i
	}
	return min(at+rowBytes+1, len(text))
}

var (
	delimiters   = setOf("|\t,;")
	aroundColumn = setOf(" \"'*\r")
)

// maybeColumn says whether what separates columns stands beside a name, between what stands before it in its line and
// what follows.
func maybeColumn(before, after string) bool {
	before, after = trimRight(before, &aroundColumn), trimLeft(after, &aroundColumn)
	return before != "" && delimiters.has(before[len(before)-1]) || after != "" && delimiters.has(after[0])
}

// delimiterBeside returns what separates a name in a line from those beside it, 0 if it is no name of a column.
func delimiterBeside(line string, from, to int) byte {
	before, after := strings.TrimRight(line[:from], " \"'*"), strings.TrimLeft(line[to:], " \"'*\r")
	for _, delimiter := range []byte("|\t,;") {
		left := before != "" && before[len(before)-1] == delimiter || delimiter == '\t' && strings.HasSuffix(line[:from], "\t")
		right := after != "" && after[0] == delimiter
		if left && (right || after == "") || right && before == "" {
			return delimiter
		}
	}
	return 0
}

// headed says whether a line is names of columns: two or more, all short words.
func headed(line string, delimiter byte) bool {
	names := 0
	for name := range strings.SplitSeq(strings.Trim(line, " |\r"), string(delimiter)) {
		name = strings.Trim(name, " \t\"'*\r")
		m := mixtureOf(name)
		if name == "" || len(name) > 32 || m.digits+m.symbols+m.brackets > 0 || m.blanks > 2 || strings.ContainsAny(name, "=:/") {
			return false
		}
		names++
	}
	return names >= 2
}

// ruler says whether a row is a line below the names of columns.
func ruler(row string) bool { return strings.Trim(row, " |+-:=\r") == "" && row != "" }

// cell adds the cell of a row if it may be a secret.
func (a *assignment) cell(row string, at, index int, delimiter byte) {
	for range index {
		i := strings.IndexByte(row, delimiter)
		if i < 0 {
			return
		}
		row, at = row[i+1:], at+i+1
	}
	row, _, _ = strings.Cut(row, string(delimiter))
	cell := strings.Trim(row, " \t\"'`*\r")
	if cell == "" {
		return
	}
	at += strings.Index(row, cell)
	if fits(cell, inQuotes) && mixtureOf(cell).blanks == 0 && (chosenText(cell) || delimiter == ',' && capital(cell[0])) && (a.kind == passwordNoun || randomLike(cell)) {
		a.add(a.set.index["password"], at, at+len(cell))
	}
}

// besideBar adds the value in the cell beside the name of a variable in a table. Beside another name it must be drawn.
func (a *assignment) besideBar(at int) bool {
	end := lineBreak(a.text, at)
	row, _, _ := strings.Cut(a.text[at:end], "|")
	cell := strings.Trim(row, " \t\"'`*\r")
	// A table of two columns has names in the first.
	pair := strings.Trim(a.lineBefore(), " *|") == "" && strings.Count(a.text[at:end], "|") == 1 && chosenWord(cell)
	if !randomLike(cell) && (a.kind != passwordNoun || !pair && (!capitals(a.name) || !fits(cell, onLine))) {
		return false
	}
	at += strings.Index(row, cell)
	a.add(a.set.index["password"], at, at+len(cell))
	return true
}

// block adds a text of several lines that YAML has below a name: `name: |`.
func (a *assignment) block(at int) bool {
	text := a.text
	if at >= len(text) || text[at] != '|' && text[at] != '>' {
		return false
	}
	end := lineBreak(text, at)
	if end == len(text) || strings.Trim(text[at:end], "|>+-0123456789 \r") != "" {
		return false
	}
	margin := indented(a.text[a.from-len(a.lineBefore()) : a.from])
	from, to := 0, 0
	for at = end + 1; at < len(text) && at-end < valueBytes; {
		stop := lineBreak(text, at)
		line := text[at:stop]
		if n := indented(line); strings.TrimSpace(line) != "" && n <= margin {
			break
		}
		if bare := strings.TrimSpace(line); bare != "" {
			if from == 0 {
				from = at + strings.Index(line, bare)
			}
			to = at + strings.Index(line, bare) + len(bare)
		}
		at = stop + 1
	}
	value := text[from:to]
	if from == 0 || strings.ContainsAny(value, ":{}") {
		return false
	}
	if drawn := runOf(strings.Join(strings.Fields(value), ""), 0, &base64Bytes, valueBytes); drawn < 16 && a.kind != passwordNoun && a.kind != phraseNoun {
		return false
	} else if m := mixtureOf(value); drawn < 16 && !fits(value, given) && (m.blanks == 0 || !saidPhrase(value, given)) {
		return false
	}
	a.add(a.set.index["password"], from, to)
	return true
}

func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " \t+-")) }

// prompted adds what somebody typed behind the prompt of a program, or what it printed on the line below.
func (a *assignment) prompted(at int) bool {
	text := a.text
	end := lineBreak(text, at)
	line := text[at:end]
	if !promptRest.starts(line) {
		return false
	}
	colon := strings.LastIndex(line, ":")
	if colon < 0 {
		return false
	}
	rest := strings.TrimSpace(line[colon+1:])
	if rest == "" && end < len(text) {
		end2 := lineBreak(text, end+1)
		rest = strings.TrimSpace(text[end+1 : end2])
		if at = end + 1 + strings.Index(text[end+1:end2], rest); !tellable(rest) && !randomLike(rest) {
			return false
		}
	} else {
		at += colon + 1 + strings.Index(line[colon+1:], rest)
	}
	typed := fits(rest, onLine) || chosenWord(rest)
	if a.kind >= tokenNoun {
		typed = randomLike(rest) || seeded(a.name, rest)
	}
	if !typed || strings.ContainsAny(rest, " \t") {
		return false
	}
	a.add(a.set.index["password"], at, at+len(rest))
	return true
}

// promptRest is what stands between a name and the colon of a prompt, or of a log that says what somebody typed.
var promptRest = prefixes{" for ", " of ", " to ", " (", " entered", " typed", " received", " supplied"}

type prefixes []string

func (p prefixes) starts(text string) bool {
	return slices.ContainsFunc(p, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}
