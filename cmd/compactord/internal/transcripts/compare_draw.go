package transcripts

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// fewPresets is up to how many presets the curves are as high as that of `view`.
const fewPresets = 3

// draw draws what the tables say, in the bars and the curve of `view`: what the view after the one compaction is spent on, and
// how large the requests of the replay are.
func (c *comparison) draw(w io.Writer, paint painter, columns int) {
	c.drawBars(w, paint, columns)
	c.drawCurves(w, paint, columns)
}

func (c *comparison) drawBars(w io.Writer, paint painter, columns int) {
	most, names := uint32(0), 0
	for _, r := range c.results {
		if r.once != nil {
			most, names = max(most, r.once.after), max(names, len(r.preset))
		}
	}
	width := min(cmp.Or(columns, usualColumns)-labelColumns-names, mostColumns)
	if most == 0 || width < 2 {
		return
	}
	fmt.Fprint(w, "\nThe view after the one compaction:\n\n")
	var kindsShown [kinds]bool
	for _, r := range c.results {
		if r.once == nil {
			continue
		}
		for kind, s := range r.once.inView {
			kindsShown[kind] = kindsShown[kind] || s.Tokens > 0
		}
		fmt.Fprintf(w, "  %-*s %s %12s\n", names, r.preset, paint.stack(r.once.inView, most, width), terminal.Number(r.once.after))
	}
	var keys []string
	for kind, s := range c.firstOnce().inView {
		if kindsShown[kind] {
			keys = append(keys, paint.cells(kind, 1)+" "+s.label)
		}
	}
	fmt.Fprintf(w, "\n  %s\n", strings.Join(keys, "  "))
}

// firstOnce returns the figures of the first preset that has some; there is one.
func (c *comparison) firstOnce() *onceFigures {
	for _, r := range c.results {
		if r.once != nil {
			return r.once
		}
	}
	return &onceFigures{}
}

// stack draws the kinds of a view one after the other, as shares of a whole.
func (p painter) stack(shares [kinds]share, whole uint32, width int) string {
	var bar strings.Builder
	tokens, drawn := uint64(0), 0
	for kind, s := range shares {
		tokens += uint64(s.Tokens)
		// The end of a kind is rounded, and not its width, so that the bar is as long as the view is large.
		end := min(int((tokens*uint64(width)+uint64(whole)/2)/uint64(whole)), width)
		bar.WriteString(p.cells(kind, end-drawn))
		drawn = end
	}
	return bar.String() + strings.Repeat(" ", width-drawn)
}

// cells draws a part of such a bar: in the colour of its kind, or with its number.
func (p painter) cells(kind, width int) string {
	switch {
	case width == 0:
		return ""
	case !p.terminal:
		return strings.Repeat(string(rune('1'+kind)), width)
	default:
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colours[kind], strings.Repeat("█", width))
	}
}

func (c *comparison) drawCurves(w io.Writer, paint painter, columns int) {
	rows := curveRows
	if len(c.results) > fewPresets {
		rows = lowRows
	}
	for _, r := range c.results {
		if r.replay == nil {
			continue
		}
		report := &compactordv1.ContextReport{ContextWindow: proto.Uint32(*c.limits.ContextWindow), TriggerTokens: r.replay.TriggerTokens}
		lines := r.requests.rows(report, paint, columns, rows)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\nThe requests under %s:\n\n%s\n", r.preset, strings.Join(lines, "\n"))
	}
}
