package views

import (
	"context"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// rendering renders a view stretch by stretch. All of it, or all after the place from which it goes on, is rendered and
// checked once. Of a large view, only the messages of the next pages are held.
type rendering struct {
	*Request

	log     Log
	shape   dialect.Dialect
	drawing *session.Drawing
}

func (r *Request) rendering(ctx context.Context, log Log, shape dialect.Dialect) (*rendering, error) {
	drawing, err := log.Drawing(ctx, r.Row, r.Head, r.heldBytes())
	if err != nil {
		return nil, err
	}
	return &rendering{Request: r, log: log, shape: shape, drawing: drawing}, nil
}

// list returns the list from the first message on that the client does not have, with the sums of the whole list.
func (l *rendering) list(
	ctx context.Context, held, wanted session.ViewToken, relation session.Delta,
) (*renderedList, error) {
	head, err := l.head(ctx)
	if err != nil {
		return nil, err
	}
	reread := l.Rereads.isDue(l.shape.Kind(), l.Trails.know(wanted))
	known := l.Trails.of(held)
	at := l.restartAt(known, held, relation)
	c, end, err := l.compare(ctx, held, wanted, relation, known, at)
	if err != nil {
		return nil, err
	}
	defer end()
	list, walked, from := l.begin(head, at)
	size := 0
	for s, err := range l.stretches(ctx, l.drawing, l.shape, from) {
		if err == nil {
			err = s.check()
		}
		if err == nil && reread {
			err = s.reread(ctx, l.Rereads)
		}
		if err != nil {
			return nil, err
		}
		s.sumInto(list)
		c.held = min(c.held, heldOf(held, s.stays))
		fresh, err := c.fresh(s.Messages)
		if err != nil {
			return nil, err
		}
		if list.rest == nil && l.isLarge() && size > l.MaxBytes+l.heldBytes() {
			list.rest = s.start()
		}
		if list.rest == nil {
			list.first = c.same
			list.add(fresh, s.From[len(s.From)-len(fresh):])
			size += sizeOf(fresh)
		}
		walked.last = walked.last.followedBy(s, list.sums(), min(l.heldBytes(), minStepBytes))
	}
	if reread {
		l.Rereads.countValid(l.shape)
	}
	walked.point = wanted.Point
	l.Trails.put(wanted, walked)
	report := list.report
	report.ExtraBlockTokens = l.Extra.Tokens
	report.DisableThinking = report.GetDisableThinking() || l.drawing.DisableThinking(l.optionsIn(l.shape))
	return list, nil
}

// begin returns a list and a trail with what comes before a step, and where the rendering goes on.
func (l *rendering) begin(head *storagev1.Head, at *step) (*renderedList, *trail, restart) {
	list := &renderedList{report: &compactordv1.ViewReport{}, head: head}
	walked := &trail{withoutLead: withoutLead(l.Head)}
	if at == nil {
		return list, walked, restart{}
	}
	list.first, list.system, list.report = at.first(), at.before.sum.system, shared(at.before.sum.report)
	walked.last = at.before
	return list, walked, at.from
}

// head returns the head with figures of the current policy.
func (l *rendering) head(ctx context.Context) (*storagev1.Head, error) {
	if l.isNewest() {
		return l.Head, nil
	}
	figures, err := l.sessionFigures(ctx, l.log, l.drawing)
	if err != nil {
		return nil, err
	}
	return l.headWith(figures), nil
}

// sumInto adds a stretch to the system prompt and the report of a list.
func (s *stretch) sumInto(list *renderedList) {
	list.system = append(slices.Clip(list.system), s.System...)
	report := list.report
	list.stays = s.stays
	report.Tokens = add(report.GetTokens(), s.view.Tokens)
	report.ThinkingDropped = append(report.ThinkingDropped, s.view.Report.GetThinkingDropped()...)
	// The last stretch says what holds for the whole list.
	report.DisableThinking = s.DisableThinking
	s.addTo(report)
}

// sums returns what a list has so far, without its messages. The list can grow without changing it.
func (l *renderedList) sums() *renderedList {
	so := &renderedList{system: l.system, report: l.report}
	l.report = shared(l.report)
	return so
}

// shared returns a copy of a report that shares what is in it. Adding to it does not change the report.
func shared(r *compactordv1.ViewReport) *compactordv1.ViewReport {
	return &compactordv1.ViewReport{
		MessagesMerged: r.GetMessagesMerged(), PartsDropped: slices.Clip(r.GetPartsDropped()),
		Repairs: slices.Clip(r.GetRepairs()), ThinkingDropped: slices.Clip(r.GetThinkingDropped()),
		DisableThinking: r.GetDisableThinking(), SuggestedBreakpoints: slices.Clip(r.GetSuggestedBreakpoints()),
		Bytes: r.GetBytes(), Tokens: r.GetTokens(), ExtraBlockTokens: r.GetExtraBlockTokens(),
	}
}

// extended returns a list with the messages of a whole page after a position, if there are so many.
func (l *rendering) extended(ctx context.Context, list *renderedList, position int) (*renderedList, error) {
	size := sizeOf(list.from(position))
	next := *list
	next.first, next.messages, next.rest = position, slices.Clip(list.from(position)), nil
	next.sources = slices.Clip(list.sources[position-list.first:])
	for s, err := range l.stretches(ctx, l.drawing, l.shape, *list.rest) {
		if err != nil {
			return nil, err
		}
		if size > l.MaxBytes {
			next.rest = s.start()
			break
		}
		next.add(s.Messages, s.From)
		size += sizeOf(s.Messages)
	}
	return &next, nil
}
