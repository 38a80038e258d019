package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// defaultThinkingTurns keeps the thinking of the current turn, which providers need within a tool loop.
const defaultThinkingTurns = 1

// DropThinking drops the thinking of all but the newest turns.
type DropThinking struct{}

// Name returns `drop_thinking`.
func (DropThinking) Name() string { return "drop_thinking" }

// Plan returns a plan with edits, or one that does nothing. Thinking that the view leaves out anyway is not edited.
func (DropThinking) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := DropThinking{}.Resolved(in.Policy, parameters).GetDropThinking()
	s, e := in.State, newEditing(in.State)
	forBytes := DueByBytesAlone(in.Policy, session.Measure(in.beginning().Head, in.Policy))
	unread := unreadMessages(s)
	for _, l := range s.Kept[:beforeTurns(s, p.GetKeepTurns())] {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if unread[l.GetIndex()] || session.Pinned(s.Head, l.GetIndex()) {
			continue
		}
		if dropThinking(e, l, forBytes); e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// Resolved implements Resolver.
func (DropThinking) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.DropThinkingStrategy{}
	if given := parameters.GetDropThinking(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.KeepTurns == nil {
		p.KeepTurns = proto.Uint32(defaultThinkingTurns)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{DropThinking: p}}
}

// dropThinking drops all thinking of one message or none: a provider that gets a part of it back refuses the message,
// or takes that part as the whole. It drops thinking if that frees tokens. If the view has too many bytes, it is enough
// if that frees bytes, since redacted thinking counts no tokens.
func dropThinking(e *editing, l *compactordv1.LoggedMessage, forBytes bool) {
	var edits []*compactordv1.Edit
	var freed uint32
	undo := e.simulation.mark(l.GetIndex())
	for i, p := range l.GetMessage().GetParts() {
		edit := &compactordv1.Edit{
			Index: l.GetIndex(), Part: uint32(i), Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING,
		}
		if p.GetThinking() == nil {
			continue
		}
		if e.emptiesStart(edit) {
			undo()
			return
		}
		var added bool
		if edit.TokensFreed, added = e.simulation.addThinking(edit, l); added {
			edits, freed = append(edits, edit), freed+edit.GetTokensFreed()
		}
	}
	if freed == 0 && !forBytes {
		undo()
		return
	}
	for _, edit := range edits {
		e.add(edit)
	}
}
