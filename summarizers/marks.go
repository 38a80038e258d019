package summarizers

import (
	"regexp"
	"strings"
	"sync"

	"github.com/compactord/compactord/session"
)

// style is how a text marks a section.
type style int

// The styles: a Markdown heading, a tag, a line in bold, and a label, which may be plain text.
const (
	inHeading style = iota
	inTag
	inBold
	inLabel
	styles
)

// mark is a place where a section begins in a text.
type mark struct {
	section int
	// start and end are byte offsets of the mark. The text after it, up to the next mark, belongs to the section.
	start, end int
	style      style
	// level is the level of a heading, and 0 for other marks.
	level int
	// rest is text of the section on the same line as its title. loose says that the line is a heading with such text,
	// which is a less certain mark.
	rest  string
	loose bool
	// within says that the mark is between the tags of a section that it is not a part of.
	within bool
	// listed says that the line is only a number and a title. It counts as a list item if the text has marks of any
	// other kind.
	listed bool
	// canonical says that the line is exactly the heading that Stored would write.
	canonical bool
	// closed says that the tag is closed: by itself, or by the closing tag from closeStart to closeEnd.
	closed               bool
	closeStart, closeEnd int
}

// marksOf returns the marks of the sections with these headings, in the order of the text. It ignores code between
// fences.
func marksOf(text string, headings []Heading) []mark {
	f := &finder{text: text, headings: headings, byKey: make(map[string]int, len(headings)), open: make([][]int, len(headings))}
	for i, h := range headings {
		f.byKey[session.TitleKey(h.Title)] = i
	}
	lines := strings.SplitAfter(text, "\n")
	code := CodeLines(lines)
	at := 0
	for i, line := range lines {
		if !code[i] && !f.tags(at, at+len(line)) {
			next := ""
			if i+1 < len(lines) && !code[i+1] {
				next = lines[i+1]
			}
			f.line(at, line, next)
		}
		at += len(line)
	}
	f.join()
	f.findWithin()
	return clearest(f.found, headings)
}

// finder collects all possible marks.
type finder struct {
	text     string
	headings []Heading
	byKey    map[string]int
	found    []mark
	// open holds, for each section, the marks whose tag is not closed yet.
	open [][]int
}

// tagName and attributes are patterns of the contents of a tag.
const (
	tagName    = `\pL[\pL\pM\pN_ &.-]*?`
	attributes = `(?:\s+[\pL_:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*`
)

var (
	tagPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^<(/?)\s*(` + tagName + `)` + attributes + `(/?)>`)
	})
	atxPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ {0,3}(#+)(.*?)[ \t]*#*$`)
	})
	boldPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\(?\d+[.)][ \t]*)?(?:\*\*\*|\*\*|__)([^*]+?)(?:\*\*\*|\*\*|__)[ \t]*([:：]?)(.*)$`)
	})
	plainPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\(?\d+[.)][ \t]+)?(\pL[\pL\pM\pN_ &-]*?)[:：]?$`)
	})
	underlines = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ {0,3}(?:={2,}|-{2,})[ \t]*\r?\n?$`)
	})
	// beforeRest separates a title from text that follows on its line.
	beforeRest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[:：]|[(（]| [-–—] `)
	})
)

// line reads a line that does not begin with a tag.
func (f *finder) line(at int, line, next string) {
	body := strings.TrimRight(line, "\r\n\t ")
	trimmed := strings.TrimLeft(body, " ")
	if len(body)-len(trimmed) > 3 || trimmed == "" {
		return
	}
	m := mark{start: at, end: at + len(line)}
	if of := atxPattern().FindStringSubmatch(body); of != nil {
		if strings.IndexAny(of[2], "0123456789") == 0 {
			// `#12` is the number of something.
			return
		}
		m.level = len(of[1])
		f.titled(m, of[2], true)
		return
	}
	if underlines().MatchString(next) {
		if section, ok := f.byKey[session.TitleKey(trimmed)]; ok {
			m.section, m.level, m.end = section, 1, m.end+len(next)
			f.found = append(f.found, m)
			return
		}
	}
	if of := boldPattern().FindStringSubmatch(trimmed); of != nil {
		f.bold(m, of[1], of[2], strings.TrimSpace(of[3]))
		return
	}
	// A title without number and colon is not a label.
	if of := plainPattern().FindStringSubmatch(trimmed); of != nil && len(of[1]) < len(trimmed) {
		m.style, m.listed = inLabel, !strings.HasSuffix(trimmed, ":") && !strings.HasSuffix(trimmed, "：")
		f.titled(m, of[1], false)
	}
}

// bold reads a line that begins in bold: a title alone, or a title with text after it.
func (f *finder) bold(m mark, title, colon, rest string) {
	m.style = inBold
	if rest != "" {
		if colon == "" && !strings.HasSuffix(title, ":") && !strings.HasSuffix(title, "：") {
			dashed := strings.TrimLeft(rest, "-–—")
			if dashed == rest {
				return
			}
			rest = strings.TrimSpace(dashed)
		}
		m.style, m.rest = inLabel, rest
	}
	f.titled(m, title, false)
}

