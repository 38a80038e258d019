package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/summarizers"
)

// kept is a log that tests can read.
type kept struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(p)
}

func (k *kept) option() option {
	return func(o *service.ServerOptions) { o.Logger = slog.New(slog.NewJSONHandler(k, nil)) }
}

// lines returns the lines with this message so far.
func (k *kept) lines(t testing.TB, message string) []map[string]any {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []map[string]any
	for line := range strings.Lines(k.text.String()) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

func (k *kept) all() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// unreadable is a store whose messages a test can make unreadable.
type unreadable struct {
	storage.Store
	cause  error
	broken atomic.Bool
}

func (u *unreadable) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*compactordv1.LoggedMessage, error) {
	if u.broken.Load() {
		return nil, u.cause
	}
	return u.Store.Messages(ctx, ref, start, end, limit)
}

// For each failure by a bug or a damaged store, the log has the cause once, under the id that the client got.
func TestCausesAreLoggedUnderTheIdThatTheClientGets(t *testing.T) {
	t.Parallel()
	calls := map[string]func(*daemon) error{
		"revert": func(d *daemon) error {
			_, err := d.sessions.RevertToCheckpoint(d.t.Context(), toPoint(3))
			return err
		},
		"revert with a summary": func(d *daemon) error {
			_, err := d.sessions.RevertToCheckpoint(d.t.Context(), summarized(toPoint(3)))
			return err
		},
		"compact": func(d *daemon) error {
			_, err := d.compact(compactRequest("s", nil))
			return err
		},
	}
	for name, call := range calls {
		for _, cause := range []error{errors.New("the disk burns"), storage.ErrCorrupt} {
			t.Run(name+", "+cause.Error(), func(t *testing.T) {
				log := &kept{}
				store := &unreadable{Store: openStore(t, filepath.Join(t.TempDir(), "store.db")), cause: cause}
				d := start(t, withStore(store), log.option())
				d.create("s", small(1000))
				d.append("s", working(6, 3000)...)
				store.broken.Store(true)
				err := call(d)
				require.NotContains(t, err.Error(), "the disk burns")
				lines := log.lines(t, "call failed by a bug or a broken store")
				require.Len(t, lines, 1)
				require.Contains(t, lines[0]["error"], cause.Error())
				if !errors.Is(cause, storage.ErrCorrupt) {
					requireReason(t, err, codes.Internal, "INTERNAL")
					require.Contains(t, err.Error(), lines[0]["id"])
				}
			})
		}
	}
}

// Of a panic the log has the stack, and not the value, which may be from the conversation.
func TestPanicsLeaveTheirStack(t *testing.T) {
	t.Parallel()
	log := &kept{}
	d := start(t, log.option(),
		withHooks(service.Hooks{BeforePlan: func(context.Context) { panic("secret of the plan") }}),
		withSummarizer(&scripted{name: "buggy", do: func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			panic("secret of the summarizer")
		}}))
	d.create("s", by("buggy", noFallback, small(1000)))
	d.append("s", working(6, 3000)...)

	_, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Internal, "INTERNAL")
	_, err = d.sessions.RevertToCheckpoint(t.Context(), summarized(toPoint(3)))
	requireReason(t, err, codes.Internal, "INTERNAL")
	lines := log.lines(t, "panicked")
	require.Len(t, lines, 2)
	for i, who := range []string{"compaction", "summarizer buggy"} {
		require.Equal(t, who, lines[i]["who"])
		require.Contains(t, lines[i]["stack"], "TestPanicsLeaveTheirStack")
		require.Equal(t, "string", lines[i]["panic"])
	}
	require.NotContains(t, log.all(), "secret")
}
