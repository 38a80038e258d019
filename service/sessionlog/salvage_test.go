package sessionlog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/storagetest"
)

// damagedLog is a store in which one message and one record, and with them the ranges that have them, cannot be read:
// they are damaged, or the disk refuses them.
type damagedLog struct {
	storage.Store
	message, record uint32
	// as is the error.
	as error
}

func (d damagedLog) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	if start <= d.message && d.message < end {
		return nil, fmt.Errorf("%w: a message", d.as)
	}
	return d.Store.Messages(ctx, ref, start, end, maxBytes)
}

func (d damagedLog) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	found, err := d.Store.Records(ctx, ref, start, end, limit)
	for _, r := range found {
		if r.GetRecord().GetSequence() == d.record {
			return nil, fmt.Errorf("%w: a record", d.as)
		}
	}
	return found, err
}

// What is salvaged is the log up to the first damage, message for message, and sound.
func TestSalvageCopiesUpToTheFirstDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 30) {
			g.Step(t)
		}
		g.Message(t)
		sound := store(t, g.W, func(row *storagev1.Session, _ []*storagev1.StoredRecord) {
			row.Running = []*storagev1.RunningCompaction{{OperationId: "o", Opening: "before"}}
		})
		from := damagedLog{
			Store:   sound,
			as:      rapid.SampledFrom([]error{storage.ErrCorrupt, storage.NewDiskError(syscall.EIO)}).Draw(t, "error"),
			message: rapid.Uint32Range(0, uint32(len(g.W.Messages))).Draw(t, "message"),
			record:  rapid.Uint32Range(0, uint32(len(g.W.Log.Items))).Draw(t, "record"),
		}
		to := memory.New()
		got, err := sessionlog.Salvage(t.Context(), from, to, "", "s")
		require.NoError(t, err)

		end, index := uint32(0), uint32(0)
		for sequence, item := range g.W.Log.Items {
			if item.Record != nil && uint32(sequence) == from.record || item.Record == nil && index == from.message {
				break
			}
			if item.Record == nil {
				index++
			}
			end++
		}
		require.Equal(t, end == uint32(len(g.W.Log.Items)), got.Lost == nil)
		if end == 0 {
			_, err := to.Session(t.Context(), "", "s")
			require.ErrorIs(t, err, storage.ErrNotFound)
			return
		}
		row, err := to.Session(t.Context(), "", "s")
		require.NoError(t, err)
		require.Equal(t, end, row.GetHead().GetNextSequence())
		require.Equal(t, got.Messages, row.GetHead().GetNextIndex())
		require.Empty(t, row.GetRunning())
		ref := storage.RefOf(row)
		messages, err := to.Messages(t.Context(), ref, 0, 1<<31, 0)
		require.NoError(t, err)
		wanted, err := sound.Messages(t.Context(), ref, 0, got.Messages, 0)
		require.NoError(t, err)
		require.Len(t, messages, len(wanted))
		for i := range wanted {
			require.True(t, proto.Equal(wanted[i], messages[i]))
		}
		records, err := to.Records(t.Context(), ref, 0, 1<<31, 0)
		require.NoError(t, err)
		originals, err := sound.Records(t.Context(), ref, 0, end, 0)
		require.NoError(t, err)
		require.Len(t, records, len(originals))
		for i := range originals {
			require.True(t, proto.Equal(originals[i], records[i]))
		}
		problems, err := sessionlog.Check(t.Context(), to, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
}

// A session in which what is left cannot be counted, since its edits fit nothing, is lost; the others go on.
func TestSalvageOfASessionThatPanics(t *testing.T) {
	from, to := memory.New(), memory.New()
	d := storagetest.NewSession("", "s", "u").Text("one").Text("two").Text("three")
	require.NoError(t, from.CreateSession(t.Context(), &d.Commit))
	got, err := sessionlog.Salvage(t.Context(), damagedLog{Store: from, as: storage.ErrCorrupt, message: 2, record: 1 << 30}, to, "", "s")
	require.NoError(t, err)
	require.ErrorContains(t, got.Lost, "panicked with a runtime.boundsError")
	_, err = to.Session(t.Context(), "", "s")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// refusing is a store that refuses the second commit of a session.
type refusing struct {
	storage.Store
	as error
}

func (r refusing) Commit(context.Context, *storage.Commit) error { return r.as }

// A session that cannot be written is lost, and nothing of it is left; where the new store fails, all ends.
func TestSalvageOfASessionThatCannotBeWritten(t *testing.T) {
	for _, as := range []error{storage.ErrInvalid, storage.ErrConflict, storage.NewDiskError(syscall.ENOSPC), storage.ErrClosed} {
		from, to := memory.New(), memory.New()
		d := storagetest.NewSession("", "s", "u").Text(strings.Repeat("long ", 2<<20)).Text("more")
		require.NoError(t, from.CreateSession(t.Context(), &d.Commit))
		got, err := sessionlog.Salvage(t.Context(), from, refusing{Store: to, as: as}, "", "s")
		if errors.Is(as, storage.ErrDisk) || errors.Is(as, storage.ErrClosed) {
			require.ErrorIs(t, err, as)
			continue
		}
		require.NoError(t, err)
		require.ErrorIs(t, got.Lost, as)
		require.ErrorContains(t, got.Lost, "it cannot be written")
		require.Zero(t, got.Messages)
		require.Equal(t, uint32(2), got.Of)
		_, err = to.Session(t.Context(), "", "s")
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
}

// failingDisk is a store whose first record can be read together with others only, as one that a disk reads once.
type failingDisk struct{ damagedLog }

func (f failingDisk) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	if start == 0 && limit == 1 {
		return nil, storage.NewDiskError(syscall.EIO)
	}
	return f.damagedLog.Records(ctx, ref, start, end, limit)
}

// Where a disk does not read again what it has read of a session, that session is lost, and not the others.
func TestSalvageOfASessionThatCannotBeReadAgain(t *testing.T) {
	sound, to := memory.New(), memory.New()
	d := storagetest.NewSession("", "s", "u").Text("one").Text("two")
	require.NoError(t, sound.CreateSession(t.Context(), &d.Commit))
	from := failingDisk{damagedLog{Store: sound, as: storage.ErrCorrupt, message: 1, record: 1 << 31}}
	got, err := sessionlog.Salvage(t.Context(), from, to, "", "s")
	require.NoError(t, err)
	require.ErrorIs(t, got.Lost, syscall.EIO)
	require.ErrorContains(t, got.Lost, "cannot be read again")
	_, err = to.Session(t.Context(), "", "s")
	require.ErrorIs(t, err, storage.ErrNotFound)
}
