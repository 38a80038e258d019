package sessionlog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage/memory"
)

// The newest messages are those that a naive reading of the whole log finds, and little more is read than they have.
func TestNewestMessages(t *testing.T) {
	t.Parallel()
	const largest = 3 << 19
	rapid.Check(t, func(rt *rapid.T) {
		disk := &readSizes{Store: memory.New()}
		logs := logsWithASession(rt, disk)
		// Enough for several reads, and some that are too large for one.
		kinds := rapid.SampledFrom([][]int{{0, 10, 5000}, {0, 5000, 200_000, largest}, {largest}}).Draw(rt, "kinds")
		count := rapid.SampledFrom([]int{1, 5, 40, 80}).Draw(rt, "count")
		sizes := rapid.SliceOfN(rapid.SampledFrom(kinds), count, count).Draw(rt, "sizes")
		var all []*compactordv1.LoggedMessage
		require.NoError(rt, logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) {
			w := logs.Begin(row)
			for _, size := range sizes {
				l, err := w.AppendOwn(t.Context(), &compactordv1.Message{
					Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
						Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", size)}},
					}},
				})
				if err != nil {
					return nil, err
				}
				all = append(all, l)
			}
			return w, nil
		}))
		row, err := logs.Row(t.Context(), "s")
		require.NoError(rt, err)
		head := withGap(rt, row.GetHead(), uint32(len(all)))
		start := rapid.Uint32Range(0, uint32(len(all))).Draw(rt, "start")
		end := rapid.Uint32Range(start, uint32(len(all))).Draw(rt, "end")
		bytes := rapid.SampledFrom([]int{0, 1, 6000, 1 << 20, 4 << 20}).Draw(rt, "bytes")

		disk.all = 0
		newest, err := logs.NewestMessages(t.Context(), row, head, start, end, bytes)
		require.NoError(rt, err)
		require.Less(rt, disk.all/4, bytes+4<<20)
		var indexes []uint32
		for _, m := range newest {
			indexes = append(indexes, m.GetIndex())
		}
		var wanted []uint32
		left := bytes
		for i := int(end) - 1; i >= int(start) && left > 0; i-- {
			if !session.ActiveIndex(head, uint32(i)) {
				continue
			}
			if left -= proto.Size(all[i]); left < 0 {
				break
			}
			wanted = append(wanted, uint32(i))
		}
		slices.Reverse(wanted)
		require.Equal(rt, wanted, indexes)
	})
}

// withGap returns a head in which a revert has put aside some of the messages.
func withGap(rt *rapid.T, h *storagev1.Head, messages uint32) *storagev1.Head {
	gone := proto.CloneOf(h)
	first := rapid.Uint32Range(0, messages).Draw(rt, "first put aside")
	last := rapid.Uint32Range(first, messages).Draw(rt, "last put aside")
	if first == last || len(gone.GetActive()) != 1 {
		return gone
	}
	before, after := proto.CloneOf(gone.GetActive()[0]), proto.CloneOf(gone.GetActive()[0])
	before.EndIndex, after.FirstIndex = first, last
	gone.Active = nil
	for _, run := range []*storagev1.ActiveRange{before, after} {
		if run.GetFirstIndex() < run.GetEndIndex() {
			gone.Active = append(gone.Active, run)
		}
	}
	return gone
}
