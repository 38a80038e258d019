package views

import (
	"context"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// itemPlace says where in a rendered view the item of the provider stands in place of the summary: from position first on, drawn
// messages there and neutral ones in the neutral view. It is zero where no item does.
type itemPlace struct{ first, drawn, neutral int }

// neutralOf returns which messages of the neutral view stand for those that a message was made from: for the item, and what is
// said beside it, the whole summary.
func (s itemPlace) neutralOf(from dialect.Span) *compactordv1.ViewRange {
	start, end := from.First, from.End
	after := s.first + s.drawn
	switch {
	case start >= after:
		start += s.neutral - s.drawn
	case start > s.first:
		start = s.first
	}
	switch {
	case end >= after:
		end += s.neutral - s.drawn
	case end > s.first:
		end = s.first + s.neutral
	}
	return &compactordv1.ViewRange{Start: uint32(start), End: uint32(end)}
}

// itemPlace finds where the item stands, for which the messages before it are drawn in both views.
func (r *Request) itemPlace(ctx context.Context, log Log, shape dialect.Dialect) (itemPlace, error) {
	if r.Head.GetCompaction() == nil {
		return itemPlace{}, nil
	}
	drawing, err := log.Drawing(ctx, r.Row, r.Head, r.heldBytes())
	if err != nil || drawing.State.Entry.GetProviderBlock().GetDialect() != shape.Kind() {
		return itemPlace{}, err
	}
	var s itemPlace
	if s.first, s.drawn, err = summaryOf(ctx, drawing, r.optionsIn(shape)); err != nil {
		return itemPlace{}, err
	}
	_, s.neutral, err = summaryOf(ctx, drawing, session.ViewOptions{Thinking: r.Thinking})
	return s, err
}

// summaryOf returns how many messages a view has before the summary, and how many the summary is.
func summaryOf(ctx context.Context, drawing *session.Drawing, opts session.ViewOptions) (before, messages int, err error) {
	for drawn, err := range drawing.View(ctx, opts, session.Place{}) {
		switch {
		case err != nil:
			return 0, 0, err
		case drawn.GetSummaryOf() != "":
			messages++
		case messages > 0:
			return before, messages, nil
		default:
			before++
		}
	}
	return before, messages, nil
}
