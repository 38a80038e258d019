package extractive

import (
	"slices"
	"strconv"
	"strings"

	"github.com/compactord/compactord/session/quotation"
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
)

// chosen is an item of the summary, with the most units that its text may have.
type chosen struct {
	it    *item
	limit int
	// goal says that it is the sentence with the goal.
	goal bool
	// brief is the beginning of the text that is shown in place of all of it, if it is not empty.
	brief string
}

// text returns the item's text, as long as it may be. Of the user's, the sentences that say most are left.
func (c chosen) text() string {
	if c.brief != "" {
		return c.brief
	}
	if isRequest(c) {
		return c.it.condensed.within(c.it.text, c.it.echoed, c.limit)
	}
	return c.it.parts(c.limit).text()
}

// render writes the summary, one piece for each section that has lines. quotes are lines for the end of the section of
// facts. Without any line, the first section says so.
func (ly *layout) render(list []chosen, quotes []string, space spacing) []string {
	below := make([][]chosen, len(ly.sections))
	for _, c := range list {
		at := ly.at(c)
		below[at] = append(below[at], c)
	}
	between := "\n"
	if space == airy {
		between = "\n\n"
	}
	lines := make([][]string, len(ly.sections))
	for i, s := range ly.sections {
		lines[i] = ly.below(below[i], s, quotes)
	}
	return writeSections(ly.headings(), lines, between)
}

// writeSections writes the sections that have lines, one piece for each. Without any line, the first section says so.
func writeSections(headings []summarizers.Heading, lines [][]string, between string) []string {
	var pieces []string
	group := ""
	for i, h := range headings {
		if summarizers.Groups(headings, i) {
			group = h.Line() + between
			continue
		}
		if i > 0 && h.Level < headings[i-1].Level {
			group = ""
		}
		if len(lines[i]) == 0 {
			continue
		}
		piece := group + h.Line() + "\n" + strings.Join(lines[i], "\n")
		if group = ""; len(pieces) > 0 {
			piece = between + piece
		}
		pieces = append(pieces, piece)
	}
	if len(pieces) == 0 {
		return []string{headings[0].Line() + "\n" + none}
	}
	return pieces
}

// below returns the lines of a section.
func (ly *layout) below(list []chosen, s section, quotes []string) []string {
	slices.SortStableFunc(list, order)
	lines := earlierLines(list)
	lines = append(lines, ly.grouped(slices.DeleteFunc(slices.Clone(list), isEarlierLine), s.holds)...)
	if s.quotes {
		lines = append(lines, quotes...)
	}
	return lines
}

func isEarlierLine(c chosen) bool { return c.it.kind == kindEarlier }

// order compares lines below a heading: the goal comes first, then the others by kind and age. To-dos come before what was
// said about next steps, in the order of their list.
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
	if a.it.kind != b.it.kind {
		// Requests come before facts.
		return int(a.it.kind) - int(b.it.kind)
	}
	if c := first(func(c chosen) bool { return c.it.root }); c != 0 {
		return c
	}
	listed := func(c chosen) bool { return c.it.box == openBox }
	if c := first(listed); c != 0 {
		return c
	}
	if a.it.oldest() != b.it.oldest() && !listed(a) {
		if a.it.oldest() < b.it.oldest() {
			return -1
		}
		return 1
	}
	return a.it.seq - b.it.seq
}

// line returns one line.
func (ly *layout) line(c chosen, holds kind) string {
	before, after := ly.around(c, holds)
	if c.it.noise {
		// A program wrote it in the user's name.
		if ly.silent {
			return before + quotation.LeftOut + after
		}
		return before + quotation.Quote(c.text()) + after
	}
	if c.it.heard != nil && !isRequest(c) {
		return before + escapeOpening(c.it.parts(c.limit).quoting(), holds, before == "") + after
	}
	text := escape(c.text(), holds, before == "")
	switch {
	case isRequest(c):
		text = overLines(text)
	case c.it.kind != kindRule:
		// The agent can say again what somebody made look like the user's turn.
		text = quotation.Defuse(text)
	}
	return before + text + after
}

// around returns the parts of a line before and after its text.
func (ly *layout) around(c chosen, holds kind) (before, after string) {
	if c.it.kind == kindEarlier {
		return c.it.indentation(), ""
	}
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
	return before, c.it.remarks() + citation(c.it.cites)
}

// voices are the marks that say who gave a rule; the user's rules have none.
var voices = [...]string{byUser: "", byDeveloper: "(developer) ", bySystem: "(system) "}

// citation returns the citation for the end of a line.
func citation(cites []uint32) string {
	if len(cites) == 0 {
		return ""
	}
	text := append(make([]byte, 0, 64), " [#"...)
	for i, c := range cites {
		if i > 0 {
			text = append(text, ", #"...)
		}
		text = strconv.AppendUint(text, uint64(c), 10)
	}
	return string(append(text, ']'))
}

// escape makes text safe for a line. Text that looks like a citation gets a backslash after its bracket, and text that
// begins like a part of the summary's structure gets one before it. holds is the kind of lines in the section. alone
// says that the text is not a list item.
func escape(text string, holds kind, alone bool) string {
	return escapeOpening(escapeCitations(text), holds, alone)
}

// escapeOpening does so with the beginning of a text.
func escapeOpening(text string, holds kind, alone bool) string {
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
func unescape(text string) string { return unescapeCitations(strings.TrimPrefix(text, `\`)) }

func unescapeCitations(text string) string {
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
		if rest, ok := strings.CutPrefix(text, l.text); ok && l.meant(holds, rest) {
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