// titled adds a mark if the title is that of a section. After the title of a heading there may be more text.
func (f *finder) titled(m mark, title string, heading bool) {
	if section, ok := f.byKey[session.TitleKey(title)]; ok {
		m.section = section
		h := f.headings[section]
		m.canonical = heading && strings.TrimRight(f.text[m.start:m.end], "\r\n") == h.Line()
		f.found = append(f.found, m)
		return
	}
	cut := beforeRest().FindStringIndex(title)
	if !heading || cut == nil {
		return
	}
	section, ok := f.byKey[session.TitleKey(title[:cut[0]])]
	if !ok {
		return
	}
	// The text after the title, without the separator; a bracket belongs to the text.
	rest := title[cut[0]:]
	if !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "（") {
		rest = title[cut[1]:]
	}
	if rest = strings.TrimSpace(rest); strings.Trim(rest, "*_") == "" {
		rest = ""
	}
	m.section, m.rest, m.loose = section, rest, true
	f.found = append(f.found, m)
}

// tags reads the section tags of a line, and says whether the line begins with one.
func (f *finder) tags(at, end int) bool {
	at += spaces(f.text[at:end])
	begins := f.isTag(at, end)
	for {
		if length := f.tag(at, end); length > 0 {
			at += length + spaces(f.text[at+length:end])
			continue
		}
		length := f.toClosing(at, end)
		if length == 0 {
			return begins
		}
		at += length
	}
}

func spaces(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// tag reads the section tag at a position and returns its length, or 0 if there is none.
func (f *finder) tag(at, end int) int {
	section, closes, alone, length := f.tagAt(at, end)
	switch {
	case length == 0:
	case closes:
		f.close(section, at, at+length)
	default:
		after := at + length
		f.found = append(f.found, mark{
			section: section, start: at, end: after + spaces(f.text[after:end]), style: inTag, closed: alone,
		})
		if !alone {
			f.open[section] = append(f.open[section], len(f.found)-1)
		}
	}
	return length
}

// tagAt parses the section tag at a position.
func (f *finder) tagAt(at, end int) (section int, closes, alone bool, length int) {
	if at >= end || f.text[at] != '<' {
		return 0, false, false, 0
	}
	of := tagPattern().FindStringSubmatch(f.text[at:end])
	if of == nil {
		return 0, false, false, 0
	}
	section, ok := f.byKey[session.TitleKey(of[2])]
	if !ok {
		return 0, false, false, 0
	}
	return section, of[1] != "", of[3] != "", len(of[0])
}

// toClosing returns the distance to the next closing tag that ends its line or is followed by another tag. It returns 0
// if there is none.
func (f *finder) toClosing(at, end int) int {
	for from := at; ; {
		next := strings.Index(f.text[from:end], "</")
		if next < 0 {
			return 0
		}
		from += next
		_, closes, _, length := f.tagAt(from, end)
		if closes {
			after := strings.TrimLeft(f.text[from+length:end], " \t\r\n")
			if after == "" || f.isTag(end-len(after), end) {
				return from - at
			}
		}
		from += len("</")
	}
}

func (f *finder) isTag(at, end int) bool {
	_, _, _, length := f.tagAt(at, end)
	return length > 0
}

// close closes the tag of a section that was opened last.
func (f *finder) close(section, start, end int) {
	open := f.open[section]
	if len(open) == 0 {
		return
	}
	m := &f.found[open[len(open)-1]]
	m.closed, m.closeStart, m.closeEnd = true, start, end
	f.open[section] = open[:len(open)-1]
}

// join merges a tag and the title of the same section directly after it into one mark. It keeps the tag, which says
// where the section ends, unless the tag closes itself; then it keeps the title.
func (f *finder) join() {
	joined := f.found[:0]
	for _, m := range f.found {
		last := len(joined) - 1
		if last < 0 || !f.sameAgain(&joined[last], &m) {
			joined = append(joined, m)
			continue
		}
		tag := &joined[last]
		if tag.closed && tag.closeEnd == 0 {
			m.start, m.canonical = tag.start, false
			*tag = m
		} else {
			tag.end, tag.rest = m.end, m.rest
		}
	}
	f.found = joined
}

// sameAgain says whether a title repeats the section of the tag directly before it.
func (f *finder) sameAgain(tag, title *mark) bool {
	return tag.section == title.section && tag.style == inTag && title.style != inTag && tag.rest == "" &&
		strings.TrimSpace(f.text[tag.end:title.start]) == ""
}

// findWithin sets `within` of each mark.
func (f *finder) findWithin() {
	between := make([]int, len(f.headings))
	all := 0
	var ends []*mark
	for i := range f.found {
		m := &f.found[i]
		for len(ends) > 0 && ends[len(ends)-1].closeEnd <= m.start {
			between[ends[len(ends)-1].section]--
			all--
			ends = ends[:len(ends)-1]
		}
		around := all
		if parent := parentOf(f.headings, m.section); parent >= 0 {
			around -= between[parent]
		}
		m.within = around > 0
		if m.closeEnd > 0 {
			// Tags that overlap are closed at the latest in the order in which they were opened.
			between[m.section]++
			all++
			ends = append(ends, m)
		}
	}
}
