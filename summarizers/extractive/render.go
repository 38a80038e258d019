package extractive

import (
	"slices"
	"strconv"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// none is the text of a section without lines.
const none = summarizers.NothingBelow

// spacing says how the sections of a summary are separated.
type spacing uint8

const (
	// airy puts empty lines between the sections.
	airy spacing = iota
	// dense puts no empty lines there.
	dense
	// tight also leaves out the text of empty sections, except in the last: a summary that ends in a heading looks cut
	// off.
	tight
)

// chosen is an item of the summary, with the most units that its text may have.
type chosen struct {
	it    *item
	limit int
	// goal says that it is the sentence with the goal.
	goal bool
}

// render writes the summary, one piece for each section. quotes are lines for the end of the section of facts.
func (ly *layout) render(list []chosen, quotes []string, space spacing) []string {
	below := make([][]chosen, len(ly.sections))
	for _, c := range list {
		at := ly.at(c)
		below[at] = append(below[at], c)
	}
	pieces := make([]string, 0, len(ly.sections))
	for i, s := range ly.sections {
		var b strings.Builder
		if i > 0 {
			b.WriteByte('\n')
			if space == airy {
				b.WriteByte('\n')
			}
		}
		b.WriteString(s.heading.Line())
		lines := below[i]
		slices.SortStableFunc(lines, order)
		for _, c := range lines {
			b.WriteByte('\n')
			b.WriteString(ly.line(c, s.holds))
		}
		if s.quotes {
			for _, quote := range quotes {
				b.WriteString("\n" + quote)
			}
			if len(quotes) > 0 {
				pieces = append(pieces, b.String())
				continue
			}
		}
		if len(lines) == 0 && !s.group && (space != tight || i == len(ly.sections)-1) {
			b.WriteString("\n" + none)
		}
		pieces = append(pieces, b.String())
	}
	return pieces
}

// order compares lines below a heading: the goal comes first, then the last request, then the others by kind and age.
func order(a, b chosen) int {
	first := func(yes func(chosen) bool) int {
		switch x, y := yes(a), yes(b); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	}
	if c := first(func(c chosen) bool { return c.goal }); c != 0 {
		return c
	}
	if c := first(func(c chosen) bool { return c.it.kind == kindRequest && c.it.last }); c != 0 {
		return c
	}
	if a.it.kind != b.it.kind {
		// Requests come before facts.
		return int(a.it.kind) - int(b.it.kind)
	}
	if a.it.oldest() != b.it.oldest() {
		if a.it.oldest() < b.it.oldest() {
			return -1
		}
		return 1
	}
	return a.it.seq - b.it.seq
}

// line returns one line.
func (ly *layout) line(c chosen, holds kind) string {
	text := shorten(c.it.text, c.limit)
	before, after := ly.around(c, holds)
	return before + escape(text, holds, before == "") + after
}

// around returns the parts of a line before and after its text.
func (ly *layout) around(c chosen, holds kind) (before, after string) {
	if !c.goal || holds != kindRequest {
		before = "- "
	}
	if c.it.box == openBox && c.it.kind != kindDone {
		before += "[ ] "
	}
	before += labelOf(c.it, holds, c.goal)
	if c.it.kind == kindRule {
		before += voices[c.it.by]
	}
	return before, citation(c.it.cites)
}

// voices are the marks that say who gave a rule; the user's rules have none.
var voices = [...]string{byUser: "", byDeveloper: "(developer) ", bySystem: "(system) "}

// citation returns the citation for the end of a line.
func citation(cites []uint32) string {
	if len(cites) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" [#")
	for i, c := range cites {
		if i > 0 {
			b.WriteString(", #")
		}
		b.WriteString(strconv.FormatUint(uint64(c), 10))
	}
	b.WriteByte(']')
	return b.String()
}

// escape makes text safe for a line. Text that looks like a citation gets a backslash after its bracket, and text that
// begins like a part of the summary's structure gets one before it. holds is the kind of lines in the section. alone
// says that the text is not a list item.
func escape(text string, holds kind, alone bool) string {
	text = escapeCitations(text)
	if opensStructure(text, holds) || alone && opensLine(text) {
		return `\` + text
	}
	return text
}

func escapeCitations(text string) string {
	if i := strings.Index(text, "["); i >= 0 {
		var b strings.Builder
		for {
			i := strings.IndexByte(text, '[')
			if i < 0 {
				break
			}
			b.WriteString(text[:i+1])
			text = text[i+1:]
			if rest := strings.TrimLeft(text, `\`); strings.HasPrefix(rest, "#") {
				b.WriteByte('\\')
			}
		}
		text = b.String() + text
	}
	return text
}

// unescape is the inverse of escape.
func unescape(text string) string {
	text = strings.TrimPrefix(text, `\`)
	if !strings.Contains(text, `[\`) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, `[\`)
		if i < 0 {
			break
		}
		b.WriteString(text[:i+1])
		text = text[i+1:]
		if rest := strings.TrimLeft(text, `\`); strings.HasPrefix(rest, "#") {
			text = text[1:]
		}
	}
	return b.String() + text
}

// opensStructure says whether a text begins with something that has a meaning after a list marker.
func opensStructure(text string, holds kind) bool {
	if strings.HasPrefix(text, `\`) || strings.HasPrefix(text, none) {
		return true
	}
	if _, boxed, _ := checkbox(text + " "); boxed {
		return true
	}
	for _, v := range voices {
		if v != "" && strings.HasPrefix(text, v) {
			return true
		}
	}
	for _, l := range labels {
		if l.meant(holds) && strings.HasPrefix(text, l.text) {
			return true
		}
	}
	return false
}

// opensLine says whether a text begins with something that has a meaning at the beginning of a line.
func opensLine(text string) bool {
	if text == "" {
		return false
	}
	if strings.IndexByte("#-*+<>|=~_[{`", text[0]) >= 0 {
		return true
	}
	_, listed := listItem(text + " ")
	return listed
}
