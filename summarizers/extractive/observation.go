package extractive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// The shares of the first lines and of error lines in a shortened result, in percent. The last lines get the rest,
// since commands report their outcome there.
const (
	headPercent  = 40
	errorPercent = 30
)

// blank replaces a result that is only white space.
const blank = "(only white space)"

const (
	// leftOutUnits is about the size of the mark for omitted lines.
	leftOutUnits = 32
	// fewUnits is the budget below which no lines are chosen.
	fewUnits = 160
	// maxErrorLines is how many lines of each score are kept as candidates.
	maxErrorLines = 64
)

// observe shortens a tool result: it keeps the first lines, the last ones, and lines between them that report errors.
// It ignores the guidelines, which are for models.
func observe(
	ctx context.Context, g *guard, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	budget := req.TextTokens()
	whole := req.Result.Text
	if req.Redact != nil {
		// A part of a secret is not recognized as one later.
		if whole = req.Redact(whole); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	// The checks do not count a byte order mark as text.
	if strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(whole), "\ufeff")) == "" {
		whole = blank
	}
	e := plainExcerpt(whole)
	g.try(summarizers.StageResult, req.Result.Index, func() { e = newExcerpt(whole) })
	// No byte has more than one unit, so a larger budget would not help.
	for unitBudget := min(4*int(budget), len(whole)); unitBudget > 0; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		text := ""
		if !g.try(summarizers.StageResult, req.Result.Index, func() { text = e.in(unitBudget) }) {
			e = plainExcerpt(whole)
			text = e.in(unitBudget)
		}
		text = summarizers.QuoteThinking(strings.TrimSpace(text))
		tokens := req.Count(text)
		if tokens <= budget && text != "" {
			progress.Text(text)
			return &summarizers.Summary{Text: text, Faults: g.faults}, nil
		}
		unitBudget = min(unitBudget*9/10, unitBudget*int(budget)/int(max(tokens, 1)))
	}
	return nil, doesNotFit(req)
}

// plainExcerpt returns an excerpt whose lines are not examined: only its head and its tail can be kept.
func plainExcerpt(text string) *excerpt { return &excerpt{text: text, lines: 1} }

// excerpt is a text from which lines are chosen.
type excerpt struct {
	text  string
	lines int
	// errors are the lines that report errors, the surest first, and otherwise in order.
	errors []numbered
}

// numbered is a line of a text with its number, from 0.
type numbered struct {
	at   int
	text string
}

func newExcerpt(text string) *excerpt {
	e := &excerpt{text: text}
	var byScore [5][]numbered
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		score, _ := errorScore(line)
		if score == 0 && complains(line) != "" {
			score = 3
		}
		if score > 0 && len(byScore[score]) < maxErrorLines {
			byScore[score] = append(byScore[score], numbered{e.lines, line})
		}
		e.lines++
	}
	for _, lines := range slices.Backward(byScore[:]) {
		e.errors = append(e.errors, lines...)
	}
	return e
}

// in returns an excerpt of at most budget units.
func (e *excerpt) in(budget int) string {
	switch {
	case units(e.text) <= budget:
		return e.text
	case budget < fewUnits || e.lines == 1:
		return shorten(e.text, budget)
	}
	budget -= 2 * leftOutUnits
	c := &choice{longest: max(budget/4, budget/e.lines), chosen: make(map[int]string)}
	c.head(e.text, budget*headPercent/100)
	c.errors(e.errors, budget*errorPercent/100)
	c.tail(e, budget)
	return c.text(e.lines)
}

// choice holds the chosen lines.
type choice struct {
	// longest is how many units of one line are kept.
	longest int
	chosen  map[int]string
	used    int
}

// take chooses a line if all chosen lines then have at most `most` units.
func (c *choice) take(at int, line string, most int) bool {
	if _, had := c.chosen[at]; had {
		return true
	}
	line = shorten(clip(line, 8*c.longest), c.longest)
	size := units(line) + 1
	if c.used+size > most {
		return false
	}
	c.chosen[at] = line
	c.used += size
	return true
}

// head chooses the first lines. It always chooses the very first.
func (c *choice) head(text string, most int) {
	at := 0
	for line := range strings.Lines(text) {
		if !c.take(at, strings.TrimRight(line, "\r\n"), max(most, c.longest+1)) {
			return
		}
		at++
	}
}

func (c *choice) errors(lines []numbered, budget int) {
	most := c.used + budget
	for _, l := range lines {
		// Each error line may need a mark beside it.
		if !c.take(l.at, l.text, most-leftOutUnits) {
			continue
		}
		c.used += leftOutUnits
	}
}

// tail chooses the last lines.
func (c *choice) tail(e *excerpt, most int) {
	rest := strings.TrimSuffix(e.text, "\n")
	for at := e.lines - 1; at >= 0; at-- {
		cut := strings.LastIndexByte(rest, '\n')
		if !c.take(at, strings.TrimRight(rest[cut+1:], "\r"), most) || cut < 0 {
			return
		}
		rest = rest[:cut]
	}
}

// text returns the chosen lines, with a mark where lines were left out. lines is the number of all lines.
func (c *choice) text(lines int) string {
	kept := make([]int, 0, len(c.chosen))
	for at := range c.chosen {
		kept = append(kept, at)
	}
	slices.Sort(kept)
	var b strings.Builder
	next := 0
	for _, at := range kept {
		leftOut(&b, at-next)
		b.WriteString(c.chosen[at] + "\n")
		next = at + 1
	}
	leftOut(&b, lines-next)
	return b.String()
}

func leftOut(b *strings.Builder, lines int) {
	if lines == 1 {
		b.WriteString("[... 1 line left out ...]\n")
	} else if lines > 1 {
		fmt.Fprintf(b, "[... %d lines left out ...]\n", lines)
	}
}
