package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
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

// Thinking that the view already leaves out frees nothing.
func TestDropThinkingThatIsShown(t *testing.T) {
	t.Parallel()
	l := newLog()
	l.policy = &compactordv1.Policy{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum()}
	l.script("U H100 U H100 U")
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())

	l = newLog().script("U H100 U H100 U")
	// A change of the messages before them has removed the thinking of both from the view.
	l.commit(&plan{Edits: []*compactordv1.Edit{{Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING}}}, "")
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())
}

func TestDropThinkingLeavesAlone(t *testing.T) {
	t.Parallel()
	l := newLog().script("U H100 H100 U H0")
	l.pin(1)
	require.Equal(t, []uint32{2}, indexesOf(planned(t, l, keepThinking(0))), "neither what is pinned nor what is empty")

	// The thinking of an open group stays, even if no turn is kept.
	l = newLog().script("U")
	open := l.message("H", 100, "")
	open.Parts = append(open.Parts, l.calls(5, "a")...)
	l.add(open)
	require.Equal(t, nothing, planned(t, l, keepThinking(0)).GetSkipReason())
	l.script("R:a")
	require.Equal(t, []uint32{1}, indexesOf(planned(t, l, keepThinking(0))))
}

// thought appends a message with thinking parts of these tokens. 0 means redacted thinking with bytes in its
// attachments.
func (l *testLog) thought(text string, tokens ...int) {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
	for _, n := range tokens {
		p := &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{
			Text: textOf(n), Redacted: n == 0,
		}}}
		if n == 0 {
			p.Attachments = []*compactordv1.Attachment{{Key: "data", Json: `"` + textOf(1000) + `"`}}
		}
		m.Parts = append(m.GetParts(), p)
	}
	m.Parts = append(m.GetParts(), session.TextPart(text))
	l.add(m)
}

// All thinking of a message is dropped or none. Redacted thinking, which counts no tokens, is dropped together with
// other thinking. Alone it is dropped if the view has too many bytes.
func TestDropThinkingDropsWhatWasRedacted(t *testing.T) {
	t.Parallel()
	log := func() *testLog {
		l := newLog().script("U")
		l.thought("hello", 100, 0, 50)
		l.script("U")
		l.thought("hello", 0)
		return l.script("U A")
	}
	l := log()
	made := planned(t, l, keepThinking(1))
	var parts, freed []uint32
	for _, e := range made.GetEdits() {
		require.Equal(t, uint32(1), e.GetIndex())
		parts, freed = append(parts, e.GetPart()), append(freed, e.GetTokensFreed())
	}
	require.Equal(t, []uint32{0, 1, 2}, parts)
	require.Equal(t, []uint32{100, 0, 50}, freed)
	requireConverged(t, l, made, keepThinking(1))

	l = log()
	l.policy = &compactordv1.Policy{Trigger: &compactordv1.Trigger{MaxViewBytes: proto.Uint32(8000)}}
	made = planned(t, l, keepThinking(1))
	require.Equal(t, []uint32{1, 1, 1, 3}, indexesOf(made))
	requireConverged(t, l, made, keepThinking(1))
}
