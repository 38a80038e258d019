package views

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// staysWhole is the number of messages that stay the start of later views where a view has no extra blocks: all.
const staysWhole = math.MaxUint32

// withoutExtra returns the part of a view before its extra blocks.
func withoutExtra(view []*compactordv1.ViewMessage) []*compactordv1.ViewMessage {
	end := len(view)
	for end > 0 && session.IsExtra(view[end-1]) {
		end--
	}
	return view[:end]
}

// goesOn reports whether the client has a part of this very view, which therefore stands as it is. If it has only some of
// the extra blocks, they must be the requested ones.
func (r *Request) goesOn(held, wanted session.ViewToken, relation session.Delta) bool {
	return relation == session.DeltaAppended && held.Point == wanted.Point &&
		(held.SomeExtra() == 0 || held.Shows(r.Extra))
}

// heldOf returns how many messages of a view the client has that has a part of it. If it has only some of the extra
// blocks, it goes on after them; later views lack the others.
func heldOf(held session.ViewToken, stays uint32) int {
	if some := held.SomeExtra(); some > 0 {
		return int(held.Messages) + int(some)
	}
	return int(min(held.Messages, stays))
}

// holding returns the token of a client that has so many messages of a view, of which the first ones stay the start of
// later views. more reports that the view goes on.
func holding(token session.ViewToken, messages, stays uint32, more bool) session.ViewToken {
	token.Messages = min(messages, stays)
	if token.Extra != nil {
		extra := *token.Extra
		if more {
			extra.Messages = messages - token.Messages
		}
		token.Extra = &extra
	}
	return token
}

// addExtra adds extra blocks to a page, if that has everything before them. have is how many of them the client has.
func (p *page) addExtra(x session.ExtraBlocks, have uint32) error {
	p.stays = p.unchanged + uint32(len(p.messages))
	if p.resume != nil {
		return nil
	}
	have = min(have, uint32(len(x.Messages)))
	p.unchanged += have
	for _, vm := range x.Messages[have:] {
		if added, err := p.add(vm, ""); err != nil || !added {
			p.extraLeft = !added
			return err
		}
	}
	return nil
}

// lasting returns the messages of a list as they are without the extra blocks, and how many messages at the start of the
// list stay the start of later lists: those that are the same without. It renders the view, or its last stretch, without
// them.
func (r *Rendered) lasting(opts dialect.RenderOptions) ([]json.RawMessage, uint32, error) {
	without := withoutExtra(r.view.Messages)
	if len(without) == len(r.view.Messages) {
		return r.Messages, staysWhole, nil
	}
	opts.Writer = nil
	then, err := r.shape.Render(messagesOf(without), opts)
	if err != nil {
		return nil, 0, err
	}
	n := 0
	for n < min(len(then.Messages), len(r.Messages)) && bytes.Equal(then.Messages[n], r.Messages[n]) {
		n++
	}
	return then.Messages, uint32(r.Before.Messages + n), nil
}
