package secrets

import "strings"

// printedQuotes are the quotes of books, by language: each opening one with those that may close it.
var printedQuotes = []struct {
	open   string
	closes []string
}{
	{"„", []string{"“", "”", "\""}},
	{"“", []string{"”", "“"}},
	{"”", []string{"”"}},
	{"‚", []string{"‘", "’"}},
	{"‘", []string{"’"}},
	{"«", []string{"»"}},
	{"»", []string{"«"}},
	{"‹", []string{"›"}},
	{"「", []string{"」"}},
	{"『", []string{"』"}},
	{"＂", []string{"＂"}},
}

// beginsPrinted are the first bytes of quotes that open.
var beginsPrinted = func() (set bytes) {
	for _, quote := range printedQuotes {
		set.add(quote.open[0])
	}
	return set
}()

// printedBytes is how long a text in quotes of books may be.
const printedBytes = 128

// printedValue reads a text in quotes of books, without the blanks that French has inside them.
func printedValue(text string, at int) (value, bool) {
	if !beginsPrinted.has(text[at]) {
		return value{}, false
	}
	for _, quote := range printedQuotes {
		if !strings.HasPrefix(text[at:], quote.open) {
			continue
		}
		start := at + len(quote.open)
		limit := text[start:min(start+printedBytes, len(text))]
		for _, mark := range quote.closes {
			inner, _, closed := strings.Cut(limit, mark)
			if !closed {
				continue
			}
			if trimmed := strings.Trim(inner, " \u00a0\u202f"); trimmed != "" && strings.IndexByte(inner, '\n') < 0 {
				start += strings.Index(inner, trimmed)
				return value{start, start + len(trimmed), true}, true
			}
		}
	}
	return value{}, false
}
