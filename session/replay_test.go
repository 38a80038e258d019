package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// A compaction may replay what an earlier one covers: the head that it leaves counts it.
func TestReplayOfWhatWasCovered(t *testing.T) {
	w := newLog(user("12345678"), says("1"), says("2"), says("3"))
	compact(w, 1, "s")
	compactReplaying(w, 2, 0)
	require.Equal(t, []string{`user 0 out of place: "12345678"`, `assistant 2: "2"`, `assistant 3: "3"`}, drawn(w)[1:])
	require.Equal(t, uint32(2), w.Head.GetPinnedTokens())
	require.True(t, proto.Equal(w.State().WithMetrics(), w.Head))
}
