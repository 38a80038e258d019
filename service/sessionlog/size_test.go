package sessionlog_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// interrupted is a store in which something is done, once, after messages were read.
type interrupted struct {
	storage.Store
	then func()
}

func (i *interrupted) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	messages, err := i.Store.Messages(ctx, ref, start, end, maxBytes)
	if then := i.then; then != nil {
		i.then = nil
		then()
	}
	return messages, err
}

// A log whose beginning an earlier version wrote has no size before it is measured: an append must not read it. What is
// appended while it is read counts too.
func TestMeasureALogThatGrows(t *testing.T) {
	t.Parallel()
	store := &interrupted{Store: memory.New()}
	logs := logsWithASession(t, store)
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	more := func() {
		text := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "some text"}},
		}}}
		require.NoError(t, logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) {
			w := logs.Begin(row)
			return w, w.Appender(counter).Append(t.Context(), []*compactordv1.Message{text, text}, nil)
		}))
	}
	row := func() *storagev1.Session {
		row, err := store.Session(t.Context(), "", "s")
		require.NoError(t, err)
		return row
	}
	// requireMeasured compares the size with what is read.
	requireMeasured := func() {
		t.Helper()
		size, now := 0, row()
		messages, err := store.Store.Messages(t.Context(), storage.RefOf(now), 0, 1000, 0)
		require.NoError(t, err)
		for _, m := range messages {
			size += proto.Size(m)
		}
		records, err := store.Records(t.Context(), storage.RefOf(now), 0, 1000, 0)
		require.NoError(t, err)
		for _, r := range records {
			size += proto.Size(r)
		}
		require.Equal(t, size, int(now.GetLogBytes()))
	}
	more()
	requireMeasured()

	old := row()
	old.Revision, old.LogBytes = old.GetRevision()+1, 0
	require.NoError(t, store.Commit(t.Context(), &storage.Commit{Session: old}))
	more()
	require.Zero(t, row().GetLogBytes())
	kept, err := logs.Kept(t.Context())
	require.NoError(t, err)
	require.Equal(t, sessionlog.Kept{Sessions: 1, Unmeasured: 1}, kept)

	store.then = more
	require.NoError(t, logs.Measure(t.Context()))
	requireMeasured()
	before := row()
	require.NoError(t, logs.Measure(t.Context()))
	require.Equal(t, before.GetRevision(), row().GetRevision(), "it is measured once")
	more()
	requireMeasured()
	kept, err = logs.Kept(t.Context())
	require.NoError(t, err)
	require.Equal(t, sessionlog.Kept{Sessions: 1, LogBytes: int64(row().GetLogBytes())}, kept)

	// A size that is not that of the log is found.
	wrong := row()
	wrong.Revision, wrong.LogBytes = wrong.GetRevision()+1, wrong.GetLogBytes()+1
	require.NoError(t, store.Commit(t.Context(), &storage.Commit{Session: wrong}))
	problems, err := sessionlog.Check(t.Context(), store, "")
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].What, "its row says")
}
