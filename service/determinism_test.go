package service_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/memory"
)

// childStore is set in a child of the test process to the store whose views it prints.
const childStore = "COMPACTORD_TEST_CHILD_STORE"

// printViews prints a digest of the view at each point of each session.
func printViews(path string) int {
	store, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	digest, err := digestViews(context.Background(), store)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := os.Stdout.WriteString(digest); err != nil {
		return 1
	}
	if err := store.Close(); err != nil {
		return 1
	}
	return 0
}

func digestViews(ctx context.Context, store storage.Store) (string, error) {
	rows, _, err := store.Sessions(ctx, storage.SessionQuery{Limit: 1000})
	if err != nil {
		return "", err
	}
	var all bytes.Buffer
	for _, row := range rows {
		for point := range row.GetHead().GetNextSequence() {
			head, err := sessionlog.New(sessionlog.Options{Store: store}).HeadAt(ctx, row, point)
			if err != nil {
				return "", err
			}
			state, err := sessionlog.New(sessionlog.Options{Store: store}).State(ctx, row, head)
			if err != nil {
				return "", err
			}
			h := sha256.New()
			for _, vm := range state.View(session.ViewOptions{}).Messages {
				h.Write(sessiontest.Bytes(vm))
			}
			fmt.Fprintf(&all, "%s %d %x\n", row.GetSessionId(), point, h.Sum(nil))
		}
	}
	return all.String(), nil
}

// I7: the same log gives the same views in another process, after a restart and from another store.
func TestViewsAreTheSameElsewhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	d.create("s", small(1500))
	d.append("s", working(8, 1500)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	d.append("s", working(6, 1500)[1:]...)
	_, err = d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	_, err = d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 40},
	})
	require.NoError(t, err)
	d.append("s", working(3, 500)[1:]...)

	here, err := digestViews(t.Context(), d.store)
	require.NoError(t, err)
	elsewhere, err := digestViews(t.Context(), copyOf(t, d.store, "s"))
	require.NoError(t, err)
	require.Equal(t, here, elsewhere, "another store")
	d.stop()

	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childStore+"="+path)
	printed, err := child.Output()
	require.NoError(t, err)
	require.Equal(t, here, string(printed), "another process")
}

// copyOf writes a session's log into a store of another kind.
func copyOf(t *testing.T, from storage.Store, id string) storage.Store {
	t.Helper()
	ctx := t.Context()
	row, err := from.Session(ctx, "", id)
	require.NoError(t, err)
	ref := storage.RefOf(row)
	messages, err := from.Messages(ctx, ref, 0, row.GetHead().GetNextIndex(), 0)
	require.NoError(t, err)
	records, err := from.Records(ctx, ref, 0, row.GetHead().GetNextSequence(), 0)
	require.NoError(t, err)
	to := memory.New()
	first := proto.CloneOf(row)
	first.Revision, first.Head = 1, records[0].GetHead()
	require.NoError(t, to.CreateSession(ctx, &storage.Commit{
		Session: first, Records: []*storagev1.StoredRecord{records[0]},
	}))
	second := proto.CloneOf(row)
	second.Revision = 2
	require.NoError(t, to.Commit(ctx, &storage.Commit{Session: second, Messages: messages, Records: records[1:]}))
	return to
}
