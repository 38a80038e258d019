package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func keepThinking(turns uint32) *compactordv1.Strategy {
	return dropping(&compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(turns)})
}

func TestDropThinkingOfAllButTheNewestTurns(t *testing.T) {
	t.Parallel()
	l := newLog().script("U H100 U H100 C H100 U H100")
	for turns, want := range map[uint32][]uint32{0: {1, 3, 5, 7}, 1: {1, 3, 5}, 2: {1}, 3: nil, 9: nil} {
		require.Equal(t, want, indexesOf(planned(t, l, keepThinking(turns))), "%d turns", turns)
	}
	made := planned(t, l, dropping(nil))
	require.Equal(t, []uint32{1, 3, 5}, indexesOf(made))
	require.Equal(t, uint32(100), made.GetEdits()[0].GetTokensFreed())
	requireConverged(t, l, made, dropping(nil))
}

// Thinking that the view leaves out already frees nothing.
func TestDropThinkingThatIsShown(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.policy = &compactordv1.Policy{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum()}
	l.script("U H100 U H100 U")
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())

	l = newLog().script("U H100 U H100 U")
	// What was changed before them has taken the thinking of both out of the view.
	l.commit(&plan{Edits: []*compactordv1.Edit{{Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING}}}, "")
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())
}

func TestDropThinkingLeavesAlone(t *testing.T) {
	t.Parallel()
	l := newLog().script("U H100 H100 U H0")
	l.pin(1)
	require.Equal(t, []uint32{2}, indexesOf(planned(t, l, keepThinking(0))), "neither what is pinned nor what is empty")

	// The thinking of a group that still waits for results is left, also where no turn is kept.
	l = newLog().script("U")
	open := l.message("H", 100, "")
	open.Parts = append(open.Parts, l.calls(5, "a")...)
	l.add(open)
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())
	l.script("R:a")
	require.Equal(t, []uint32{1}, indexesOf(planned(t, l, keepThinking(0))))
}
