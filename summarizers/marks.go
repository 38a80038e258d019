package summarizers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/compactord/compactord/session"
)

// style is how a section is marked in a text.
type style int

// The styles: a heading of Markdown, a tag, a line in bold, and a label, which may be mere text.
const (
	inHeading style = iota
	inTag
	inBold
	inLabel
	styles
)

// mark is where a section begins in a text.
type mark struct {
	section int
	// start and end are the bytes of the mark. What follows it, up to the next mark, belongs to the section.
	start, end int
	style      style
	// level is that of the heading; 0 of other marks.
	level int
	// rest is text of the section that stands in the line of its title; loose says that the line is a heading, which tells
	// less then.
	rest  string
	loose bool
	// within says that it stands between the tags of a section that it is no part of.
	within bool
	// listed says that it is a number with a title and no more: an item of a list, where anything marks sections better.
	listed bool
	// canonical says that it is the heading that we would write.
	canonical bool
	// closed says that the tag is closed: by itself, or by the closing tag from closeStart to closeEnd.
	closed               bool
	closeStart, closeEnd int
}

// marksOf finds the marks of the sections with these headings, in the order of the text. Code between fences holds none.
func marksOf(text string, headings []Heading) []mark {
	f := &finder{text: text, headings: headings, byKey: make(map[string]int, len(headings)), open: make([][]int, len(headings))}
	for i, h := range headings {
		f.byKey[session.TitleKey(h.Title)] = i
	}
	lines := strings.SplitAfter(text, "\n")
	code := codeLines(lines)
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

// finder finds all that may be a mark.
type finder struct {
	text     string
	headings []Heading
	byKey    map[string]int
	found    []mark
	// open are, by section, the marks whose tag is not closed yet.
	open [][]int
}

// tagName and attributes are patterns of what a tag holds.
const (
	tagName    = `\pL[\pL\pM\pN_ &.-]*?`
	attributes = `(?:\s+[\pL_:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*`
)

var (
	tagPattern   = regexp.MustCompile(`^<(/?)\s*(` + tagName + `)` + attributes + `(/?)>`)
	atxPattern   = regexp.MustCompile(`^ {0,3}(#+)(.*?)[ \t]*#*$`)
	boldPattern  = regexp.MustCompile(`^(?:\(?\d+[.)][ \t]*)?(?:\*\*\*|\*\*|__)([^*]+?)(?:\*\*\*|\*\*|__)[ \t]*([:：]?)(.*)$`)
	plainPattern = regexp.MustCompile(`^(?:\(?\d+[.)][ \t]+)?(\pL[\pL\pM\pN_ &-]*?)[:：]?$`)
	underlines   = regexp.MustCompile(`^ {0,3}(?:={2,}|-{2,})[ \t]*\r?\n?$`)
	// beforeRest divides a title from text that follows it in its line.
	beforeRest = regexp.MustCompile(`[:：]|[(（]| [-–—] `)
)

// line takes in a line that is no tag.
func (f *finder) line(at int, line, next string) {
	body := strings.TrimRight(line, "\r\n\t ")
	trimmed := strings.TrimLeft(body, " ")
	if len(body)-len(trimmed) > 3 || trimmed == "" {
		return
	}
	m := mark{start: at, end: at + len(line)}
	if of := atxPattern.FindStringSubmatch(body); of != nil {
		if strings.IndexAny(of[2], "0123456789") == 0 {
			// `#12` is the number of something.
			return
		}
		m.level = len(of[1])
		f.titled(m, of[2], true)
		return
	}
	if underlines.MatchString(next) {
		if section, ok := f.byKey[session.TitleKey(trimmed)]; ok {
			m.section, m.level, m.end = section, 1, m.end+len(next)
			f.found = append(f.found, m)
			return
		}
	}
	if of := boldPattern.FindStringSubmatch(trimmed); of != nil {
		f.bold(m, of[1], of[2], strings.TrimSpace(of[3]))
		return
	}
	// A single word is no label.
	if of := plainPattern.FindStringSubmatch(trimmed); of != nil && len(of[1]) < len(trimmed) {
		m.style, m.listed = inLabel, !strings.HasSuffix(trimmed, ":") && !strings.HasSuffix(trimmed, "：")
		f.titled(m, of[1], false)
	}
}

// bold takes in a line that begins in bold: a title alone, or one with its text behind it.
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

// titled adds a mark if it has the title of a section. Behind the title of a heading there may be text.
func (f *finder) titled(m mark, title string, heading bool) {
	if section, ok := f.byKey[session.TitleKey(title)]; ok {
		m.section = section
		h := f.headings[section]
		m.canonical = heading && strings.TrimRight(f.text[m.start:m.end], "\r\n") == h.Line()
		f.found = append(f.found, m)
		return
	}
	cut := beforeRest.FindStringIndex(title)
	if !heading || cut == nil {
		return
	}
	section, ok := f.byKey[session.TitleKey(title[:cut[0]])]
	if !ok {
		return
	}
	// What stands behind the title, without what divides the two; a bracket belongs to the text.
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

// tags takes in the tags of sections in a line, and says whether it begins with one.
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

// tag takes in the tag of a section at a place, and returns how long it is; 0 where there is none.
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

// tagAt reads the tag of a section.
func (f *finder) tagAt(at, end int) (section int, closes, alone bool, length int) {
	if at >= end || f.text[at] != '<' {
		return 0, false, false, 0
	}
	of := tagPattern.FindStringSubmatch(f.text[at:end])
	if of == nil {
		return 0, false, false, 0
	}
	section, ok := f.byKey[session.TitleKey(of[2])]
	if !ok {
		return 0, false, false, 0
	}
	return section, of[1] != "", of[3] != "", len(of[0])
}

// toClosing returns how far it is to a closing tag in the line that ends it, or that another tag follows; 0 where there is none.
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

// join makes one mark of a tag and the title of the same section right behind it: the tag, which says where the section
// ends, or where it is an empty one, the title.
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
			m.start = tag.start
			*tag = m
		} else {
			tag.end, tag.rest = m.end, m.rest
		}
	}
	f.found = joined
}

