package session_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// Building views and computing heads never changes a message that was appended.
func TestAppendOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGeneratorBy(t, estimator(t), make(sessiontest.Counts))
		var items, heads [][]byte
		var kept []*storagev1.Head
		for range sessiontest.Steps(t, 40) {
			g.Step(t)
			g.W.State().View(session.ViewOptions{})
			for _, item := range g.W.Log.Items[len(items):] {
				items = append(items, itemBytes(item))
			}
			kept, heads = append(kept, g.W.Head), append(heads, sessiontest.Bytes(g.W.Head))
		}
		for sequence, item := range g.W.Log.Items {
			require.Equal(t, items[sequence], itemBytes(item), "item %d", sequence)
		}
		for i, h := range kept {
			require.Equal(t, heads[i], sessiontest.Bytes(h), "head after step %d", i)
		}
	})
}

func itemBytes(item sessiontest.Item) []byte {
	if item.Message != nil {
		return sessiontest.Bytes(item.Message)
	}
	return sessiontest.Bytes(item.Record)
}

// Each message keeps its place and the call that it answers, whatever is appended or reverted, and when all heads are
// computed again.
func TestHeadsComputedAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGeneratorBy(t, estimator(t), make(sessiontest.Counts))
		heads := make(map[uint32]*storagev1.Head)
		for range sessiontest.Steps(t, 40) {
			g.Step(t)
			heads[g.W.Log.Newest()] = g.W.Head
		}
		anew := sessiontest.Replay(g.W.Log)
		for point, h := range heads {
			sameMessage(t, anew[point], h, "head at the end")
			sameMessage(t, anew[point], g.W.HeadAt(point), "head as of the point")
		}
	})
}

// Another process, which reads the state's encoding, builds the same view.
func TestViewAfterRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGeneratorBy(t, estimator(t), make(sessiontest.Counts))
		for range sessiontest.Steps(t, 40) {
			g.Step(t)
		}
		decoded := &sessiontest.Log{Estimator: g.W.Log.Estimator}
		for _, item := range g.W.Log.Items {
			decoded.Items = append(decoded.Items, decode(t, item))
		}
		anew := sessiontest.Reopen(decoded)
		sameMessage(t, g.W.Head, anew.Head, "head")
		sameView(t, g.W.State().View(session.ViewOptions{}).Messages, anew.State().View(session.ViewOptions{}).Messages)
		s := g.W.State()
		s.Head = &storagev1.Head{}
		require.NoError(t, proto.Unmarshal(sessiontest.Bytes(g.W.Head), s.Head))
		sameView(t, g.W.State().View(session.ViewOptions{}).Messages, s.View(session.ViewOptions{}).Messages)
	})
}

func decode(t *rapid.T, item sessiontest.Item) sessiontest.Item {
	decoded := sessiontest.Item{MadeFrom: item.MadeFrom, ExtraTokens: item.ExtraTokens, ParentIndex: item.ParentIndex}
	if item.Message != nil {
		decoded.Message = &compactordv1.Message{}
		require.NoError(t, proto.Unmarshal(itemBytes(item), decoded.Message))
		for _, e := range item.Arrival {
			arrived := &compactordv1.Edit{}
			require.NoError(t, proto.Unmarshal(sessiontest.Bytes(e), arrived))
			decoded.Arrival = append(decoded.Arrival, arrived)
		}
		return decoded
	}
	decoded.Record = &compactordv1.Record{}
	require.NoError(t, proto.Unmarshal(itemBytes(item), decoded.Record))
	return decoded
}

// After a Revert to a point, the view is byte for byte the one at that point, and the valid cuts are the same. A Revert can
// keep context blocks and instructions: then the view has those of before.
func requireViewOfRevert(t *rapid.T, s step) {
	revert := s.newest().Record.GetRevert()
	if revert == nil {
		return
	}
	then := s.g.W.StateAt(revert.GetPoint())
	if revert.GetKeepsContext() {
		before := s.g.W.StateAt(s.g.W.Log.Newest() - 1)
		sameView(t, besideMessages(before), besideMessages(s.state))
	} else {
		for _, opts := range everyOption {
			sameView(t, then.View(opts).Messages, s.state.View(opts).Messages)
		}
	}
	require.Equal(t, then.CutPlaces(), s.state.CutPlaces())
	require.Equal(t, then.Head.GetViewFormat(), revert.GetViewChange().GetViewFormat())
}

// besideMessages returns what a view shows beside messages of the log, the leading ones excepted.
func besideMessages(s *session.State) []*compactordv1.ViewMessage {
	return slices.DeleteFunc(s.View(session.ViewOptions{}).Messages, func(vm *compactordv1.ViewMessage) bool {
		return ofLog(vm) && (vm.GetLogRepair() != nil || vm.GetSummaryOf() != "" || logIndex(vm) >= s.Head.GetLeadEnd())
	})
}
