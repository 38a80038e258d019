package sessionlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Rows that are kept never pass their bytes, and what is taken is no longer there.
func TestKeptRowsStayWithinTheirBytes(t *testing.T) {
	t.Parallel()
	var k keptRows
	title := strings.Repeat("x", 1<<20)
	for i := range 20 {
		name := Name(fmt.Sprint(i))
		k.put(name, &storagev1.Session{SessionId: "a", Title: title[:i<<14]}, false)
		k.put(name, &storagev1.Session{SessionId: "b", Title: title[:i<<15]}, true)
		require.LessOrEqual(t, k.bytes, keptRowBytes)
		require.Equal(t, "b", k.byName[name].row.GetSessionId())
	}
	require.Less(t, len(k.byName), 20, "others took their room")
	others := len(k.byName)
	k.put("large", &storagev1.Session{Title: strings.Repeat(title, keptRowBytes>>20)}, true)
	require.Len(t, k.byName, others, "one that is too large takes no room from others")
	for name := range k.byName {
		require.True(t, k.take(name).alone)
		require.Nil(t, k.take(name).row)
	}
	require.Zero(t, k.bytes)
}

// A row is kept without its policies.
func TestKeptRowsHaveNoPolicies(t *testing.T) {
	t.Parallel()
	row := &storagev1.Session{
		SessionId: "s", Labels: map[string]string{"a": "b"}, Head: &storagev1.Head{NextIndex: 7},
		Policy: &compactordv1.Policy{}, ResolvedPolicy: &compactordv1.Policy{},
	}
	want := proto.CloneOf(row)
	want.Policy, want.ResolvedPolicy = nil, nil
	var k keptRows
	k.put("s", row, true)
	require.True(t, proto.Equal(want, k.take("s").row))
}
