package transcripts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// size is how many tokens the context had just after a sequence.
type size struct{ sequence, tokens uint32 }

// curve is how large the context was over the log, by the estimates that the log has: each message adds its tokens, a
// compaction or a prune leaves what its record says, and a revert goes back to what there was at its point.
type curve []size

// at returns the size at a point.
func (c curve) at(point uint32) uint32 {
	i, found := slices.BinarySearchFunc(c, point, func(s size, point uint32) int { return cmp.Compare(s.sequence, point) })
	switch {
	case found:
		return c[i].tokens
	case i == 0:
		return 0
	default:
		return c[i-1].tokens
	}
}

// newCurve draws the sizes of messages and records, both in the order of the log.
func newCurve(messages []size, records []*compactordv1.Record) curve {
	var c curve
	tokens := uint32(0)
	for len(messages) > 0 || len(records) > 0 {
		if len(records) == 0 || len(messages) > 0 && messages[0].sequence < records[0].GetSequence() {
			tokens += messages[0].tokens
			c = append(c, size{messages[0].sequence, tokens})
			messages = messages[1:]
			continue
		}
		switch kind := records[0].GetKind().(type) {
		case *compactordv1.Record_Compaction:
			tokens = kind.Compaction.GetTokensAfter()
		case *compactordv1.Record_Prune:
			tokens = kind.Prune.GetTokensAfter()
		case *compactordv1.Record_Revert:
			tokens = c.at(kind.Revert.GetPoint())
		default:
		}
		c = append(c, size{records[0].GetSequence(), tokens})
		records = records[1:]
	}
	return c
}

// readCurve reads the records of a conversation for the curve of the messages that f has counted.
func (f *figures) readCurve(ctx context.Context, c *conversation.Conversation) (curve, error) {
	records, err := c.Records(ctx, &compactordv1.ListRecordsRequest{})
	if err != nil {
		return nil, err
	}
	return newCurve(f.added, records), nil
}

// The size of a drawn curve in characters, beside its labels.
const (
	curveRows   = 8
	lowRows     = 3
	mostColumns = 100
	// labelColumns is the width of the labels at the right.
	labelColumns = 20
	usualColumns = 80
)

// steps are the heights of a character, in eighths.
var steps = []rune(" ▁▂▃▄▅▆▇█")

// draw draws the curve against the trigger and the window, in as many columns as the terminal has.
func (c curve) draw(w io.Writer, r *compactordv1.ContextReport, paint painter, columns int) {
	rows := c.rows(r, paint, columns, curveRows)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\nThe context over the log, by its estimates:\n\n")
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
}

// rows returns the rows of the curve, so many; none where there is nothing to draw, or no room.
func (c curve) rows(r *compactordv1.ContextReport, paint painter, columns, count int) (rows []string) {
	columns = min(cmp.Or(columns, usualColumns)-labelColumns, mostColumns, len(c))
	if columns < 2 {
		return nil
	}
	heights, most := make([]uint32, columns), max(r.GetContextWindow(), r.GetTriggerTokens())
	for column := range heights {
		for _, s := range c[column*len(c)/columns : (column+1)*len(c)/columns] {
			heights[column] = max(heights[column], s.tokens+r.GetOverheadTokens())
		}
		most = max(most, heights[column])
	}
	// The last column is the present, also where something larger is near.
	heights[columns-1] = c[len(c)-1].tokens + r.GetOverheadTokens()
	s := scale{most, count}
	for row := count; row > 0; row-- {
		line := paint.curveRow(heights, s, row, s.rowOf(r.GetTriggerTokens()))
		rows = append(rows, strings.TrimRight("  "+line+" "+s.labelOf(r, row), " "))
	}
	return rows
}

// scale is how many tokens the rows of a curve stand for together, and how many rows there are.
type scale struct {
	most uint32
	rows int
}

// rowOf returns the row in which so many tokens end, from 1 at the bottom; 0 for none.
func (s scale) rowOf(tokens uint32) int {
	return int((uint64(tokens)*uint64(s.rows) + uint64(s.most) - 1) / uint64(max(s.most, 1)))
}

// labelOf returns what stands beside a row.
func (s scale) labelOf(r *compactordv1.ContextReport, row int) string {
	switch {
	case r.TriggerTokens != nil && row == s.rowOf(r.GetTriggerTokens()):
		return "trigger " + terminal.Number(r.GetTriggerTokens())
	case r.ContextWindow != nil && row == s.rowOf(r.GetContextWindow()):
		return "window " + terminal.Number(r.GetContextWindow())
	case row == s.rows && r.ContextWindow == nil:
		return terminal.Number(s.most)
	default:
		return ""
	}
}

// curveRow draws a row: bars of the heights, and dashes for the trigger where no bar is.
func (p painter) curveRow(heights []uint32, s scale, row, trigger int) string {
	var line strings.Builder
	for _, tokens := range heights {
		eighths := int(uint64(tokens)*uint64(s.rows)*8/uint64(max(s.most, 1))) - (row-1)*8
		switch {
		case eighths <= 0 && row == trigger:
			line.WriteByte('-')
		case eighths <= 0:
			line.WriteByte(' ')
		case !p.terminal:
			line.WriteByte('#')
		default:
			line.WriteRune(steps[min(eighths, 8)])
		}
	}
	if !p.terminal {
		return line.String()
	}
	const cyan = 36
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", cyan, line.String())
}
