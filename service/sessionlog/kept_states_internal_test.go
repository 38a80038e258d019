package sessionlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// stateOf returns a state with a few long messages.
func stateOf(messages int) *session.State {
	s := &session.State{Head: &storagev1.Head{NextIndex: uint32(messages)}, Outlines: &session.Outlines{Least: LeastOutlined}}
	for i := range messages {
		s.Kept = append(s.Kept, &compactordv1.LoggedMessage{
			Index: uint32(i), Message: &compactordv1.Message{Name: strings.Repeat("x", 1<<20)},
		})
	}
	return s
}

// What is kept never passes the limit, and what was used last is kept. A state that grew is counted like a new one.
func TestKeptStatesStayWithinTheirBytes(t *testing.T) {
	t.Parallel()
	var k keptStates
	for i := range 20 {
		uid := fmt.Sprint(i)
		k.put(uid, stateOf(2))
		k.put(uid, stateOf(3))
		require.LessOrEqual(t, k.bytes, keptStateBytes)
		require.NotNil(t, k.get(uid))
		require.NotNil(t, k.get("0"))
	}
	require.Nil(t, k.get("1"), "others took its room")
	require.Len(t, k.byUID, k.order.Len())

	var grown, whole keptStates
	for n := range 5 {
		grown.put("a", stateOf(n))
	}
	whole.put("a", stateOf(4))
	require.Equal(t, whole.bytes, grown.bytes)

	whole.put("a", stateOf(keptStateBytes>>20))
	require.Nil(t, whole.get("a"), "larger than all that is kept")
	require.Zero(t, whole.bytes)
	grown.remove("a")
	require.Zero(t, grown.bytes)
}
