package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// The remarks on a statement: that it replaces an earlier one, and that a later one corrects a part of it.
const (
	replacing   = " (replaces "
	correctedIn = " (corrected in "
	// changedSince is how summaries by earlier versions say that a statement replaces another one.
	changedSince = " (changed since "
)

// remarks say which message said it otherwise before, and which one corrects it.
func (it *item) remarks() string {
	text := ""
	if it.changed {
		text = replacing + strings.TrimSpace(citation([]uint32{it.changes})) + ")"
	}
	if len(it.corrections) > 0 {
		text += correctedIn + strings.TrimSpace(citation(it.corrections)) + ")"
	}
	return text
}

// leaveCorrections leaves corrections to the rules that were taken out of a statement, unless it has the corrected
// value, too.
func (it *item) leaveCorrections(rules []*item) {
	if len(it.corrections) == 0 {
		return
	}
	left := valuesIn(clip(it.text, longestContent))
	it.corrections = slices.DeleteFunc(slices.Clone(it.corrections), func(index uint32) bool {
		return slices.ContainsFunc(rules, func(rule *item) bool {
			return slices.Contains(rule.corrections, index) && !slices.ContainsFunc(rule.read().values, func(v value) bool {
				return slices.ContainsFunc(left, v.same)
			})
		})
	})
}

// readRemarks reads the remarks at the end of a text, and returns the text without them.
func (it *item) readRemarks(text string) string {
	text, it.corrections = readRemark(text, correctedIn)
	for _, opening := range []string{replacing, changedSince} {
		if rest, cites := readRemark(text, opening); len(cites) == 1 {
			it.changes, it.changed = cites[0], true
			return rest
		}
	}
	return text
}

// readRemark splits the remark off the end of a text that begins with these words.
func readRemark(text, opening string) (rest string, cites []uint32) {
	at := strings.LastIndex(text, opening)
	if at < 0 {
		return text, nil
	}
	cites, length := summarizers.CitationAt(text[at+len(opening):])
	if len(cites) == 0 || text[at+len(opening)+length:] != ")" {
		return text, nil
	}
	return text[:at], cites
}
