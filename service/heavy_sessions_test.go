package service_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// rowCounter is a store that counts how often rows of sessions are read.
type rowCounter struct {
	storage.Store

	read atomic.Int64
}

func (c *rowCounter) Session(ctx context.Context, tenant, id string) (*storagev1.Session, error) {
	c.read.Add(1)
	return c.Store.Session(ctx, tenant, id)
}

// An append reads the session's row no more than it needs itself: twice, until the daemon knows that it writes there alone, and
// not at all then, whether the last append has left the session light or heavy. It is read once more where that is not known.
func TestAppendsReadTheirRowNoMore(t *testing.T) {
	t.Parallel()
	store := &rowCounter{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", &compactordv1.Policy{OnUserMessage: listOf(hideAll().GetPruneStrategy())})
	reads := func(text string) int64 {
		before := store.read.Load()
		d.append("s", user(text))
		return store.read.Load() - before
	}
	require.EqualValues(t, 2, reads("the first"))
	require.EqualValues(t, 1, reads("the second"))
	require.EqualValues(t, 0, reads("the third"))
	reads(strings.Repeat("text ", 220_000))
	require.EqualValues(t, 0, reads("behind much"))
	_, err := d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.EqualValues(t, 0, reads("behind nothing"))
	require.EqualValues(t, 0, reads("and once more"))
}
