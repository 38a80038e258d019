package session_test

import (
	"reflect"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// The view is the model's, with each thinking policy.
func requireModelsView(t *rapid.T, s step) {
	for _, opts := range everyOption {
		want, got := s.model.View(opts), s.state.View(opts)
		sameView(t, want.Messages, got.Messages)
		require.Equal(t, want.Tokens, got.Tokens, "tokens")
		require.Equal(t, want.Bytes, got.Bytes, "bytes")
		require.Equal(t, want.ToolGroups, got.ToolGroups, "tool groups")
		sameMessage(t, want.Report, got.Report, "report")
	}
}

// The head is the model's.
func requireModelsHead(t *rapid.T, s step) {
	got := proto.CloneOf(s.g.W.Head)
	reported, tokens := s.model.Reported()
	if reported == nil {
		require.Nil(t, got.GetUsage())
	} else {
		require.Equal(t, reported.Index, got.GetUsage().GetIndex(), "message with the last usage")
		require.Equal(t, tokens, got.GetUsage().GetTokens(), "reported")
	}
	require.Equal(t, s.model.Overhead(), got.LearntOverhead, "overhead")
	got.Active, got.Changes, got.Usage = nil, nil, nil
	got.LastBlockMove = 0
	got.LearntOverhead, got.LearntFrom, got.LearntInput = nil, 0, 0
	sameMessage(t, s.model.Head(), got, "head")
}

// The figures that each message advances are those computed again from a loaded state.
func requireMetricsComputedAnew(t *rapid.T, s step) {
	sameMessage(t, s.state.WithMetrics(), s.g.W.Head, "head")
}

// The valid cuts are the model's.
func requireModelsCutPlaces(t *rapid.T, s step) {
	var places []uint32
	for _, pos := range s.state.CutPlaces() {
		places = append(places, s.state.Kept[pos].GetIndex())
	}
	require.Equal(t, s.model.CutPlaces(), places)
}

// A record's changed_from is the model's.
func requireModelsChangedFrom(t *rapid.T, s step) {
	if !s.newest().ChangesViews() {
		return
	}
	want := sessiontest.ChangedFrom(s.g.W.Log, s.g.W.Log.Newest())
	got := s.newest().ViewChange().ChangedFrom
	if !reflect.DeepEqual(nextActive(s.g, want), nextActive(s.g, got)) {
		require.Equal(t, want, got, story(s.g.W.Log))
	}
}

// The tokens of the context are the model's.
func requireModelsContextTokens(t *rapid.T, s step) {
	r := session.Measure(s.g.W.Head, s.g.W.Policy)
	tokens, reported := s.model.ContextTokens()
	if !reported {
		tokens += r.GetOverheadTokens()
	}
	if tokens != r.GetTokens() {
		require.Equal(t, tokens, r.GetTokens(), story(s.g.W.Log))
	}
}

// Whether compaction is due and whether the breaker is open are the model's.
func requireModelsTriggers(t *rapid.T, s step) {
	r := session.Measure(s.g.W.Head, s.g.W.Policy)
	require.Equal(t, s.model.Due(), session.Due(s.g.W.Policy, r), "due")
	require.Equal(t, s.model.BreakerClosesAfter(), r.GetBreakerClosesAfterTokens(), "breaker")
	s.g.CountHead()
}

// nextActive returns the lowest index, from one on, that is active before or after the newest record and that repairs
// do not leave out. The messages between make no difference.
func nextActive(g *sessiontest.Generator, index *uint32) *uint32 {
	if index == nil {
		return nil
	}
	newest := g.W.Log.Newest()
	before, after := g.W.ModelAt(newest-1), g.W.Model()
	for i := *index; i < g.W.Log.Messages(newest); i++ {
		for _, a := range []*sessiontest.Active{before.Find(i), after.Find(i)} {
			if a != nil && !a.LeftOut() {
				return &i
			}
		}
	}
	return index
}
