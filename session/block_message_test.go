package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// A short block used to be replaced by a reference that was longer than the block.
func TestCutBlockIsShorterThanTheWholeBlock(t *testing.T) {
	t.Parallel()
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		b := &compactordv1.ContextBlock{Name: "plan", Parts: []*compactordv1.Part{
			session.TextPart(strings.Repeat("x", rapid.IntRange(1, 600).Draw(t, "characters"))),
		}}
		whole, cut := session.BlockMessage(counter, b, session.WholeBlock)
		require.False(t, cut)
		shown, cut := session.BlockMessage(counter, b, rapid.Uint32Range(0, 200).Draw(t, "limit"))
		if cut {
			require.Less(t, session.MessageTokens(counter, shown), session.MessageTokens(counter, whole))
		} else {
			require.Equal(t, whole, shown)
		}
	})
}

// Where nothing of a block is shown, its notice stood below an empty line.
func TestNoticeOfACutBlockStandsInItsFirstLine(t *testing.T) {
	t.Parallel()
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	b := &compactordv1.ContextBlock{Name: "plan", Parts: []*compactordv1.Part{session.TextPart(strings.Repeat("x", 900))}}
	shown, cut := session.BlockMessage(counter, b, 0)
	require.True(t, cut)
	text := shown.GetParts()[0].GetText().GetText()
	require.Contains(t, text, "<context_block name=\"plan\">\n[Not all of this block")
	shown, cut = session.BlockMessage(counter, b, 100)
	require.True(t, cut)
	require.Contains(t, shown.GetParts()[0].GetText().GetText(), "x\n[Not all of this block")
}
