package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// Lines that begin with the same label, as in `RULE: …`, stand below it, so that each of them costs less of the budget.
// A previous summary is read in the same way: an item without a citation that ends in a colon begins the ones below it.

// leastSaved is how many bytes a label at the head of its lines saves at least: it takes a line of its own.
const leastSaved = 4

// belowLabel begins a line below a label. What it has more than another line is as long as what it leaves out behind the
// label.
const belowLabel = "  - "

// grouped returns the lines of items in a section for a kind, those with the same label below the first one's label.
func (ly *layout) grouped(list []chosen, holds kind) (lines []string) {
	groups := map[string][]chosen{}
	for _, c := range list {
		if label := ly.ownLabel(c, holds); label != "" {
			groups[label] = append(groups[label], c)
		}
	}
	for _, c := range list {
		label := ly.ownLabel(c, holds)
		group := groups[label]
		if (len(group)-1)*len(label)-len("- :\n") < leastSaved || ofOneMessage(group) {
			lines = append(lines, ly.line(c, holds))
			continue
		}
		if group[0].it != c.it {
			continue
		}
		lines = append(lines, "- "+label+":")
		for _, c := range group {
			lines = append(lines, ly.lineBelow(c, holds, label))
		}
	}
	return lines
}

// ofOneMessage reports whether all statements stand in the same message: a label in capitals is the heading of a list there,
// which the goal may show, too.
func ofOneMessage(group []chosen) bool {
	return !slices.ContainsFunc(group, func(c chosen) bool { return !slices.Equal(c.it.cites, group[0].it.cites) })
}

// ownLabel returns the label that a statement begins with, or "" if its line cannot stand below it. Lines about work begin
// with words of ours.
func (ly *layout) ownLabel(c chosen, holds kind) string {
	if c.it.kind != kindRule && c.it.kind != kindRequest && c.it.kind != kindFact {
		return ""
	}
	if before, _ := ly.around(c, holds); before != "- " || c.it.noise || c.it.heard != nil {
		return ""
	}
	text := c.text()
	label, _, _ := strings.Cut(text, ": ")
	// Other labels name who speaks, or are a part of the sentence.
	if known, _ := labelled(text); known == "" || label != strings.ToUpper(label) || strings.Contains(text, lineBreak) || quotation.Defuse(text) != text || opensStructure(label+":", holds) || opensStructure(label+": ", holds) {
		return ""
	}
	return label
}

// lineBelow returns the line of an item below its label.
func (ly *layout) lineBelow(c chosen, holds kind, label string) string {
	_, after := ly.around(c, holds)
	return belowLabel + escape(strings.TrimPrefix(c.text(), label+": "), holds, false) + after
}
