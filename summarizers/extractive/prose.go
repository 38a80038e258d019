package extractive

import (
	"strings"
	"unicode/utf8"
)

// statement is a sentence, or an item of a list.
type statement struct {
	text string
	// listed says that it began an item of a list, box what box stood before it.
	listed bool
	box    box
	boxed  bool
	// heads says that it only announces what comes after it.
	heads bool
}

// maxParagraph is how much of a paragraph is looked at; what is longer was not written for reading.
const maxParagraph = 8 << 10

// eachStatement calls yield for each sentence of a text in Markdown, leaving out code, tables and headings. Lines that
// were wrapped are joined. A statement that ends in a colon announces a list: where announces says so of it, the list
// is joined to it; else the statement goes to yield as a heading, and the items by themselves.
func eachStatement(text string, announces func(head string) bool, yield func(statement)) {
	p := paragraphs{yield: yield, announces: announces}
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

// paragraphs puts lines together into paragraphs and items, and those apart into sentences.
type paragraphs struct {
	yield     func(statement)
	announces func(head string) bool
	// fence is what opened the block of code that the current line is in, quoted says that it stands in a quotation.
	fence  string
	quoted bool
	// open is the paragraph or item read so far.
	open   string
	opened statement
	// head is a statement that ends in a colon and waits for the list that it announces; list is what came of it.
	head string
	list []string
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
		// An empty line of a quotation parts paragraphs too.
		p.flush()
		return
	}
	if trimmed[0] == '#' || trimmed[0] == '|' || isRuler(trimmed) {
		p.flush()
		p.closeList()
		return
	}
	if body, ok := listItem(trimmed); ok {
		p.flush()
		p.opened = statement{listed: true}
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

// unquoted returns a line without white space and marks of quotations around it, and whether there were such marks.
func unquoted(line string) (trimmed string, quoted bool) {
	trimmed = strings.TrimSpace(line)
	for strings.HasPrefix(trimmed, ">") {
		trimmed, quoted = strings.TrimSpace(trimmed[1:]), true
	}
	return trimmed, quoted
}

// inFence says whether a line belongs to the open block of code. Code that is not quoted may have lines that look like
// quotations; code in a quotation ends with that.
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

// wraps says whether the line goes on with the open paragraph: that was near the margin and had not ended, and the
// line begins small. Neither the paragraph nor the line is empty.
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
	eachSentence(clip(text, maxParagraph), func(sentence string, last bool) {
		st.heads = last && endsInColon(sentence)
		if st.heads && p.announces(sentence) {
			p.head = sentence
			return
		}
		st.text = sentence
		p.yield(st)
		st.listed, st.boxed = false, false
	})
}

// closeList yields the statement that announced a list, with the list.
func (p *paragraphs) closeList() {
	if p.head == "" {
		return
	}
	text, heads := p.head, len(p.list) == 0
	if !heads {
		text += " " + strings.Join(p.list, "; ")
	}
	p.head, p.list = "", nil
	p.yield(statement{text: text, heads: heads})
}

func endsInColon(s string) bool {
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, ":**")
}

// isRuler says whether the line is nothing but signs.
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

// listItem returns what stands after the mark of a list, if the line begins with one.
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
		if strings.HasPrefix(rest, mark) {
			return strings.TrimSpace(rest[len(mark):]), true
		}
	}
	return line, false
}

// checkbox returns the state of the box that an item of a list begins with, and what stands after it.
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

// eachSentence calls yield for each sentence of a paragraph. What stands in backquotes is not taken apart.
func eachSentence(s string, yield func(sentence string, last bool)) {
	start, quoted := 0, -1
	for i := 0; i < len(s); {
		b := s[i]
		end := 0
		switch {
		case b == '`':
			if quoted >= 0 {
				quoted = -1
			} else if strings.IndexByte(s[i+1:], '`') >= 0 {
				quoted = i
			}
			i++
			continue
		case b < utf8.RuneSelf:
			if quoted < 0 && (b == '.' || b == '!' || b == '?') {
				end = sentenceEnd(s, start, i)
			}
			i = max(i+1, end)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if quoted < 0 && (r == '。' || r == '！' || r == '？' || r == '；') {
				end = i
				// A closing quotation mark belongs to the sentence.
				if next, n := utf8.DecodeRuneInString(s[i:]); next == '”' || next == '」' || next == '）' {
					end += n
					i += n
				}
			}
		}
		if end > 0 {
			sentence := strings.TrimSpace(s[start:end])
			start = end
			rest := strings.TrimSpace(s[end:])
			if sentence != "" {
				yield(sentence, rest == "")
			}
		}
	}
	if sentence := strings.TrimSpace(s[start:]); sentence != "" {
		yield(sentence, true)
	}
}

// sentenceEnd returns where the sentence that began at start ends, if the sign at i ends it, and else 0.
func sentenceEnd(s string, start, i int) int {
	end := i + 1
	for end < len(s) && strings.IndexByte(`"')]*`, s[end]) >= 0 {
		end++
	}
	if end == len(s) {
		return end
	}
	if s[end] >= utf8.RuneSelf && s[i] != '.' {
		return end
	}
	if s[end] != ' ' && s[end] != '\t' {
		return 0
	}
	next := byte('A')
	if end+1 < len(s) {
		next = s[end+1]
	}
	small := next >= 'a' && next <= 'z'
	if end > i+1 && small {
		// What was quoted ended, and not the sentence around it.
		return 0
	}
	if s[i] != '.' {
		return end
	}
	word := s[start:i]
	if j := strings.LastIndexAny(word, " (\t"); j >= 0 {
		word = word[j+1:]
	}
	if len(word) <= 1 || isDigits(word) && len(word) < 4 || word[len(word)-1] == '.' && (next < 'A' || next > 'Z') {
		return 0
	}
	switch word {
	case "e.g", "i.e", "eg", "ie", "vs", "cf", "approx", "Mr", "Mrs", "Ms", "Dr", "No", "Fig", "incl":
		return 0
	case "etc":
		// It ends a sentence as often as not; a small letter after it decides.
		if small {
			return 0
		}
	}
	// What begins small goes on, unless what ended was longer than a few words.
	if small && i-start <= 12 {
		return 0
	}
	return end
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// looksWritten says whether a statement was written by somebody, and is not a piece of data, code or a log.
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
	return signs < 4 || signs*25 < len(s)
}

// bare takes the emphasis of Markdown off a sentence.
func bare(s string) string {
	if strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "")
	}
	return oneLine(s)
}