// sameAgain says whether a title names again the section that the tag before it has just named.
func (f *finder) sameAgain(tag, title *mark) bool {
	return tag.section == title.section && tag.style == inTag && title.style != inTag && tag.rest == "" &&
		strings.TrimSpace(f.text[tag.end:title.start]) == ""
}

// findWithin says of each mark whether it stands between the tags of a section that it is no part of.
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
			// Tags that cross each other are closed in the order in which they were opened, at the latest.
			between[m.section]++
			all++
			ends = append(ends, m)
		}
	}
}

// parentOf is the section that one is a part of, or -1.
func parentOf(headings []Heading, section int) int {
	for i := section - 1; i >= 0; i-- {
		if headings[i].Level < headings[section].Level {
			return i
		}
	}
	return -1
}

// clearest leaves, of each section, the marks that are clearest: those in the style of most sections, of the level of
// most, else of the highest. All others are text. A section that only has other marks has those.
func clearest(found []mark, headings []Heading) []mark {
	sections := len(headings)
	found = withoutItems(found)
	main, deeper := mainStyle(found, sections), mainLevel(found, headings)
	rank := func(m *mark) int {
		unclear := m.level
		if m.level == headings[m.section].Level+deeper {
			unclear = 0
		}
		if m.loose {
			unclear += 1 << 39
		}
		if m.within {
			unclear += 1 << 40
		}
		if m.style != main {
			unclear += 1 << 41
		}
		if m.style == inLabel {
			unclear += 1 << 42
		}
		return unclear
	}
	best := make([]int, sections)
	for i := range best {
		best[i] = 1 << 62
	}
	kept := found[:0]
	for _, m := range found {
		// Between the tags of another section, what is marked otherwise is its text.
		if !m.within || m.style == main {
			kept = append(kept, m)
			best[m.section] = min(best[m.section], rank(&m))
		}
	}
	left := kept[:0]
	for _, m := range kept {
		if rank(&m) == best[m.section] {
			left = append(left, m)
		}
	}
	return left
}

// mainStyle is the one that most sections are marked in.
func mainStyle(found []mark, sections int) style {
	var count [styles]int
	seen := make([]bool, sections*int(styles))
	for _, m := range found {
		if at := m.section*int(styles) + int(m.style); !seen[at] {
			seen[at] = true
			count[m.style]++
		}
	}
	main := inHeading
	for s := inTag; s < inLabel; s++ {
		if count[s] > count[main] {
			main = s
		}
	}
	return main
}

// withoutItems leaves out what looks like an item of a list, where there are other marks.
func withoutItems(found []mark) []mark {
	if !slices.ContainsFunc(found, func(m mark) bool { return !m.listed }) {
		return found
	}
	return slices.DeleteFunc(found, func(m mark) bool { return m.listed })
}

// mainLevel is how much deeper than ours the headings of most sections are: a comment in code may look like a higher one.
func mainLevel(found []mark, headings []Heading) int {
	count := map[int]int{}
	seen := map[[2]int]bool{}
	main := 0
	for _, m := range found {
		deeper := m.level - headings[m.section].Level
		if at := [2]int{m.section, deeper}; m.level > 0 && !m.loose && !seen[at] {
			seen[at] = true
			count[deeper]++
		}
	}
	for deeper, n := range count {
		if n > count[main] || n == count[main] && deeper < main {
			main = deeper
		}
	}
	return main
}
