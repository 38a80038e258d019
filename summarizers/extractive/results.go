package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A tool has a line if it returned at least fewestResults results. At most mostTools tools have one.
const (
	fewestResults = 5
	mostTools     = 4
	maxTools      = 200
)

// results says where the results of a tool are, which a recall can open.
type results struct {
	tool        string
	count       int
	first, last uint32
}

// returned counts results of a tool.
func (l *ledger) returned(r results) {
	known := l.results[r.tool]
	switch {
	case known == nil && len(l.results) >= maxTools || r.tool == "" || strings.Contains(r.tool, "`") || r.tool != oneLine(r.tool):
	case known == nil:
		l.results[r.tool] = &r
	default:
		known.count += r.count
		known.first, known.last = min(known.first, r.first), max(known.last, r.last)
	}
}

const resultsOf = " results of "

// resultLines says how many results the tools returned that were called most, and in which messages.
func (l *ledger) resultLines() []string {
	var all []*results
	for _, r := range l.results {
		if r.count >= fewestResults {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *results) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.tool, b.tool)) })
	all = all[:min(len(all), mostTools)]
	slices.SortFunc(all, func(a, b *results) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.tool, b.tool)) })
	lines := make([]string, 0, len(all))
	for _, r := range all {
		lines = append(lines, fmt.Sprintf("- %s %d%s`%s`", span(r.first, r.last), r.count, resultsOf, r.tool))
	}
	return lines
}

// resultsIn reads what follows the citation in such a line.
func resultsIn(text string) (tool string, count int, ok bool) {
	number, quoted, ok := strings.Cut(text, resultsOf+"`")
	count, err := strconv.Atoi(number)
	tool, closed := strings.CutSuffix(quoted, "`")
	return tool, count, ok && closed && err == nil && count > 0 && count < 1<<30 && !strings.Contains(tool, "`")
}
