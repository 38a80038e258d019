package recall

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MaxCountedMatches is the most matches of a message that are counted.
const MaxCountedMatches = 1000

// Query is what a search looks for in messages.
type Query struct {
	words   []*foldedWord
	pattern *Pattern
}

// Words returns a query for messages that contain all of these words, in upper or lower case.
func Words(words []string) *Query {
	q := &Query{}
	for _, word := range words {
		q.words = append(q.words, newFoldedWord(word))
	}
	return q
}

// Matching returns a query for messages where a line of a part, or of a piece of a result, matches.
func Matching(p *Pattern) *Query { return &Query{pattern: p} }

// span is a range of a text, from a byte to the one after its last.
type span struct{ start, end int }

// Find returns the first match in a message, with up to snippetChars characters of the text around it; nil where there
// is none. It looks at each byte at most twice for a word, or once for a pattern. It returns the context's error. The
// caller sets the state and the edits in force, which depend on the session.
func (q *Query) Find(
	ctx context.Context, l *compactordv1.LoggedMessage, snippetChars int, work *Work,
) (*compactordv1.SearchHit, error) {
	hit, _, err := q.findFrom(ctx, l, nil, snippetChars, work)
	return hit, err
}

// findFrom is Find from a place in the message on; nil is its beginning. Where the time is over before there is a match,
// it returns where to go on, and no error; after one, it counts no further matches.
func (q *Query) findFrom(
	ctx context.Context, l *compactordv1.LoggedMessage, from *place, snippetChars int, work *Work,
) (*compactordv1.SearchHit, *place, error) {
	places := searched(l)
	if from != nil && !from.within(places, q.pattern) {
		return nil, nil, ErrPageToken
	}
	if all, err := q.holdsAllWords(ctx, places, work); !all {
		return nil, nil, err
	}
	var hit *compactordv1.SearchHit
	matches := 0
	for i := range places {
		p := &places[i]
		if from != nil && i < from.text {
			continue
		}
		first, count, stopped, err := q.inText(ctx, p.text, from.in(i), MaxCountedMatches-matches, work)
		over := errors.Is(err, errOver)
		if err != nil && !over {
			return nil, nil, err
		}
		if over && count == 0 && hit == nil {
			stopped.text = i
			return nil, stopped, nil
		}
		if count > 0 && hit == nil {
			hit = p.hit(l, first, snippetChars)
		}
		matches += count
		if over {
			break
		}
	}
	if hit != nil {
		hit.Matches = uint32(matches)
	}
	return hit, nil, nil
}

// inText returns the first match in a text, and the number of matches, at most most. With errOver it returns what it has
// found so far, and where to go on.
func (q *Query) inText(
	ctx context.Context, text string, from *place, most int, work *Work,
) (first span, count int, stopped *place, err error) {
	if q.pattern != nil {
		return q.linesInText(ctx, text, from, most, work)
	}
	first, count, err = q.wordsInText(ctx, text, most, work)
	return first, count, nil, err
}

func (q *Query) holdsAllWords(ctx context.Context, places []searchedPlace, work *Work) (bool, error) {
	for _, w := range q.words {
		found := false
		for i := 0; i < len(places) && !found; i++ {
			var err error
			if _, found, err = w.find(ctx, places[i].text, 0, work); err != nil {
				return false, err
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// linesInText is inText for a pattern: it counts the lines that match.
func (q *Query) linesInText(
	ctx context.Context, text string, from *place, most int, work *Work,
) (first span, count int, stopped *place, err error) {
	start, within := 0, (*paused)(nil)
	if from != nil {
		start, within = from.line, from.paused
	}
	for start < len(text) && count < most {
		end := lineEnd(text, start)
		at, found, rest, err := q.pattern.find(ctx, withoutEnd(text[start:end]), within, work)
		if err != nil {
			return first, count, &place{line: start, paused: rest}, err
		}
		if found && count == 0 {
			first = span{start + at.start, start + at.end}
		}
		if found {
			count++
		}
		start, within = end, nil
	}
	return first, count, nil, nil
}

// wordsInText returns the first occurrence of any of the words in a text, and the number of occurrences, at most most.
func (q *Query) wordsInText(ctx context.Context, text string, most int, work *Work) (first span, count int, err error) {
	for _, w := range q.words {
		for from := 0; most > 0; {
			at, found, err := w.find(ctx, text, from, work)
			if err != nil {
				return span{}, 0, err
			}
			if !found {
				break
			}
			if count == 0 || at.start < first.start {
				first = at
			}
			if count = min(count+1, most); count == most {
				break
			}
			from = at.end
		}
	}
	return first, count, nil
}

// searchedPlace is a text of a message and its place there.
type searchedPlace struct {
	content *Content
	text    string
	// name reports that the text is the name of a tool or a medium, and not the content.
	name bool
}

// searched returns all texts of a message in order.
func searched(l *compactordv1.LoggedMessage) []searchedPlace {
	var places []searchedPlace
	add := func(c *Content) {
		if c.Kind == compactordv1.ContentKind_CONTENT_KIND_ARGUMENTS {
			places = append(places, searchedPlace{content: c, text: c.Tool, name: true})
		}
		if c.Name != "" {
			places = append(places, searchedPlace{content: c, text: c.Name, name: true})
		}
		if c.Text != "" {
			places = append(places, searchedPlace{content: c, text: c.Text})
		}
	}
	for i, p := range l.GetMessage().GetParts() {
		part := uint32(i)
		r := p.GetToolResult()
		if r == nil {
			c := contentOfPart(p)
			c.Part = &part
			add(c)
			continue
		}
		for j, rp := range r.GetParts() {
			piece := uint32(j)
			c := contentOfPiece(rp)
			c.Part, c.ResultPart, c.Tool = &part, &piece, resultTool(l, r)
			add(c)
		}
	}
	return places
}

func (p *searchedPlace) hit(l *compactordv1.LoggedMessage, at span, snippetChars int) *compactordv1.SearchHit {
	h := &compactordv1.SearchHit{
		Index: l.GetIndex(), Part: *p.content.Part, ResultPart: p.content.ResultPart, Kind: p.content.Kind,
		Role: l.GetMessage().GetRole(), Tool: p.content.Tool,
	}
	cut := around(p.text, at, snippetChars)
	h.Snippet = strings.Clone(p.text[cut.start:cut.end])
	h.MatchStart, h.MatchEnd = uint32(at.start-cut.start), uint32(min(at.end, cut.end)-cut.start)
	if !p.name {
		h.Offset, h.Line = uint32(at.start), LineOf(p.text, at.start)
	}
	return h
}

// around returns the range of a text around a match, with this many characters in total. It has as many before the
// match as after it, or more on one side where the other is too short. Of a longer match it is the beginning.
func around(text string, match span, characters int) span {
	cut := span{match.start, match.start}
	left := characters
	for left > 0 && cut.end < match.end {
		cut.end, left = forward(text, cut.end), left-1
	}
	for grown := true; left > 0 && grown; {
		grown = false
		if cut.start > 0 {
			cut.start, left, grown = back(text, cut.start, 1), left-1, true
		}
		if left > 0 && cut.end < len(text) {
			cut.end, left, grown = forward(text, cut.end), left-1, true
		}
	}
	return cut
}

func forward(text string, at int) int {
	_, width := utf8.DecodeRuneInString(text[at:])
	return at + width
}
