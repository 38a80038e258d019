package sessionlog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// readSizes notes the bytes of messages that reads return: of the largest one, and of all.
type readSizes struct {
	storage.Store
	most, all int
}

func (r *readSizes) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	messages, err := r.Store.Messages(ctx, ref, start, end, maxBytes)
	bytes := 0
	for _, m := range messages {
		bytes += proto.Size(m)
	}
	r.most, r.all = max(r.most, bytes), r.all+bytes
	return messages, err
}

// The head at a point is computed from a few messages at a time, however many the log has since the last record.
func TestHeadAtReadsInPieces(t *testing.T) {
	t.Parallel()
	disk := &readSizes{Store: memory.New()}
	logs := logsWithASession(t, disk)
	heads := map[uint32]*storagev1.Head{}
	require.NoError(t, logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) {
		w := logs.Begin(row)
		for range 12 {
			l, err := w.AppendOwn(t.Context(), &compactordv1.Message{
				Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
					Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", 1<<20)}},
				}},
			})
			if err != nil {
				return nil, err
			}
			heads[l.GetSequence()] = proto.CloneOf(w.Head())
		}
		return w, nil
	}))
	row, err := logs.Row(t.Context(), "s")
	require.NoError(t, err)
	for point, want := range heads {
		disk.most = 0
		got, err := logs.HeadAt(t.Context(), row, point)
		require.NoError(t, err)
		require.True(t, proto.Equal(want, got), "point %d", point)
		require.LessOrEqual(t, disk.most, 4<<20, "point %d", point)
	}
}
