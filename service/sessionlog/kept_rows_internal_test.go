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
		k.put(name, &storagev1.Session{SessionId: "a", Title: title[:i<<14]}, false, 0)
		k.put(name, &storagev1.Session{SessionId: "b", Title: title[:i<<15]}, true, 0)
		require.LessOrEqual(t, k.bytes, keptRowBytes)
		require.Equal(t, "b", k.byName[name].row.GetSessionId())
	}
	require.Less(t, len(k.byName), 20, "others took their room")
	for name := range k.byName {
		require.True(t, k.take(name).alone)
		require.Nil(t, k.take(name).row)
	}
	require.Zero(t, k.bytes)
	k.put("large", &storagev1.Session{Title: strings.Repeat(title, keptRowBytes>>20)}, true, 0)
	require.Empty(t, k.byName)

	k.put("grows", &storagev1.Session{Revision: measureRowEvery - 1, Title: title[:100]}, true, 0)
	kept := k.take("grows")
	k.put("grows", &storagev1.Session{Revision: measureRowEvery, Title: title[:1000]}, true, kept.bytes)
	require.Equal(t, kept.bytes+timesItsEncoding*(1000-100+1), k.take("grows").bytes, "it is measured again, with a longer length")
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
	k.put("s", row, true, 0)
	require.True(t, proto.Equal(want, k.take("s").row))
}
