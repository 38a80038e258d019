package extractive

import (
	"strings"
)

// statement is a sentence or a list item.
type statement struct {
	text string
	// listed says that it begins a list item. boxed says that the item has a checkbox, and box is its state.
	listed bool
	// marker is what stands before the text of a list item.
	marker string
	box    box
	boxed  bool
	// numbered says that the item has a number.
	numbered bool
	// follows says that another sentence comes before it in the same paragraph.
	follows bool
	// heads says that it only introduces what follows it.
	heads bool
	// under is the title above it, and head the sentence that introduces the list that it was joined from.
	under, head string
}

// maxParagraph is how much of a paragraph is read. Longer ones were not written for readers.
const maxParagraph = 8 << 10

// minLong is how many bytes a long text has. A statement of one that is kept must not hold all of it in memory.
const minLong = 8 << 10

// eachStatement calls yield for each sentence of a Markdown text, without code, tables and headings. It joins wrapped
// lines. A statement that ends in a colon introduces a list. If announces returns true for it, the list is joined to
// it; otherwise yield gets the statement and each item separately.
func eachStatement(text string, announces func(head string) bool, yield func(statement)) {
	p := paragraphs{yield: yield, announces: announces}
	if len(text) > minLong {
		p.yield = func(st statement) {
			st.text = strings.Clone(st.text)
			yield(st)
		}
	}
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		p.line(line)
	}
	p.flush()
	p.closeList()
}

// paragraphs joins lines to paragraphs and list items, and splits these into sentences.
type paragraphs struct {
	yield     func(statement)
	announces func(head string) bool
	// fence is the fence of the open code block. quoted says that the block is within a quotation.
	fence  string
	quoted bool
	// open is the paragraph or item so far.
	open   string
	opened statement
	// head is a statement that ends in a colon and waits for its list; list is that list so far.
	head string
	list []string
	// title is the last heading, or the last line that is bold as a whole.
	title string
}

func (p *paragraphs) line(line string) {
	trimmed, quoted := unquoted(line)
	if p.fence != "" && p.inFence(line, trimmed, quoted) {
		return
	}
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		p.flush()
		p.fence, p.quoted = trimmed[:3], quoted
		return
	}
	if trimmed == "" {
		// An empty line of a quotation also separates paragraphs.
		p.flush()
		return
	}
	if trimmed[0] == '#' || trimmed[0] == '|' || isRuler(trimmed) {
		p.flush()
		p.closeList()
		if trimmed[0] == '#' {
			p.title = strings.Trim(trimmed, "#*:： ")
		}
		return
	}
	if strings.HasPrefix(trimmed, "**") && isBold(trimmed) {
		p.title = strings.Trim(trimmed, "*:： ")
	}
	if body, ok := listItem(trimmed); ok {
		p.flush()
		p.opened = statement{listed: true, numbered: isDigit(trimmed[0]), marker: trimmed[:len(trimmed)-len(body)]}
		p.opened.box, p.opened.boxed, body = checkbox(body)
		p.open = body
		return
	}
	if p.open != "" && p.wraps(trimmed, line) {
		if len(p.open) < maxParagraph {
			p.open += " " + trimmed
		}
		return
	}
	p.flush()
	if line[0] != ' ' && line[0] != '\t' {
		p.closeList()
	}
	p.opened = statement{}
	p.open = trimmed
}

// unquoted returns a line without white space and quotation marks (`>`) around it, and whether it had such marks.
func unquoted(line string) (trimmed string, quoted bool) {
	trimmed = strings.TrimSpace(line)
	for strings.HasPrefix(trimmed, ">") {
		trimmed, quoted = strings.TrimSpace(trimmed[1:]), true
	}
	return trimmed, quoted
}

// inFence says whether a line belongs to the open code block. Code outside of a quotation may have lines that look like
// quotations. Code in a quotation ends with the quotation.
func (p *paragraphs) inFence(line, trimmed string, quoted bool) bool {
	if p.quoted && !quoted {
		p.fence = ""
		return false
	}
	if !p.quoted {
		trimmed = strings.TrimSpace(line)
	}
	if strings.HasPrefix(trimmed, p.fence) {
		p.fence = ""
	}
	return true
}

// wraps says whether the line continues the open paragraph: the paragraph is about as long as a line and has no final
// punctuation, and the line does not begin with a capital. Neither is empty.
func (p *paragraphs) wraps(trimmed, line string) bool {
	switch p.open[len(p.open)-1] {
	case '.', '!', '?', ':', ';', '`':
		return false
	}
	if len(p.open) < 50 && (!p.opened.listed || line[0] != ' ') {
		return false
	}
	b := trimmed[0]
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '`' || b == '(' || b == '"'
}

