package extractive

import (
	"iter"
	"slices"
	"strings"
)

// maxKeyedLines is how many lines of a message are read as statements with labels.
const maxKeyedLines = 64

// keyedLines are the statements with labels among the lines of a longer message.
func (l *ledger) keyedLines(it *item) iter.Seq[valued] {
	return func(yield func(valued) bool) {
		said := l.authors.unsigned(ownWords(it.text))
		if !strings.Contains(said, lineBreak) {
			return
		}
		read := 0
		for line := range strings.SplitSeq(said, lineBreak) {
			if read++; read > maxKeyedLines {
				return
			}
			body, _ := listItem(strings.TrimSpace(line))
			line = strings.ReplaceAll(body, "**", "")
			v, ok := valuedIn(it, line)
			if v.line = line; ok && !yield(v) {
				return
			}
		}
	}
}

// changeLines notes which lines of a message replace what was said before. Both messages stay, since the rest of them
// holds.
func (l *ledger) changeLines(it *item) {
	for now := range l.keyedLines(it) {
		old, found := l.takeSame(&now)
		if !found || old.line == now.line || len(old.it.cites) == 0 {
			continue
		}
		it.changed, it.changes = true, old.it.newest()
		l.correctLine(&old, it)
	}
}

// watchLines lets later statements replace lines of a message.
func (l *ledger) watchLines(it *item) {
	for v := range l.keyedLines(it) {
		l.watchValued(v)
	}
}

// correctLine notes in a message, and in the rule that one of its lines became, that a later message corrects it.
func (l *ledger) correctLine(old *valued, by *item) {
	index := by.newest()
	old.it.addCorrection(index)
	for _, o := range l.lists[kindRule] {
		if slices.Equal(o.cites, old.it.cites) && old.line != "" && strings.Contains(old.line, o.text) {
			o.addCorrection(index)
		}
	}
}
