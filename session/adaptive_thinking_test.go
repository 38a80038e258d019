package session_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

const adaptive = compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE

// Providers bind a thinking block to everything before it. So a view whose model thinks adaptively shows the thinking of a
// message only where it begins as the view that the message was made from.
func TestAdaptiveThinkingFollowsTheViewThatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	found := make(map[string]int)
	// What is rare by chance occurs in another round.
	for range 20 {
		rapid.Check(t, func(t *rapid.T) { adaptiveLog(t, found) })
		if t.Failed() || found[afterLost] > 0 {
			break
		}
	}
	t.Log(found)
	require.Positive(t, found[afterLost])
}

const afterLost = "shown after thinking of its tool loop that was lost"

// adaptiveLog writes a log under a policy that says ADAPTIVE, and checks the view after each step.
func adaptiveLog(t *rapid.T, found map[string]int) {
	g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
	policy := proto.CloneOf(g.W.Policy)
	policy.Thinking = adaptive.Enum()
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
	}})
	views := make(map[uint32][]*compactordv1.ViewMessage)
	for range sessiontest.Steps(t, 60) {
		g.Step(t)
		// A revert leaves such a change in force, and takes back what it made invalid.
		if session.ChangesView(policy, g.W.Policy) {
			return
		}
		view := g.W.State().View(session.ViewOptions{})
		require.False(t, view.Report.GetDisableThinking())
		views[g.W.Log.Newest()] = view.Messages
		requireMadeFrom(t, g, views, found)
	}
}

// requireMadeFrom checks the newest of the views, which are those of all points that steps ended with.
func requireMadeFrom(
	t *rapid.T, g *sessiontest.Generator, views map[uint32][]*compactordv1.ViewMessage, found map[string]int,
) {
	view, m := views[g.W.Log.Newest()], g.Model()
	shown := make(map[uint32]int)
	for i, vm := range view {
		if ofLog(vm) && vm.GetSummaryOf() == "" && vm.GetLogRepair() == nil && vm.GetFolded() == nil && thinks(vm.GetMessage()) {
			shown[vm.GetIndex()] = i
		}
	}
	lost := func(a *sessiontest.Active) bool {
		_, shows := shown[a.Index]
		return thinks(a.Message) && !shows
	}
	for index, at := range shown {
		a := m.Find(index)
		then, known := views[a.MadeFrom]
		// Blocks move and end with turns, which leaves the thinking of earlier turns as it is.
		if !known || slices.ContainsFunc(slices.Concat(then, view), showsBlock) {
			continue
		}
		found["shown"]++
		require.GreaterOrEqual(t, at, len(then), "message %d", index)
		sameView(t, then, view[:len(then)])
		loop := m.Loop(a)
		if slices.ContainsFunc(loop[:slices.Index(loop, a)], lost) {
			found[afterLost]++
		}
	}
}

func showsBlock(vm *compactordv1.ViewMessage) bool { return vm.GetContextBlock() != nil }
