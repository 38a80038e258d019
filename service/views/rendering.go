package views

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// long renders a view stretch by stretch. All of it is rendered and checked once, for the report, but only the messages
// of the next pages are held.
type long struct {
	*Request

	log     Log
	shape   dialect.Dialect
	drawing *session.Drawing
}

func (r *Request) long(ctx context.Context, log Log, shape dialect.Dialect) (*long, error) {
	drawing, err := log.Drawing(ctx, r.Row, r.Head, r.stretchBytes())
	if err != nil {
		return nil, err
	}
	return &long{Request: r, log: log, shape: shape, drawing: drawing}, nil
}

// list renders the whole list, and returns it from the first message on that the client does not have.
func (l *long) list(
	ctx context.Context, held, wanted session.ViewToken, relation session.Delta,
) (*renderedList, error) {
	head, err := l.head(ctx)
	if err != nil {
		return nil, err
	}
	goesOn := l.goesOn(held, wanted, relation)
	c, end, err := l.compare(ctx, held, relation, goesOn)
	if err != nil {
		return nil, err
	}
	defer end()
	list := &renderedList{report: &compactordv1.ViewReport{}, head: head}
	size := 0
	for s, err := range l.stretches(ctx, l.drawing, l.shape, restart{}) {
		if err == nil {
			err = s.check()
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
		if list.rest == nil && size > l.MaxBytes+l.stretchBytes() {
			list.rest = s.start()
		}
		if list.rest == nil {
			list.first = c.same
			list.messages = append(list.messages, fresh...)
			size += sizeOf(fresh)
		}
	}
	report := list.report
	report.ExtraBlockTokens = l.Extra.Tokens
	report.DisableThinking = report.GetDisableThinking() || l.drawing.DisableThinking(l.optionsIn(l.shape))
	return list, nil
}

// head returns the head with figures of the current policy.
func (l *long) head(ctx context.Context) (*storagev1.Head, error) {
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
	list.system = append(list.system, s.System...)
	report := list.report
	list.stays = s.stays
	report.Tokens = add(report.GetTokens(), s.view.Tokens)
	report.ThinkingDropped = append(report.ThinkingDropped, s.view.Report.GetThinkingDropped()...)
	// The last stretch says what holds for the whole list.
	report.DisableThinking = s.DisableThinking
	s.addTo(report)
}

// extended returns a list with the messages of a whole page after a position, if there are so many.
func (l *long) extended(ctx context.Context, list *renderedList, position int) (*renderedList, error) {
	if list.has(position, l.MaxBytes) {
		return list, nil
	}
	size := sizeOf(list.from(position))
	next := *list
	next.first, next.messages, next.rest = position, list.from(position)[:len(list.from(position)):len(list.from(position))], nil
	for s, err := range l.stretches(ctx, l.drawing, l.shape, *list.rest) {
		if err != nil {
			return nil, err
		}
		if size > l.MaxBytes {
			next.rest = s.start()
			break
		}
		next.messages = append(next.messages, s.Messages...)
		size += sizeOf(s.Messages)
	}
	return &next, nil
}

// comparison finds the messages at the start of a list that the client has.
type comparison struct {
	held int
	// next returns the next message that the client has.
	next func() (json.RawMessage, error, bool)
	// same is how many messages are the same, and over reports that no more are. known reports that the client has the
	// start of this very view.
	same        int
	over, known bool
}

// compare compares with the view of a token. The caller calls end when the list is rendered.
func (l *long) compare(
	ctx context.Context, held session.ViewToken, relation session.Delta, goesOn bool,
) (c *comparison, end func(), err error) {
	if relation == session.DeltaNone {
		return &comparison{over: true}, func() {}, nil
	}
	if goesOn {
		return &comparison{held: heldOf(held, staysWhole), known: true}, func() {}, nil
	}
	head, err := l.log.HeadAt(ctx, l.Row, held.Point)
	if err != nil {
		return nil, nil, err
	}
	drawing, err := l.log.Drawing(ctx, l.Row, head, l.stretchBytes())
	if err != nil {
		return nil, nil, err
	}
	next, end := iter.Pull2(l.messages(ctx, drawing))
	return &comparison{held: int(held.Messages), next: next}, end, nil
}

func (l *long) messages(ctx context.Context, drawing *session.Drawing) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for s, err := range l.stretches(ctx, drawing, l.shape, restart{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, raw := range s.Messages {
				if !yield(raw, nil) {
					return
				}
			}
		}
	}
}

// fresh returns the messages that the client does not have, of the next ones of the list.
func (c *comparison) fresh(messages []json.RawMessage) ([]json.RawMessage, error) {
	for i, raw := range messages {
		if c.over || c.same == c.held {
			return messages[i:], nil
		}
		if c.known {
			c.same++
			continue
		}
		then, err, more := c.next()
		if err != nil {
			return nil, err
		}
		if !more || !bytes.Equal(then, raw) {
			c.over = true
			return messages[i:], nil
		}
		c.same++
	}
	return nil, nil
}
