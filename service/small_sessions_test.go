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

// An append to a session that the last one left small reads the session's row once. It is read once more where it is not
// known how large the view is, or where it was large.
func TestAppendsToSmallSessionsReadTheirRowOnce(t *testing.T) {
	t.Parallel()
	store := &rowCounter{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", nil)
	reads := func(text string) int64 {
		before := store.read.Load()
		d.append("s", user(text))
		return store.read.Load() - before
	}
	require.EqualValues(t, 2, reads("the first"))
	require.EqualValues(t, 1, reads("the second"))
	reads(strings.Repeat("text ", 120_000))
	require.EqualValues(t, 2, reads("behind much"))
	_, err := d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.EqualValues(t, 2, reads("behind nothing"))
	require.EqualValues(t, 1, reads("and once more"))
}
