package extractive

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// fill fills the room that statements and quotes leave of the budget with further lines about the names that are quoted, as
// far as no kept message shows them.
func (w *fitting) fill(pieces []string, list []chosen, quotes []evidence.Pick, where []string, ranked *quoteList) []string {
	budget, tokens := quotedBudget(w.req), w.count(pieces)
	if ranked.further == nil || 50*tokens >= 49*budget {
		return pieces
	}
	ranked.further()
	seen := shownLines{}
	for _, c := range list {
		seen.add(c.text())
	}
	for _, p := range quotes {
		seen.add(p.Text)
	}
	kept := quotableLines(w.req.Kept)
	unseen := (&quoteList{next: ranked.next}).without(func(p evidence.Pick) bool {
		again := kept[p.Text] || seen.repeats(p.Text)
		if !again {
			seen.add(p.Text)
		}
		return again
	})
	further := newSources(w.req).withoutSecrets(unseen, 8*w.budget)
	with := func(k int) []string {
		both, _ := w.render(list, slices.Concat(quotes, further.first(k)), where)
		return both
	}
	perByte := float64(tokens) / float64(len(strings.Join(pieces, "")))
	if k := mostThatFit(further, budget, tokens, perByte, func(k int) int64 { return w.count(with(k)) }); k > 0 {
		return with(k)
	}
	return pieces
}

// shownLines are lines that a summary shows, by their first word, without the signs of lists and diffs before them.
type shownLines map[string][]string

func (s shownLines) add(line string) {
	line = withoutSigns(line)
	if word, _, several := strings.Cut(line, " "); several {
		s[word] = append(s[word], line)
	}
}

// repeats says whether a line says nothing new: it has less than three words, or one of the shown lines stands within it.
func (s shownLines) repeats(line string) bool {
	line = withoutSigns(line)
	if strings.Count(line, " ") < 2 {
		return true
	}
	for rest, more := line, true; more; _, rest, more = strings.Cut(rest, " ") {
		word, _, _ := strings.Cut(rest, " ")
		if slices.ContainsFunc(s[word], func(shown string) bool { return strings.HasPrefix(rest, shown) }) {
			return true
		}
	}
	return false
}

func withoutSigns(line string) string { return strings.TrimLeft(folded(line), "+-*>#| ") }

// quotableLines returns the lines of messages that could be quoted. Faults in reading them were noted before.
func quotableLines(messages []*compactordv1.LoggedMessage) map[string]bool {
	lines, g := map[string]bool{}, &guard{}
	for _, m := range messages {
		g.try(summarizers.StageKept, m.GetIndex(), func() {
			quotable(m, asItIs, func(p evidence.Piece) {
				for line := range evidence.Lines(p.Text) {
					lines[line] = true
				}
			})
		})
	}
	return lines
}
