package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A tool or a folder has a line if there are at least fewestResults results of it. At most mostResultLines of each have one.
const (
	fewestResults   = 5
	mostResultLines = 4
	maxResults      = 200
)

// results says where the results of a tool, or of the files in a folder, are. A recall can open them.
type results struct {
	of          string
	count       int
	first, last uint32
}

// returned counts results of a tool.
func (l *ledger) returned(r results) { addResults(l.results, r) }

func addResults(all map[string]*results, r results) {
	known := all[r.of]
	switch {
	case known == nil && len(all) >= maxResults || r.of == "" || strings.Contains(r.of, "`") || r.of != oneLine(r.of):
	case known == nil:
		all[r.of] = &r
	default:
		known.count += r.count
		known.first, known.last = min(known.first, r.first), max(known.last, r.last)
	}
}

const resultsOf = " results of "

// resultLines says how many results the tools returned that were called most, and in which messages.
func (l *ledger) resultLines() []string {
	return linesOf(l.results, func(r *results) string { return resultsOf + "`" + r.of + "`" })
}

// linesOf returns a line about each of the most results.
func linesOf(all map[string]*results, of func(*results) string) []string {
	var most []*results
	for _, r := range all {
		if r.count >= fewestResults {
			most = append(most, r)
		}
	}
	slices.SortFunc(most, func(a, b *results) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.of, b.of)) })
	most = most[:min(len(most), mostResultLines)]
	slices.SortFunc(most, func(a, b *results) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.of, b.of)) })
	lines := make([]string, 0, len(most))
	for _, r := range most {
		lines = append(lines, fmt.Sprintf("- %s %d%s", span(r.first, r.last), r.count, of(r)))
	}
	return lines
}

// resultsIn reads what follows the citation in such a line: the results of a tool, or of the files in a folder.
func resultsIn(text string) (r results, inFolder, ok bool) {
	number, quoted, ok := strings.Cut(text, resultsOf)
	count, err := strconv.Atoi(number)
	if !ok || err != nil || count < 1 || count >= 1<<30 {
		return results{}, false, false
	}
	quoted, inFolder = strings.CutPrefix(quoted, filesIn)
	of, opened := strings.CutPrefix(quoted, "`")
	of, closed := strings.CutSuffix(of, "`")
	return results{of: of, count: count}, inFolder, opened && closed && !strings.Contains(of, "`")
}
