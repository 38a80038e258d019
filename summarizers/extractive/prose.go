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
	// last says that it ends its paragraph or item.
	last bool
}

// maxParagraph is how much of a paragraph is looked at; what is longer was not written for reading.
const maxParagraph = 8 << 10

// eachStatement calls yield for each sentence of a text in Markdown, leaving out code, tables and headings. Lines that
// were wrapped are joined. A list that a statement announces by a colon is joined to it where announce is set.
func eachStatement(text string, announce bool, yield func(statement)) {
	p := paragraphs{yield: yield, announce: announce}
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
	yield    func(statement)
	announce bool
	// fence is what opened the block of code that the current line is in.
	fence string
	// open is the paragraph or item read so far.
	open   string
	opened statement
	// head is a statement that ends in a colon and waits for the list that it announces; list is what came of it.
	head string
	list []string
}

func (p *paragraphs) line(line string) {
	trimmed := strings.TrimSpace(line)
	if p.fence != "" {
		if strings.HasPrefix(trimmed, p.fence) {
			p.fence = ""
		}
		return
	}
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		p.flush()
		p.fence = trimmed[:3]
		return
	}
	if trimmed == "" {
		p.flush()
		return
	}
	if trimmed[0] == '#' || trimmed[0] == '|' || isRuler(trimmed) {
		p.flush()
		p.closeList()
		return
	}
	for trimmed != "" && trimmed[0] == '>' {
		trimmed = strings.TrimSpace(trimmed[1:])
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

// wraps says whether the line goes on with the open paragraph: that was near the margin and had not ended, and the
// line begins small.
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
		if p.announce && last && endsInColon(sentence) {
			p.head = sentence
			return
		}
		st.text, st.last = sentence, last
		p.yield(st)
		st.listed, st.boxed = false, false
	})
}

// closeList yields the statement that announced a list, with the list.
func (p *paragraphs) closeList() {
	if p.head == "" {
		return
	}
	text := p.head
	if len(p.list) > 0 {
		text += " " + strings.Join(p.list, "; ")
	}
	p.head, p.list = "", nil
	p.yield(statement{text: text, last: true})
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

// eachSentence calls yield for each sentence of a paragraph.
func eachSentence(s string, yield func(sentence string, last bool)) {
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		end := 0
		switch {
		case b < utf8.RuneSelf:
			if (b == '.' || b == '!' || b == '?') && endsSentence(s, start, i) {
				end = i + 1
			}
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if r == '。' || r == '！' || r == '？' || r == '；' {
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

// endsSentence says whether the sign at i ends the sentence that began at start: white space or the end follows, and
// it is no abbreviation or number of a list.
func endsSentence(s string, start, i int) bool {
	if i+1 < len(s) {
		if next := s[i+1]; next != ' ' && next != '\t' && (next != '"' && next != ')' && next != '*' || i+2 < len(s) && s[i+2] != ' ') {
			return next >= utf8.RuneSelf && s[i] != '.'
		}
	}
	if s[i] != '.' {
		return true
	}
	word := s[start:i]
	if j := strings.LastIndexAny(word, " (\t"); j >= 0 {
		word = word[j+1:]
	}
	if len(word) <= 1 {
		return false
	}
	switch word {
	case "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "Mr", "Mrs", "Ms", "Dr", "No", "Fig", "incl":
		// "etc." ends a sentence as often as not; a capital after it decides.
		return word == "etc" && i+2 < len(s) && s[i+2] >= 'A' && s[i+2] <= 'Z'
	}
	// What begins small goes on, unless what ended was longer than a few words.
	return i-start > 12 || i+2 >= len(s) || s[i+2] < 'a' || s[i+2] > 'z'
}

// bare takes the emphasis of Markdown off a sentence.
func bare(s string) string {
	if strings.Contains(s, "**") {
		s = strings.ReplaceAll(s, "**", "")
	}
	return oneLine(s)
}
