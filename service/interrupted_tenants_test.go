package service_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// attemptsOf returns the attempts in the log of a tenant's session.
func (d *tenants) attemptsOf(t *testing.T, name, id string) (attempts []*compactordv1.CompactionAttempt) {
	t.Helper()
	list := &compactordv1.ListRecordsRequest{SessionId: id}
	for {
		page, err := d.sessions.ListRecords(d.as(t.Context(), name), list)
		require.NoError(t, err)
		for _, r := range page.GetRecords() {
			if a := r.GetAttempt(); a != nil {
				attempts = append(attempts, a)
			}
		}
		if list.PageToken = page.GetNextPageToken(); list.GetPageToken() == "" {
			return attempts
		}
	}
}

// A compaction that a kill cut off is recorded in the session of its tenant, and in no session of the same name.
func TestKilledCompactionIsRecordedForItsTenant(t *testing.T) {
	t.Parallel()
	names := []string{"", "one", "two"}
	for _, whose := range names {
		path := filepath.Join(t.TempDir(), "store.db")
		reached, release := make(chan struct{}), make(chan struct{})
		free := sync.OnceFunc(func() { close(release) })
		defer free()
		store := openStore(t, path)
		d := startTenants(t, names, withStore(store), withHooks(service.Hooks{BeforeCommit: func(context.Context) {
			close(reached)
			<-release
		}}))
		for _, name := range names {
			ctx := d.as(t.Context(), name)
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s", Policy: small(1000)})
			require.NoError(t, err)
			_, err = d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: working(10, 2000)})
			require.NoError(t, err)
		}
		stream, err := d.compactions.Compact(d.as(t.Context(), whose), compactRequest("s", nil))
		require.NoError(t, err)
		<-reached
		row, err := store.Session(t.Context(), whose, "s")
		require.NoError(t, err)
		require.Len(t, row.GetRunning(), 1)
		image, err := os.ReadFile(path)
		require.NoError(t, err)
		free()
		require.NoError(t, drained(stream))

		left := filepath.Join(t.TempDir(), "left.db")
		require.NoError(t, os.WriteFile(left, image, 0o600))
		store = openStore(t, left)
		d = startTenants(t, names, withStore(store))
		// The session takes calls only once what was cut off is recorded.
		for _, name := range names {
			attempts := d.attemptsOf(t, name, "s")
			if name != whose {
				require.Empty(t, attempts, "of %q, recorded for %q", whose, name)
				continue
			}
			require.Len(t, attempts, 1, "of %q", whose)
			require.Equal(t, row.GetRunning()[0].GetOperationId(), attempts[0].GetProvenance().GetOperationId())
			require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempts[0].GetErrorReason())
		}
		after, err := store.Session(t.Context(), whose, "s")
		require.NoError(t, err)
		require.Empty(t, after.GetRunning())
	}
}
