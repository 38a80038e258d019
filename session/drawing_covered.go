package session

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// summary draws the summary, unless the drawing begins after it.
func (p *piecewise) summary(ctx context.Context) error {
	leadEnd := p.State.Head.GetLeadEnd()
	if p.from.Index > leadEnd {
		return nil
	}
	if providerItem(p.State.Entry, p.opts.Dialect) != nil {
		p.builder.item(p.State.Entry)
		return p.flush(leadEnd)
	}
	placement, assistantNext := p.State.Policy.GetSummary().GetPlacement(), false
	if placement == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR {
		// Only a pair asks what follows it, for which messages are read that are read again to be drawn.
		var err error
		if assistantNext, err = p.assistantFollowsSummary(ctx); err != nil {
			return err
		}
	}
	p.builder.summary(p.State.Entry, placement, assistantNext)
	return p.flush(leadEnd)
}

// assistantFollowsSummary reports the same as State's method.
func (p *piecewise) assistantFollowsSummary(ctx context.Context) (bool, error) {
	h := p.State.Head
	for _, index := range OutOfPlaceIndexes(h) {
		shown, role, err := p.firstShown(ctx, index, index+1)
		if shown || err != nil {
			return role == compactordv1.Role_ROLE_ASSISTANT, err
		}
	}
	_, role, err := p.firstShown(ctx, KeptFrom(h), h.GetNextIndex())
	return role == compactordv1.Role_ROLE_ASSISTANT, err
}

// firstShown returns the role of the first message of a range that edits have not emptied.
func (p *piecewise) firstShown(ctx context.Context, start, end uint32) (bool, compactordv1.Role, error) {
	for start < end {
		piece, err := p.read(ctx, start, end)
		if err != nil || len(piece) == 0 {
			return false, 0, err
		}
		s := *p.State
		s.Edits = p.builder.edits
		for _, l := range piece {
			if !s.emptied(l) {
				return true, l.GetMessage().GetRole(), nil
			}
		}
		start = piece[len(piece)-1].GetIndex() + 1
	}
	return false, 0, nil
}

// outOfPlace draws the covered messages that the view shows after the summary. A message that stands directly after the
// leading messages goes on at the place of the summary.
func (p *piecewise) outOfPlace(ctx context.Context) error {
	outlines, err := p.outlines(ctx)
	if err != nil {
		return err
	}
	ordered := inViewOrder(outlines, lateResults(outlines))
	missing := missingInGroups(ordered)
	first := 0
	if p.from.Index > p.State.Head.GetLeadEnd() {
		first = slices.IndexFunc(ordered, func(l *compactordv1.LoggedMessage) bool { return l.GetIndex() == p.from.Index })
	}
	if first < 0 {
		return nil
	}
	for i := first; i < len(ordered); i++ {
		index := ordered[i].GetIndex()
		piece, err := p.read(ctx, index, index+1)
		if err != nil {
			return err
		}
		for _, l := range piece {
			p.builder.message(l, true)
		}
		for _, call := range missing[i] {
			p.builder.missingResult(call)
		}
		if err := p.flush(index); err != nil {
			return err
		}
	}
	return nil
}

// outlines returns the messages shown out of place, without what their order does not depend on.
func (p *piecewise) outlines(ctx context.Context) ([]*compactordv1.LoggedMessage, error) {
	var outlines []*compactordv1.LoggedMessage
	for _, index := range OutOfPlaceIndexes(p.State.Head) {
		piece, err := p.Pieces.Active(ctx, index, index+1)
		if err != nil {
			return nil, err
		}
		for _, l := range piece {
			outlines = append(outlines, outline(l))
		}
	}
	return outlines, nil
}

func outline(l *compactordv1.LoggedMessage) *compactordv1.LoggedMessage {
	m := &compactordv1.Message{Role: l.GetMessage().GetRole(), StopReason: l.GetMessage().GetStopReason()}
	for _, part := range l.GetMessage().GetParts() {
		short := &compactordv1.Part{}
		if call := part.GetToolCall(); call != nil {
			short.Kind = &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: call.GetId(), Name: call.GetName()}}
		}
		m.Parts = append(m.Parts, short)
	}
	return &compactordv1.LoggedMessage{
		Index: l.GetIndex(), Message: m, Answers: l.GetAnswers(), ResultPlace: l.GetResultPlace(),
	}
}
