package views

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/compactord/compactord/session"
)

// comparison finds the messages at the start of a list that the client has.
type comparison struct {
	// held is how many it has at the most.
	held int
	// next returns the next message that the client has. It is nil where the client has the start of this very view.
	next func() (digest, error, bool)
	// same is how many messages are the same, and over reports that no more are.
	same int
	over bool
}

// compare compares with the view of a token from a step on: by its trail, or by drawing that view where it has none. The
// caller calls end when the list is rendered.
func (l *rendering) compare(
	ctx context.Context, held, wanted session.ViewToken, relation session.Delta, known *trail, at *step,
) (c *comparison, end func(), err error) {
	c = &comparison{held: int(held.Messages), same: at.first()}
	switch {
	case relation == session.DeltaNone:
		c.over = true
		return c, func() {}, nil
	case l.goesOn(held, wanted, relation):
		c.held = heldOf(held, staysWhole)
		return c, func() {}, nil
	case known != nil:
		c.next, end = iter.Pull2(known.from(at))
		return c, end, nil
	}
	head, err := l.log.HeadAt(ctx, l.Row, held.Point)
	if err != nil {
		return nil, nil, err
	}
	drawing, err := l.log.Drawing(ctx, l.Row, head, l.heldBytes())
	if err != nil {
		return nil, nil, err
	}
	c.next, end = iter.Pull2(l.digests(ctx, drawing))
	return c, end, nil
}

// digests renders the messages of an earlier view, as they were without its extra blocks.
func (l *rendering) digests(ctx context.Context, drawing *session.Drawing) iter.Seq2[digest, error] {
	then := *l.Request
	then.Extra = session.ExtraBlocks{}
	return func(yield func(digest, error) bool) {
		for s, err := range then.stretches(ctx, drawing, l.shape, restart{}) {
			if err != nil {
				yield(digest{}, err)
				return
			}
			for _, raw := range s.Messages {
				if !yield(digestOf(raw), nil) {
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
		if c.next != nil {
			then, err, more := c.next()
			if err != nil {
				return nil, err
			}
			if c.over = !more || then != digestOf(raw); c.over {
				return messages[i:], nil
			}
		}
		c.same++
	}
	return nil, nil
}
