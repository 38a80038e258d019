package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The bytes that a block and the number of a matching line count in an answer, besides the text.
const (
	blockBytes        = 16
	matchingLineBytes = 5
)

// LongLineError means that one call cannot match a line.
type LongLineError struct {
	line  uint32
	bytes int
}

func (e *LongLineError) Error() string {
	return fmt.Sprintf("line %d has %d bytes, which takes longer with this expression than a call may: use a smaller "+
		"expression, or SearchMessages, which goes on within lines", e.line, e.bytes)
}

// Matches are the lines of a content that match an expression, with lines around them.
type Matches struct {
	Blocks []*compactordv1.LineBlock
	// Start is the first byte of the first block, End the byte after the last block.
	Start, End int
	// More reports that the search ended before the end of the content, by the limit or the work of one call, or that
	// the last line was cut.
	More bool
	// NextLine is the line where a further search starts, if there is more; 0 where a line was cut.
	NextLine uint32
}

// MatchLines searches the lines of a text from line first on (counted from 1), each without its line end. It shows
// around lines before and after each match, up to limit bytes. It looks at no line more than once, and stops when no
// work is left. It returns ErrBeyondEnd, a LongLineError or the context's error.
func MatchLines(
	ctx context.Context, text string, p *Pattern, first, around uint32, limit int, work *Work,
) (*Matches, error) {
	start, ok := lineStart(text, first)
	if !ok {
		return nil, ErrBeyondEnd
	}
	m := matching{text: text, around: around, left: limit}
	from := start
	for line := first; start < len(text); line++ {
		if work.done() {
			return m.endAt(line, start), nil
		}
		end := lineEnd(text, start)
		_, matches, _, err := p.find(ctx, withoutEnd(text[start:end]), nil, work)
		if matches && len(m.blocks) == 0 {
			err = m.lookBack(ctx, p, work, line, first, from)
		}
		switch {
		case errors.Is(err, errOver) && line > first:
			return m.endAt(line, start), nil
		case errors.Is(err, errOver):
			return nil, &LongLineError{line, end - start}
		case err != nil:
			return nil, err
		}
		if matches && !m.add(line, start, end) {
			return m.found(start), nil
		}
		start = end
	}
	return m.found(start), nil
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// matching is the progress of a search.
type matching struct {
	text   string
	around uint32
	left   int
	blocks []lineRun
	// earlier are the matching lines before the first searched one that may be shown around the first match, ascending.
	// Nothing before the byte shownFrom is shown, since it is not known whether it matches.
	earlier   []uint32
	shownFrom int
	more      bool
	next      uint32
}

// lineRun is a range of consecutive lines: text[from:to], whose first line has number first.
type lineRun struct {
	from, to int
	first    uint32
	matching []uint32
}

// lookBack finds the matching lines before line first, which begins at from, that may be shown around the given line.
// Where the time is over, it looks at no more of them.
func (m *matching) lookBack(ctx context.Context, p *Pattern, work *Work, line, first uint32, from int) error {
	for n := first; n > 1 && line-(n-1) <= m.around; n-- {
		start := strings.LastIndexByte(m.text[:from-1], '\n') + 1
		_, matches, _, err := p.find(ctx, withoutEnd(m.text[start:from]), nil, work)
		if errors.Is(err, errOver) {
			m.shownFrom = from
			break
		}
		if err != nil {
			return err
		}
		if matches {
			m.earlier = append(m.earlier, n-1)
		}
		from = start
	}
	slices.Reverse(m.earlier)
	return nil
}

// add adds a matching line and the lines around it; false where that ends the search.
func (m *matching) add(line uint32, start, end int) bool {
	if len(m.blocks) == 0 {
		return m.begin(line, start, end)
	}
	run, joins := m.surrounded(line, start, end, m.around)
	cost := run.cost()
	last := &m.blocks[len(m.blocks)-1]
	if joins {
		cost = max(run.to-last.to, 0) + matchingLineBytes
	}
	if cost > m.left {
		m.endAt(line, start)
		return false
	}
	m.left -= cost
	if joins {
		last.to, last.matching = max(last.to, run.to), append(last.matching, line)
	} else {
		m.blocks = append(m.blocks, run)
	}
	return true
}

// endAt ends the search before a line that is not searched or does not fit. The line must not be shown as one without a
// match.
func (m *matching) endAt(line uint32, start int) *Matches {
	if n := len(m.blocks); n > 0 {
		m.blocks[n-1].to = min(m.blocks[n-1].to, start)
	}
	m.more, m.next = true, line
	return m.found(start)
}

// begin adds the first match. Where it does not fit, fewer lines are shown around it, and a line that alone is too long
// is cut.
func (m *matching) begin(line uint32, start, end int) bool {
	for around := m.around; ; around-- {
		run, _ := m.surrounded(line, start, end, around)
		if run.cost() <= m.left {
			m.left -= run.cost()
			m.blocks = append(m.blocks, run)
			return true
		}
		if around == 0 {
			break
		}
	}
	alone := lineRun{from: start, to: end, first: line, matching: []uint32{line}}
	if end-start > m.left {
		alone.to = wholeCharacters(m.text, start, start+m.left)
	}
	m.blocks, m.left = []lineRun{alone}, 0
	m.more = alone.to < len(m.text)
	if m.more && alone.to == end {
		m.next = line + 1
	}
	return false
}

func (r *lineRun) cost() int { return r.to - r.from + blockBytes + matchingLineBytes*len(r.matching) }

// surrounded returns a matching line with lines around it. joins reports that it overlaps or follows the last block; it
// then begins where that block ends.
func (m *matching) surrounded(line uint32, start, end int, around uint32) (run lineRun, joins bool) {
	shown := m.shownFrom
	if n := len(m.blocks); n > 0 {
		shown = m.blocks[n-1].to
	}
	run = lineRun{from: start, to: end, first: line}
	for range around {
		if run.from <= shown {
			break
		}
		run.from = strings.LastIndexByte(m.text[:run.from-1], '\n') + 1
		run.first--
	}
	for n := uint32(0); n < around && run.to < len(m.text) && run.to-run.from <= m.left; n++ {
		run.to = lineEnd(m.text, run.to)
	}
	for _, n := range m.earlier {
		if n >= run.first {
			run.matching = append(run.matching, n)
		}
	}
	run.matching = append(run.matching, line)
	return run, len(m.blocks) > 0 && run.from <= shown
}

// found returns the result of a search that has reached a byte.
func (m *matching) found(at int) *Matches {
	f := &Matches{Start: at, End: at, More: m.more, NextLine: m.next}
	if n := len(m.blocks); n > 0 {
		f.Start, f.End = m.blocks[0].from, m.blocks[n-1].to
	}
	for _, r := range m.blocks {
		f.Blocks = append(f.Blocks, &compactordv1.LineBlock{
			FirstLine: r.first, Text: m.text[r.from:r.to], MatchingLines: r.matching,
		})
	}
	return f
}
