package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Pages of entries are not larger than plain gRPC stubs accept.
func TestPagesOfCompactionsStaySmall(t *testing.T) {
	inFull(t)
	t.Parallel()
	wordy := &scripted{name: "wordy", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := faithful(ctx, req, p)
		if err == nil {
			s.Text += "\n" + strings.Repeat("more ", 60_000)
		}
		return s, err
	}}
	d := start(t, withSummarizer(wordy))
	policy := by("wordy", noFallback, small(500))
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(200_000)
	d.create("s", policy)
	for range 16 {
		d.append("s", user(long(270_000)), assistant("fine"), user("next"), assistant(long(600)))
		_, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
	}
	seen := 0
	req := &compactordv1.ListRecordsRequest{
		SessionId: "s", PageSize: 1000, NewestFirst: true,
		Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_COMPACTION},
	}
	for {
		page, err := d.sessions.ListRecords(t.Context(), req)
		require.NoError(t, err)
		require.Less(t, proto.Size(page), 4<<20)
		seen += len(page.GetRecords())
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	completed, _ := d.ends("s")
	require.Equal(t, completed, seen)
	require.Greater(t, seen, 12, "more than fit into one page")
}

func TestCompactionsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(500))
	for range 3 {
		d.append("s", working(4, 3000)[1:]...)
		_, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
	}
	require.Empty(t, d.listRecords(&compactordv1.ListRecordsRequest{SessionId: "s", CompactionId: "none"}))
	entries := d.listCompactions("s")
	require.Len(t, entries, 3)
	for i, entry := range entries[:2] {
		require.Equal(t, entries[i+1].GetId(), entry.GetPreviousEntryId())
		require.Equal(t, entries[i+1].GetFirstKeptIndex(), entry.GetSummarized().GetStart(),
			"seed case 75: the range begins where the entry before left off")
		one := d.listRecords(&compactordv1.ListRecordsRequest{SessionId: "s", CompactionId: entry.GetId()})
		require.Len(t, one, 1)
		require.True(t, proto.Equal(entry, one[0].GetCompaction()))
	}
}
