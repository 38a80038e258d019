package session

import (
	"context"
	"regexp"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What a block and the number of a matching line take in an answer, beside the text.
const (
	blockBytes        = 16
	matchingLineBytes = 5
)

// Matches are the lines of a content that match an expression, with lines around them.
type Matches struct {
	Blocks []*compactordv1.LineBlock
	// Start and End are the first byte of the first block, and the one behind the last.
	Start, End int
	// NextLine is the line to go on from where the limit ended the search; else 0.
	NextLine uint32
}

// MatchLines searches the lines of a text from line first on (counted from 1), each without its line end, and takes so
// many lines before and behind each match, up to limit bytes. It returns ErrBeyondEnd, and the context's error.
func MatchLines(
	ctx context.Context, text string, re *regexp.Regexp, first, around uint32, limit int,
) (*Matches, error) {
	start, ok := lineStart(text, first)
	if !ok {
		return nil, ErrBeyondEnd
	}
	m := matching{text: text, around: around, left: limit}
	next := uint32(0)
	for line := first; start < len(text); line++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		end := lineEnd(text, start)
		if re.MatchString(withoutEnd(text[start:end])) {
			if next = m.take(line, start, end); next > 0 {
				break
			}
		}
		start = end
	}
	return m.found(start, next), nil
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// matching is a search on its way.
type matching struct {
	text   string
	around uint32
	left   int
	blocks []lineRun
}

// lineRun is lines that follow one another: text[from:to], the first of which has number first.
type lineRun struct {
	from, to int
	first    uint32
	matching []uint32
}

// take adds a matching line with those around it. It returns the line to go on from where the limit is reached; else 0.
func (m *matching) take(line uint32, start, end int) uint32 {
	if len(m.blocks) == 0 {
		return m.begin(line, start, end)
	}
	run, joins := m.surrounded(line, start, end, m.around)
	last := &m.blocks[len(m.blocks)-1]
	if joins {
		if cost := max(run.to-last.to, 0) + matchingLineBytes; cost <= m.left {
			m.left -= cost
			last.to, last.matching = max(last.to, run.to), append(last.matching, line)
			return 0
		}
		// What is left out must not be shown as a line that does not match.
		last.to = min(last.to, start)
		return line
	}
	if cost := run.cost(); cost <= m.left {
		m.left -= cost
		m.blocks = append(m.blocks, run)
		return 0
	}
	return line
}

// begin takes the first match, with fewer lines around it where they do not fit, and cut where it does not fit itself.
func (m *matching) begin(line uint32, start, end int) uint32 {
	for around := m.around; ; around-- {
		run, _ := m.surrounded(line, start, end, around)
		if run.cost() <= m.left {
			m.left -= run.cost()
			m.blocks = append(m.blocks, run)
			return 0
		}
		if around == 0 {
			break
		}
	}
	if whole := end - start; whole > m.left {
		m.blocks = []lineRun{{
			from: start, to: wholeCharacters(m.text, start, start+m.left), first: line, matching: []uint32{line},
		}}
	} else {
		m.blocks = []lineRun{{from: start, to: end, first: line, matching: []uint32{line}}}
	}
	m.left = 0
	if end == len(m.text) {
		return 0
	}
	return line + 1
}

func (r *lineRun) cost() int { return r.to - r.from + blockBytes + matchingLineBytes*len(r.matching) }

// surrounded is a matching line with so many lines around it. joins says that it overlaps with the last block, or
// follows it; it then begins where that ends.
func (m *matching) surrounded(line uint32, start, end int, around uint32) (run lineRun, joins bool) {
	shown := 0
	if n := len(m.blocks); n > 0 {
		shown = m.blocks[n-1].to
	}
	run = lineRun{from: start, to: end, first: line, matching: []uint32{line}}
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
	return run, len(m.blocks) > 0 && run.from <= shown
}

// found closes the search at a byte.
func (m *matching) found(at int, next uint32) *Matches {
	f := &Matches{Start: at, End: at, NextLine: next}
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