// flush ends the open paragraph or item.
func (p *paragraphs) flush() {
	text := p.open
	p.open = ""
	if text == "" {
		return
	}
	if p.head != "" {
		if p.opened.listed && !p.opened.boxed {
			if len(p.list) < 24 {
				p.list = append(p.list, clip(text, 512))
			}
			return
		}
		p.closeList()
	}
	st := p.opened
	st.under = p.title
	eachSentence(clip(text, maxParagraph), func(sentence string, last bool) {
		st.heads = last && endsInColon(sentence)
		if st.heads && p.announces(sentence) {
			p.head = sentence
			return
		}
		st.text = sentence
		p.yield(st)
		st.listed, st.numbered, st.boxed, st.follows, st.marker = false, false, false, true, ""
	})
}

// closeList yields the statement that introduces a list, joined with the list.
func (p *paragraphs) closeList() {
	if p.head == "" {
		return
	}
	text, heads := p.head, len(p.list) == 0
	if !heads {
		text += " " + strings.Join(p.list, "; ")
	}
	st := statement{text: text, heads: heads, under: p.title, head: p.head}
	p.head, p.list = "", nil
	p.yield(st)
}

// isBold says whether a line that begins in bold is bold as a whole.
func isBold(line string) bool {
	line = strings.TrimRight(line, ":：")
	return len(line) > 4 && strings.HasSuffix(line, "**") && strings.Count(line, "**") == 2
}

func endsInColon(s string) bool {
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, ":**")
}

// isRuler says whether the line has only ruler characters.
func isRuler(line string) bool {
	if len(line) < 3 {
		return false
	}
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '-', '=', '*', '_', ' ', '+':
		default:
			return false
		}
	}
	return true
}

// opensWithMonth says whether a text begins with the name of a month, so that a number before it is a day. Words that mean
// something else in English, too, are no such names.
func opensWithMonth(text string) bool {
	word := strings.ToLower(strings.TrimRight(firstWord(clip(text, 32)), ",.:;"))
	return months[word] && word != "may" && word != "march" && word != "mar"
}

// listItem returns the text after a list marker, if the line begins with one.
func listItem(line string) (string, bool) {
	switch {
	case len(line) > 2 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ':
		return strings.TrimSpace(line[2:]), true
	case strings.HasPrefix(line, "• "):
		return strings.TrimSpace(line[len("• "):]), true
	case strings.HasPrefix(line, "☐"), strings.HasPrefix(line, "☑"), strings.HasPrefix(line, "☒"):
		return line, true
	}
	digits := 0
	for digits < len(line) && digits < 3 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return line, false
	}
	rest := line[digits:]
	for _, mark := range []string{". ", ") ", "、", "．"} {
		if strings.HasPrefix(rest, mark) && (mark != ". " || !opensWithMonth(rest[len(mark):])) {
			return strings.TrimSpace(rest[len(mark):]), true
		}
	}
	return line, false
}

// checkbox returns the state of the checkbox at the beginning of a list item, and the text after it.
func checkbox(body string) (state box, boxed bool, rest string) {
	for _, c := range []struct {
		mark  string
		state box
	}{
		{"[ ] ", openBox},
		{"[] ", openBox},
		{"[x] ", doneBox},
		{"[X] ", doneBox},
		{"[✓] ", doneBox},
		{"[~] ", openBox},
		{"[-] ", openBox},
		{"☐", openBox},
		{"☑", doneBox},
		{"☒", doneBox},
		{"✅ ", doneBox},
	} {
		if strings.HasPrefix(body, c.mark) {
			return c.state, true, strings.TrimSpace(body[len(c.mark):])
		}
	}
	return noBox, false, body
}

// looksWritten says whether a statement is a person's or a model's prose, and not data, code or a log.
func looksWritten(s string) bool {
	signs := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '}', '<', '>', '|', '=', ';', '\\':
			signs++
		case '"':
			if i+1 < len(s) && (s[i+1] == ':' || s[i+1] == ',' || s[i+1] == '}') {
				signs += 2
			}
		}
	}
	return (signs < 4 || signs*25 < len(s)) && !opensWithLineNumber(s)
}

// opensWithLineNumber says whether a text begins with the number of a line, as in `120: return nil`. A list is hardly as long.
func opensWithLineNumber(s string) bool {
	digits := 0
	for digits < len(s) && isDigit(s[digits]) {
		digits++
	}
	return digits > 1 && strings.HasPrefix(s[digits:], ": ")
}

// bare removes Markdown emphasis from a sentence.
func bare(s string) string {
	if strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "")
	}
	return oneLine(s)
}
