package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// lineIndex finds out whether a line of three words or more stands within another one, apart from white space and
// emphasis.
type lineIndex struct {
	lines []string
	// at has the places in lines where two words begin, by these words.
	at map[string][]place
	// whole counts the lines that are equal.
	whole map[string]int
}

// place is a byte in one of several lines.
type place struct{ line, at int }

func newLineIndex() *lineIndex { return &lineIndex{at: map[string][]place{}, whole: map[string]int{}} }

// folded returns a line without emphasis and signs for line ends, with single spaces.
func folded(line string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, lineBreak, " "), "**", "")), " ")
}

// add adds a line.
func (x *lineIndex) add(line string) {
	line = folded(line)
	x.whole[line]++
	x.lines = append(x.lines, line)
	for at := 0; ; {
		key := opening(line[at:])
		if key == "" {
			return
		}
		x.at[key] = append(x.at[key], place{len(x.lines) - 1, at})
		at += strings.IndexByte(line[at:], ' ') + 1
	}
}

// opening returns the first two words of a line, or "" if no other follows.
func opening(line string) string {
	first := strings.IndexByte(line, ' ')
	if first < 0 {
		return ""
	}
	second := strings.IndexByte(line[first+1:], ' ')
	if second < 0 {
		return ""
	}
	return line[:first+1+second]
}

// holder returns a line that holds this one, and is not equal to it. It returns -1 if there is none.
func (x *lineIndex) holder(line string) int {
	line = folded(line)
	key := opening(line)
	if key == "" {
		return -1
	}
	for _, p := range x.at[key] {
		if rest := x.lines[p.line][p.at:]; strings.HasPrefix(rest, line) && len(x.lines[p.line]) > len(line) {
			return p.line
		}
	}
	return -1
}

// withoutRepeats returns the lines of a narrative without those that stand within others, or that are equal to one
// before them. A request leaves out a rule that has a line of its own, as long as it still asks for something without it.
func withoutRepeats(list []chosen) []chosen {
	list = slices.Clone(list)
	index := newLineIndex()
	seen := map[string]bool{}
	for _, c := range list {
		index.add(c.text())
		if c.stays() {
			seen[folded(c.text())] = true
		}
	}
	gone := map[int]bool{}
	for i, c := range list {
		if c.stays() {
			continue
		}
		key, at := folded(c.text()), index.holder(c.text())
		switch {
		case seen[key]:
			gone[i] = true
		case at < 0:
		case c.it.kind == kindRule && isRequest(list[at]):
			rest, ok := list[at].without(c.it)
			switch {
			case ok:
				list[at] = rest
			case list[at].stays():
				gone[i] = true
			default:
				gone[at] = true
			}
		default:
			gone[i] = true
		}
		seen[key] = true
	}
	kept := list[:0]
	for i, c := range list {
		if !gone[i] {
			kept = append(kept, c)
		}
	}
	return kept
}

// stays says whether a line is never left out.
func (c chosen) stays() bool { return c.goal || c.it.kind == kindRequest && c.it.last }

// without returns a request without a rule in it. It returns false if too little is left.
func (c chosen) without(rule *item) (chosen, bool) {
	whole := c.text()
	rest := withoutRules(whole, []*item{rule})
	var cues cueReader
	if rest == whole || contentOf(rest) < goalWords || addsToATask(rest) || cues.ordersIn(whole) && !cues.ordersIn(rest) {
		return c, false
	}
	it := *c.it
	it.text, it.key = rest, ""
	c.it = &it
	return c, true
}

// unsaid returns quotes without those that stand within statements or within other quotes.
func unsaid(picks []evidence.Pick, list []chosen) []evidence.Pick {
	index := newLineIndex()
	for _, c := range list {
		index.add(c.text())
	}
	statements := index.whole
	index.whole = map[string]int{}
	for _, p := range picks {
		if !p.Alone {
			index.add(p.Text)
		}
	}
	return slices.DeleteFunc(slices.Clone(picks), func(p evidence.Pick) bool {
		return !p.Alone && (index.holder(p.Text) >= 0 || statements[folded(p.Text)] > 0)
	})
}
