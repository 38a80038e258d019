package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
)

// carried is what the rest of a list must know of the part before.
type carried struct {
	used, usedCalls dialect.IDSet
	lost            bool
	// held has positions that count back from the rest.
	held []heldThinking
}

// Size returns about how many bytes it takes.
func (c *carried) Size() int {
	size := c.used.Size() + c.usedCalls.Size()
	for _, h := range c.held {
		size += len(h.encode(nil))
	}
	return size
}

// goOn takes over what the part of the list before has left; nil where there is none.
func (r *renderer) goOn(before *dialect.Carried) {
	if before == nil {
		return
	}
	r.rest = true
	if c, ok := before.State.(*carried); ok {
		r.used, r.usedCalls, r.lost = c.used, c.usedCalls, c.lost
		r.held = append(r.held, c.held...)
	}
}

func (r *renderer) carried() *carried {
	c := &carried{used: r.used.Seal(), usedCalls: r.usedCalls.Seal(), lost: r.lost}
	for _, h := range r.held {
		c.held = append(c.held, heldThinking{renderedItem: h.renderedItem, at: h.at - len(r.messages)})
	}
	return c
}
