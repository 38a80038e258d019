package sessiontest

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// pieces reads a written log in pieces of some messages.
type pieces struct {
	writer *Writer
	state  *session.State
	size   int
}

var _ session.Pieces = (*pieces)(nil)

// DrawingAt returns the drawing of a point, under the policy now in force, in pieces of so many messages.
func (w *Writer) DrawingAt(point uint32, size int) *session.Drawing {
	whole := w.StateAt(point)
	return &session.Drawing{
		State: &session.State{
			Head: whole.Head, Policy: whole.Policy, Counter: whole.Counter, Entry: whole.Entry,
			Blocks: whole.Blocks, Instructions: whole.Instructions,
		},
		Pieces: &pieces{writer: w, state: whole, size: size},
	}
}

// Active implements session.Pieces.
func (p *pieces) Active(_ context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	var piece []*compactordv1.LoggedMessage
	for index := start; index < min(end, p.state.Head.GetNextIndex()) && len(piece) < p.size; index++ {
		if session.ActiveIndex(p.state.Head, index) {
			piece = append(piece, p.writer.Messages[index])
		}
	}
	return piece, nil
}

// Edits implements session.Pieces.
func (p *pieces) Edits(_ context.Context, start, end uint32) (map[uint32][]*compactordv1.Edit, error) {
	edits := make(map[uint32][]*compactordv1.Edit)
	for _, r := range p.writer.records {
		if !session.InForce(p.state.Head, r.record.GetSequence()) {
			continue
		}
		for _, e := range r.record.GetPrune().GetEdits() {
			if start <= e.GetIndex() && e.GetIndex() < end {
				edits[e.GetIndex()] = append(edits[e.GetIndex()], e)
			}
		}
	}
	return edits, nil
}
