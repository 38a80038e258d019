package sessiontest

import (
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mark writes a checkpoint. It may announce it before, where no call is open.
func (g *Generator) mark(t *rapid.T) {
	checkpoint := &compactordv1.Checkpoint{Id: g.head().GetLastCheckpoint() + 1}
	if len(g.Model().OpenCalls()) == 0 && chance(t, 50, "announced") {
		marker := &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Origin: compactordv1.Origin_ORIGIN_MARKER,
			Parts: []*compactordv1.Part{text(g.words(t))},
		}
		checkpoint.MarkerIndex = proto.Uint32(g.W.Append(marker, nil).GetIndex())
		g.count(CheckpointAnnounced, true)
	}
	checkpoint.Point = g.head().GetNextSequence()
	g.count(CheckpointMade, true)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Checkpoint{Checkpoint: checkpoint}})
}

// sendBack reverts, and appends a message from the part that is put aside.
func (g *Generator) sendBack(t *rapid.T) {
	point := g.revertPoint(t)
	if between(t, 0, 2, "to a checkpoint") == 0 {
		point = g.newestCheckpoint(point)
	}
	g.count(RevertMade, true)
	g.count(RevertWithFuture, true)
	g.count(RevertIntoLoop, len(g.W.ModelAt(point).OpenCalls()) > 0)
	g.lastRevert = &point
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{
		Point: point, FutureIndex: proto.Uint32(g.head().GetNextIndex()),
	}}})
	g.W.Append(&compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Origin: compactordv1.Origin_ORIGIN_FUTURE,
		Parts: []*compactordv1.Part{text(g.words(t))},
	}, nil)
}

// newestCheckpoint returns the point of the newest checkpoint in force; the given one where there is none.
func (g *Generator) newestCheckpoint(other uint32) uint32 {
	var newest uint32
	for sequence, item := range g.Model().Records {
		if item.Record.GetCheckpoint() != nil {
			newest = max(newest, sequence)
		}
	}
	if newest == 0 {
		return other
	}
	return newest
}

// clear reverts to the end of the leading messages.
func (g *Generator) clear(t *rapid.T) {
	if !chance(t, 30, "clear") {
		return
	}
	var point uint32
	for _, a := range g.Model().Lead() {
		point = a.Sequence
	}
	g.count(Cleared, true)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{
		Point: point, KeepsContext: true,
	}}})
}
