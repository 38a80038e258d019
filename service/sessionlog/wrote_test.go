package sessionlog_test

import (
	"context"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// open is a store that writes, and then says that the disk has failed.
type open struct{ storage.Store }

func (o open) Commit(ctx context.Context, c *storage.Commit) error {
	if err := o.Store.Commit(ctx, c); err != nil {
		return err
	}
	return storage.NewDiskError(syscall.EIO)
}

func (o open) DeleteSession(ctx context.Context, tenant, id string) error {
	if err := o.Store.DeleteSession(ctx, tenant, id); err != nil {
		return err
	}
	return storage.NewDiskError(syscall.EIO)
}

// A write that may have taken effect in spite of its error wakes watchers as any other does. One that others have
// overtaken, or that finds nothing, does not.
func TestAWriteOfUnknownEffectWakesWatchers(t *testing.T) {
	woken := 0
	store := open{memory.New()}
	logs := sessionlog.New(sessionlog.Options{
		Store: store, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Wrote: func(sessionlog.Name) { woken++ },
	})
	w, err := logs.BeginSession(t.Context(), "s", compactordv1.Estimator_ESTIMATOR_UNSPECIFIED, nil, &compactordv1.Policy{})
	require.NoError(t, err)
	require.NoError(t, logs.Create(t.Context(), w))
	require.Zero(t, woken)
	err = logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) { return logs.Begin(row), nil })
	require.ErrorIs(t, err, storage.ErrDisk)
	require.Equal(t, 1, woken)
	_, err = logs.Delete(t.Context(), "s", nil)
	require.ErrorIs(t, err, storage.ErrDisk)
	require.Equal(t, 2, woken)
	_, err = logs.Delete(t.Context(), "s", nil)
	require.Error(t, err)
	require.Equal(t, 2, woken)
}
