package grounding

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// Mark stands after a name that the source does not have. Where it cannot stand directly after the name, it lists the
// names that it means: ` (not in the conversation: NAME, NAME)`.
const Mark = " " + opening + ")"

const opening = "(not in the conversation"

// anyMark matches both forms of a mark. The one with names may be a line of its own.
var anyMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\n[ \t>]*| )\(not in the conversation: [^()\n]*\)| \(not in the conversation\)`)
})

func withoutMarks(summary string) string { return anyMark().ReplaceAllLiteralString(summary, "") }

// place is where the mark of a name stands.
type place struct {
	at int
	// direct says that the mark stands directly after the name.
	direct bool
	// before is what a mark begins with that is a line of its own; empty where it is none.
	before string
}

// placeOf returns the place for the mark of a name from start to end: after the word or the whole that the name is in.
func placeOf(text string, start, end int, wholes []whole) place {
	p := place{at: endOfRun(text, end)}
	w, within := around(wholes, p.at-1)
	if !within {
		p.direct = p.at == end
		return p
	}
	p.at = w.end
	if w.block {
		p.before = "\n" + w.indent
	} else {
		p.direct = w.isOnly(text, start, end)
	}
	return p
}

// endOfRun returns the end of the signs that a word or a path goes on with, such as the rest of `name.other` or of
// `name(argument)`.
func endOfRun(text string, at int) int {
	end := at
	for end < len(text) {
		size := wordSize(text[end:])
		if size == 0 && strings.IndexByte("-./@+~", text[end]) < 0 {
			break
		}
		end += max(size, 1)
		if size > 0 {
			at = end
		}
	}
	line, _, _ := strings.Cut(text[at:min(len(text), at+maxInline)], "\n")
	if strings.HasPrefix(line, "(") {
		at += closedBy(line, '(', ')')
	}
	return at
}

// Marked returns the summary with marks of the names that the source does not have, at their first mention and of at most
// so many. A quotation within a heading, a link or code is not marked.
func (c *Checker) Marked(most int) string {
	unsupported := c.unsupported()
	unsupported = slices.Clone(unsupported[:min(most, len(unsupported))])
	slices.SortStableFunc(unsupported, func(a, b lookup) int { return a.place.at - b.place.at })
	var b strings.Builder
	at := 0
	for len(unsupported) > 0 {
		p := unsupported[0].place
		n := 1
		for n < len(unsupported) && unsupported[n].place.at == p.at {
			n++
		}
		b.WriteString(c.text[at:p.at] + markOf(unsupported[:n]))
		at, unsupported = p.at, unsupported[n:]
	}
	return b.String() + c.text[at:]
}

// markOf returns the mark of the names that have one place.
func markOf(names []lookup) string {
	p := names[0].place
	if len(names) == 1 && p.direct {
		return Mark
	}
	var listed []string
	for _, n := range names {
		if n.name.Kind != evidence.Quotation {
			listed = append(listed, n.name.Text)
		}
	}
	if len(listed) == 0 {
		return ""
	}
	return cmp.Or(p.before, " ") + opening + ": " + strings.Join(listed, ", ") + ")"
}

// WithoutMarked returns a summary without the names that are marked in it, so that it can be read as a source.
func WithoutMarked(summary string) string {
	if !strings.Contains(summary, opening) {
		return summary
	}
	marked := markedIn(summary)
	var b strings.Builder
	rest := 0
	evidence.Names(summary, func(n evidence.Name, at int) {
		if marked[n] && at >= rest {
			b.WriteString(summary[rest:at])
			rest = at + len(n.Text)
		}
	})
	return withoutMarks(b.String() + summary[rest:])
}

// markedIn returns the names that have a mark in a summary.
func markedIn(summary string) map[evidence.Name]bool {
	marked := map[evidence.Name]bool{}
	for _, mark := range anyMark().FindAllString(summary, -1) {
		_, names, _ := strings.Cut(mark, ": ")
		evidence.Names(names, func(n evidence.Name, _ int) { marked[n] = true })
	}
	wholes := wholesOf(summary)
	evidence.Names(summary, func(n evidence.Name, at int) {
		p := placeOf(summary, at, endOf(n, summary, at), wholes)
		if p.direct && strings.HasPrefix(summary[p.at:], Mark) {
			marked[n] = true
		}
	})
	return marked
}
