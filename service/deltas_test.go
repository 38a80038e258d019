package service_test

import (
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A client that replays a recording message by message and follows the view by deltas holds the whole view at every step,
// whatever is done to the session in between.
func TestDeltasOverTheCorpusMessageByMessage(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for i, path := range corpusFiles(t) {
		if !sampled(i) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			messages := readTranscript(t, path)
			seed := fnv.New64a()
			_, _ = seed.Write([]byte(filepath.Base(path)))
			random := rand.New(rand.NewPCG(seed.Sum64(), 2))
			draw := func(low, high int, _ string) int { return low + random.IntN(high-low+1) }
			w := newWorld(t, counts, draw)
			defer w.service.Close()
			w.scale = max(1, len(messages)/20)
			f := &neutralFollower{w: w}
			for i := range messages {
				if messages[i].GetRole() == compactordv1.Role_ROLE_TOOL && draw(0, 9, "said meanwhile") == 0 {
					w.appendAll([]*compactordv1.Message{user("How far is it?")})
					f.follow()
					counts["said while a tool ran"]++
				}
				w.appendAll(messages[i : i+1])
				f.follow()
				if draw(0, 9, "record") == 0 {
					w.anyRecord()
					f.follow()
				}
			}
		})
	}
	t.Log(describe(counts))
	if testing.Short() {
		return
	}
	for _, class := range []string{
		"compaction", "prune", "revert", "undo", "turns taken back", "pin", "unpin", "policy", "checkpoint", "clear",
		"said while a tool ran", "grown by what was appended", "kept a part of the view", "whole view anew",
	} {
		require.Positive(t, counts[class], "never came up: %s", class)
	}
}

// neutralFollower holds a view and keeps it up to date by deltas.
type neutralFollower struct {
	w     *world
	held  []*compactordv1.ViewMessage
	token string
}

// follow fetches what is new, and compares what it holds with the whole view.
func (f *neutralFollower) follow() {
	for more := true; more; {
		answer, err := f.w.service.GetLLMView(f.w.t.Context(), &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: worldSession},
			ViewToken: f.token, MaxBytes: 64 << 10,
		})
		require.NoError(f.w.t, err)
		unchanged := int(answer.GetUnchangedPrefix())
		require.LessOrEqual(f.w.t, unchanged, len(f.held))
		f.count(unchanged)
		f.held = append(f.held[:unchanged:unchanged], answer.GetMessages()...)
		f.token, more = answer.GetViewToken(), answer.GetHasMore()
	}
	requireSameBytes(f.w.t, f.w.view(), f.held)
}

func (f *neutralFollower) count(unchanged int) {
	switch {
	case len(f.held) == 0:
	case unchanged == len(f.held):
		f.w.counts["grown by what was appended"]++
	case unchanged == 0:
		f.w.counts["whole view anew"]++
	default:
		f.w.counts["kept a part of the view"]++
	}
}

// anyRecord does something to the session that writes a record, or might.
func (w *world) anyRecord() {
	switch n := w.draw(0, 99, "what"); {
	case n < 30:
		w.compact(func() {})
	case n < 50:
		w.prune()
	case n < 60:
		w.pin()
	case n < 68:
		w.unpin()
	case n < 78:
		w.checkpoint()
	case n < 84:
		w.undo()
	case n < 90:
		w.takeBack(w.draw(1, 2, "turns"))
	case n < 94:
		w.revert()
	case n < 96:
		w.clear()
	default:
		w.policy()
	}
}

func (w *world) pin() {
	next := w.row().GetNextIndex()
	if next == 0 {
		return
	}
	_, err := w.service.PinMessages(w.t.Context(), &compactordv1.PinMessagesRequest{
		SessionId: worldSession, Indexes: []uint32{uint32(w.draw(0, int(next)-1, "index"))},
	})
	if statusCode(err) == codes.FailedPrecondition {
		w.counts["pin of a message put aside"]++
		return
	}
	require.NoError(w.t, err)
	w.counts["pin"]++
}

func (w *world) unpin() {
	view := w.view()
	var shown []uint32
	for _, vm := range view {
		if vm.GetOutOfPlace() {
			shown = append(shown, vm.GetIndex())
		}
	}
	if len(shown) == 0 {
		return
	}
	answer, err := w.service.UnpinMessages(w.t.Context(), &compactordv1.UnpinMessagesRequest{
		SessionId: worldSession, Indexes: shown[:1],
	})
	require.NoError(w.t, err)
	if answer.GetRecord() != nil {
		w.counts["unpin"]++
	}
}

// checkpoint makes one, announced where no call is open.
func (w *world) checkpoint() {
	_, err := w.service.CreateCheckpoint(w.t.Context(), &compactordv1.CreateCheckpointRequest{
		SessionId: worldSession, Announce: true,
	})
	if statusCode(err) == codes.FailedPrecondition {
		_, err = w.service.CreateCheckpoint(w.t.Context(), &compactordv1.CreateCheckpointRequest{SessionId: worldSession})
	}
	require.NoError(w.t, err)
	w.counts["checkpoint"]++
}

func (w *world) undo() {
	w.goBack("undo", &compactordv1.RevertToCheckpointRequest{
		Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
	})
}

func (w *world) takeBack(turns int) {
	w.goBack("turns taken back", &compactordv1.RevertToCheckpointRequest{
		Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: uint32(turns)},
	})
}

// goBack reverts, and compares the view with that of the point.
func (w *world) goBack(class string, req *compactordv1.RevertToCheckpointRequest) {
	req.SessionId = worldSession
	answer, err := w.service.RevertToCheckpoint(w.t.Context(), req)
	if statusCode(err) == codes.FailedPrecondition {
		w.counts["nothing to revert"]++
		return
	}
	require.NoError(w.t, err)
	requireSameBytes(w.t, w.viewAt(answer.GetRecord().GetRevert().GetPoint()), w.view())
	w.counts[class]++
}

func (w *world) clear() {
	answer, err := w.service.ClearSession(w.t.Context(), &compactordv1.ClearSessionRequest{SessionId: worldSession})
	require.NoError(w.t, err)
	require.Len(w.t, w.view(), int(w.leading()))
	if answer.GetRecord() != nil {
		w.counts["clear"]++
	}
}

// leading counts the SYSTEM and DEVELOPER messages that the view begins with.
func (w *world) leading() uint32 {
	var leading uint32
	for _, vm := range w.view() {
		role := vm.GetMessage().GetRole()
		if role != compactordv1.Role_ROLE_SYSTEM && role != compactordv1.Role_ROLE_DEVELOPER {
			break
		}
		leading++
	}
	return leading
}
