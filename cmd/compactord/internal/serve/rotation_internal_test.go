package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/storagetest"
)

// ringOf returns a ring of keys that follow from their ids.
func ringOf(t *testing.T, ids ...string) *keyring.Ring {
	t.Helper()
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id+"+"), 32)[:32]) + "\n")
	}
	ring, err := keyring.Parse([]byte(text.String()))
	require.NoError(t, err)
	return ring
}

// A rotation waits while there is too little room on the disk, which is logged once, and goes on once there is room.
func TestRotationWaitsForRoom(t *testing.T) {
	t.Parallel()
	store, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{Keys: ringOf(t, "a")})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.CreateSession(t.Context(), &storagetest.NewSession("", "s", "u").Text("x").Commit))
	var log bytes.Buffer
	low := true
	r := newRotation(store, ringOf(t, "a"), func(int) (func(), error) {
		if low {
			return nil, &storage.DiskError{Cause: storage.DiskLow, Err: &diskroom.LowError{Free: 1, Limit: 2}}
		}
		return func() {}, nil
	}, slog.New(slog.NewTextHandler(&log, nil)))
	changed, err := r.use(t.Context(), ringOf(t, "a"))
	require.NoError(t, err)
	require.False(t, changed)
	changed, err = r.use(t.Context(), ringOf(t, "b", "a"))
	require.NoError(t, err)
	require.True(t, changed)
	for range 2 {
		again, err := r.rotate(t.Context())
		require.ErrorIs(t, err, storage.ErrFull)
		require.True(t, again)
	}
	const waits = "sealing anew waits for room on the disk"
	require.Equal(t, 1, strings.Count(log.String(), waits))
	require.Equal(t, 1, store.Statistics().OlderKeys)

	low = false
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.run(ctx) }()
	for store.Statistics().OlderKeys > 0 {
		require.NoError(t, t.Context().Err())
	}
	stop()
	require.NoError(t, <-ended)
	require.Contains(t, log.String(), "the store needs its older keys no longer")
	require.NotContains(t, log.String(), "level=ERROR")
}
