package secrets

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Secret is a part of a text that must be replaced.
type Secret struct {
	Start, End int
	// Value is the secret without escapes and blanks, which is the same in every notation.
	Value string
	// Rule is the ID of the rule that found it.
	Rule string
}

// PlaceholderStart begins a placeholder: `[REDACTED:RULE:hhhh]`.
const PlaceholderStart = "[REDACTED:"

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[REDACTED:([a-z0-9-]{1,64}):[0-9a-f]{4}\]`)
})

// Find returns the secrets of a text, in order. They overlap neither each other nor a placeholder. If the context ends,
// some may be missing.
func Find(ctx context.Context, text string) []Secret { return loaded().find(ctx, text) }

func (s *ruleset) find(ctx context.Context, text string) []Secret {
	bare := unescaped(text)
	spans := s.scan(ctx, bare.text)
	for i := range spans {
		spans[i].start, spans[i].end = bare.original(spans[i].start, spans[i].end)
	}
	spans = s.outside(spans, s.placeholders(text))
	if len(spans) == 0 {
		return nil
	}
	s.sort(spans)
	found := s.join(text, spans, nil)
	names := s.names(found)
	// Now again, with all places of the secrets that were found.
	for _, places := range everywhere(text, bare, names) {
		spans = s.merged(spans, places)
	}
	found = s.join(text, s.outside(spans, s.placeholders(text)), found)
	for i := range found {
		if name, ok := names[found[i].Value]; ok {
			found[i].Rule = s.rules[name].ID
		}
	}
	return found
}

// placeholders returns the ranges of the text's placeholders. Text that only looks like one does not count.
func (s *ruleset) placeholders(text string) [][2]int {
	if !strings.Contains(text, PlaceholderStart) {
		return nil
	}
	var at [][2]int
	for _, m := range placeholder().FindAllStringSubmatchIndex(text, -1) {
		if s.ids[text[m[2]:m[3]]] {
			at = append(at, [2]int{m[0], m[1]})
		}
	}
	return at
}

// outside drops the spans that touch placeholders. Such a span was redacted before, so its secret is gone. Only the
// rest of a private key is still secret.
func (s *ruleset) outside(spans []span, taken [][2]int) []span {
	if len(taken) == 0 {
		return spans
	}
	var kept []span
	for _, f := range spans {
		first, _ := slices.BinarySearchFunc(taken, f.start, func(t [2]int, start int) int { return cmp.Compare(t[1], start+1) })
		at := f.start
		for _, t := range taken[first:] {
			if t[0] >= f.end {
				break
			}
			if t[0] > at && s.rules[f.rule].wide {
				kept = append(kept, span{at, t[0], f.rule})
			}
			at = t[1]
		}
		if at == f.start || at < f.end && s.rules[f.rule].wide {
			kept = append(kept, span{at, f.end, f.rule})
		}
	}
	return kept
}

// compare orders spans by their places, and those of one place by what names a secret better.
func (s *ruleset) compare(a, b span) int {
	switch {
	case a.start != b.start:
		return a.start - b.start
	case a.end != b.end:
		return b.end - a.end
	}
	return cmp.Or(cmp.Compare(s.rules[a.rule].rank, s.rules[b.rule].rank), cmp.Compare(a.rule, b.rule))
}

func (s *ruleset) sort(spans []span) { slices.SortFunc(spans, s.compare) }

// merged returns the spans of two lists in order, in order.
func (s *ruleset) merged(a, b []span) []span {
	all := make([]span, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if s.compare(a[0], b[0]) <= 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// join merges overlapping spans in order into one secret, so that no half of one remains. The longest span gives the
// name. known are secrets that were joined before, in order.
func (s *ruleset) join(text string, spans []span, known []Secret) []Secret {
	var found []Secret
	longest := 0
	for _, f := range spans {
		last := len(found) - 1
		if last < 0 || f.start >= found[last].End {
			found = append(found, Secret{Start: f.start, End: f.end, Rule: s.rules[f.rule].ID})
			longest = f.end - f.start
			continue
		}
		found[last].End = max(found[last].End, f.end)
		if f.end-f.start > longest {
			longest, found[last].Rule = f.end-f.start, s.rules[f.rule].ID
		}
	}
	for i := range found {
		for len(known) > 0 && known[0].Start < found[i].Start {
			known = known[1:]
		}
		if len(known) > 0 && known[0].Start == found[i].Start && known[0].End == found[i].End {
			found[i].Value = known[0].Value
			continue
		}
		found[i].Value = valueOf(text[found[i].Start:found[i].End])
	}
	return found
}

// valueOf returns a secret without escapes and blanks. Most have none.
func valueOf(text string) string {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= utf8.RuneSelf || c == '\\' || c == '%' {
			return strings.Join(strings.Fields(unescaped(text).text), "")
		}
	}
	return text
}

// names returns the best rule of each secret, so that a secret has one name wherever it was found.
func (s *ruleset) names(found []Secret) map[string]int {
	names := make(map[string]int)
	for _, f := range found {
		i := s.index[f.Rule]
		if known, ok := names[f.Value]; !ok || s.rules[i].rank < s.rules[known].rank ||
			s.rules[i].rank == s.rules[known].rank && i < known {
			names[f.Value] = i
		}
	}
	return names
}

// minEverywhere is how long a secret must be to be replaced at all its places. A shorter one may be a word.
const minEverywhere = 8

// everywhere returns all places of the secrets that do not look like words: in the text and without its escapes, each
// in order.
func everywhere(text string, bare *plain, names map[string]int) [][]span {
	values := make([]string, 0, len(names))
	for value := range names {
		if len(value) >= minEverywhere && len(value) <= maxValue && !wordlike(value) {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	known := newValues(values)
	rules := make([]int, len(values))
	for i, value := range known.sorted {
		rules[i] = names[value]
	}
	places := func(in *plain) (spans []span) {
		for at := 0; at+minEverywhere <= len(in.text); at++ {
			if i := known.at(in.text[at:]); i >= 0 {
				start, end := in.original(at, at+len(known.sorted[i]))
				spans = append(spans, span{start, end, rules[i]})
			}
		}
		return spans
	}
	found := [][]span{places(&plain{text: text})}
	if bare.from != nil {
		found = append(found, places(bare))
	}
	return found
}

// wordlike says whether a text may be a word or a name that occurs anywhere: letters with the usual case, joined or
// not.
func wordlike(text string) bool {
	upper := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c == '-', c == '_', c == '.':
		case c >= 'A' && c <= 'Z':
			upper++
		default:
			return false
		}
	}
	return upper <= 1 || strings.ToUpper(text) == text
}
