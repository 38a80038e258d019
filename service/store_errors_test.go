package service_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// failing is a store whose commits fail when a test says so: all of them, or those that append to the log.
type failing struct {
	storage.Store
	with    atomic.Pointer[error]
	logOnly atomic.Bool
}

func (f *failing) Commit(ctx context.Context, c *storage.Commit) error {
	if err := f.with.Load(); err != nil && (!f.logOnly.Load() || len(c.Messages)+len(c.Records) > 0) {
		return *err
	}
	return f.Store.Commit(ctx, c)
}

// Each error of the store has its own status and reason, contains no path, and changes nothing.
func TestErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		err  error
		code codes.Code
	}{
		"LIMIT_EXCEEDED": {storage.ErrFull, codes.ResourceExhausted},
		"STORE_CORRUPT":  {storage.ErrCorrupt, codes.DataLoss},
		"SHUTTING_DOWN":  {storage.ErrClosed, codes.Unavailable},
		"STATE_CHANGED":  {storage.ErrConflict, codes.Aborted},
		"INTERNAL":       {fmt.Errorf("nobody foresaw this"), codes.Internal},
	} {
		t.Run(reason, func(t *testing.T) {
			store := &failing{Store: memory.New()}
			d := start(t, withStore(store))
			d.create("s", small(1000))
			d.append("s", working(8, 2000)...)
			before := d.view("s")

			err := fmt.Errorf("write /var/lib/secret/path: %w", c.err)
			store.with.Store(&err)
			_, got := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{user("lost?")},
			})
			requireReason(t, got, c.code, reason)
			require.NotContains(t, got.Error(), "secret")
			events, got := d.compact(compactRequest("s", nil))
			requireReason(t, got, c.code, reason)
			require.NotContains(t, got.Error(), "secret")
			require.Empty(t, events, "it does not start, and pays for nothing, where nothing can be written")
			store.logOnly.Store(true)
			events, got = d.compact(compactRequest("s", nil))
			requireReason(t, got, c.code, reason)
			require.NotContains(t, got.Error(), "secret")
			requireGrammar(t, events)

			store.with.Store(nil)
			requireSameView(t, before, d.view("s"))
			d.append("s", user("and on it goes"))
		})
	}
}
