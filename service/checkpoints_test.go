package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

// checkpoints returns all checkpoints of session s, read in pages.
func (d *daemon) checkpoints(pageSize uint32) []*compactordv1.Record {
	d.t.Helper()
	var all []*compactordv1.Record
	req := &compactordv1.ListRecordsRequest{
		SessionId: "s", PageSize: pageSize,
		Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT},
	}
	for {
		page, err := d.sessions.ListRecords(d.t.Context(), req)
		require.NoError(d.t, err)
		require.LessOrEqual(d.t, len(page.GetRecords()), int(pageSize))
		all = append(all, page.GetRecords()...)
		if page.GetNextPageToken() == "" {
			return all
		}
		require.Len(d.t, page.GetRecords(), int(pageSize))
		req.PageToken = page.GetNextPageToken()
	}
}

// Checkpoints are listed by id, including those that a revert put aside, however many other records are between them.
func TestListCheckpoints(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	require.Empty(t, d.checkpoints(1))
	d.append("s", user("first"))
	kept := d.checkpoint("s", false)
	for range 130 {
		d.revert(toPoint(d.session("s").GetSession().GetPoint()))
	}
	d.append("s", user("second"))
	aside := d.checkpoint("s", true)
	d.revert(toCheckpoint(kept.GetId()))
	newest := d.checkpoint("s", false)

	want := []struct {
		checkpoint *compactordv1.Checkpoint
		putAside   bool
		nextIndex  uint32
	}{
		{checkpoint: kept, nextIndex: 1},
		{checkpoint: aside, putAside: true, nextIndex: 3},
		{checkpoint: newest, nextIndex: 3},
	}
	for pageSize := uint32(1); pageSize < 5; pageSize++ {
		listed := d.checkpoints(pageSize)
		require.Len(t, listed, len(want))
		for i, c := range listed {
			require.True(t, proto.Equal(want[i].checkpoint, c.GetCheckpoint()))
			require.Equal(t, want[i].putAside, c.GetPutAside())
			require.Equal(t, want[i].nextIndex, c.GetNextIndex())
			require.NotNil(t, c.GetCreatedAt())
		}
	}
	require.Equal(t, uint32(3), d.session("s").GetSession().GetLastCheckpoint())
	_, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s", PageToken: "cg"})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
	page, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s", PageSize: 1})
	require.NoError(t, err)
	_, err = d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{
		SessionId: "s", NewestFirst: true, PageToken: page.GetNextPageToken(),
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}

// More checkpoints than one read returns are listed without a gap.
func TestListManyCheckpoints(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	const many = 205
	for range many {
		d.checkpoint("s", false)
	}
	for _, pageSize := range []uint32{90, 1000} {
		listed := d.checkpoints(pageSize)
		require.Len(t, listed, many)
		for i, c := range listed {
			require.Equal(t, uint32(i+1), c.GetCheckpoint().GetId())
		}
	}
}

// An announcement would close the open calls, so it has to wait for their results.
func TestAnnouncementWhileCallsAreOpen(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("", call("a", "read", `{}`), call("b", "read", `{}`)), toolResult("a", "x"))
	d.requireUnchanged(t, func() {
		_, err := d.sessions.CreateCheckpoint(t.Context(), &compactordv1.CreateCheckpointRequest{SessionId: "s", Announce: true})
		info := requireReason(t, err, codes.FailedPrecondition, "TOOL_CALLS_OPEN")
		require.Equal(t, "b", info.GetMetadata()["call_ids"])
	})
	require.Equal(t, uint32(1), d.checkpoint("s", false).GetId(), "without one it need not")
	d.append("s", toolResult("b", "y"))
	require.Equal(t, uint32(4), d.checkpoint("s", true).GetMarkerIndex())
	marker := user("of my own")
	marker.Origin = compactordv1.Origin_ORIGIN_MARKER
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{marker},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// Seed case 67: announcements are not counted among the messages or turns that a compaction keeps.
func TestCase067MarkersAreNotCounted(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]*compactordv1.SummarizeStrategy{
		"messages": {RecentMessages: proto.Uint32(2)}, "turns": {RecentTurns: proto.Uint32(1)},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", &compactordv1.Policy{Strategy: &compactordv1.Strategy{
				Kind: &compactordv1.Strategy_Summarize{Summarize: keep},
			}})
			d.append("s", working(4, 3000)...)
			d.checkpoint("s", true)
			d.append("s", user("the request"), assistant("the answer"))
			d.checkpoint("s", true)
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			view := d.view("s")
			require.Equal(t, "the request", textOf(view[len(view)-3].GetMessage()))
			require.Len(t, view, 5, "rules, summary, request, answer, announcement")
		})
	}
}

// Seed case 179: after Clear the leading messages stay in the view, the log keeps everything, and checkpoint ids go on.
func TestCase179ClearKeepsTheLog(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", append([]*compactordv1.Message{system("More rules.")}, working(5, 2000)...)...)
	d.checkpoint("s", true)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	logged, before := d.messages("s"), d.view("s")
	toRules := &compactordv1.ClearSessionRequest{SessionId: "s"}
	answer, err := d.sessions.ClearSession(t.Context(), toRules)
	require.NoError(t, err)
	require.Equal(t, uint32(21), answer.GetMessagesPutAside())
	require.Equal(t, answer.GetRecord().GetSequence(), answer.GetPoint())
	require.Equal(t, []uint32{0, 1}, indexes(d.view("s")))
	require.Equal(t, tokensOf(d.view("s")), answer.GetReport().GetTokens())
	for i, l := range d.messages("s") {
		require.True(t, proto.Equal(logged[i].GetMessage(), l.GetMessage()))
	}
	d.requireUnchanged(t, func() {
		again, err := d.sessions.ClearSession(t.Context(), toRules)
		require.NoError(t, err)
		require.Nil(t, again.GetRecord())
		require.Equal(t, answer.GetPoint(), again.GetPoint())
		require.True(t, proto.Equal(answer.GetReport(), again.GetReport()))
	})
	require.Equal(t, uint32(2), d.checkpoint("s", false).GetId())
	d.revert(undo())
	requireSameView(t, before, d.view("s"))

	d.create("bare", nil)
	d.append("bare", user("no rules"))
	bare, err := d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "bare"})
	require.NoError(t, err)
	require.Zero(t, bare.GetRecord().GetRevert().GetPoint(), "the empty session")
	require.Equal(t, uint32(1), bare.GetMessagesPutAside())
	d.requireSound(t)
}

// Seed case 180: a compaction that has nothing to do writes nothing.
func TestCase180NothingToCompactWritesNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("u"), assistant("a"))
	d.requireUnchanged(t, func() {
		events, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
		require.NotNil(t, last(t, events).GetSkipped())
	})
}

// Seed case 181: after a compaction the context is as full as its new view, which is not empty.
func TestCase181FillAfterACompaction(t *testing.T) {
	t.Parallel()
	d := start(t, withSummarizer(&scripted{name: "paid", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := faithful(ctx, req, p)
		if err == nil {
			s.Usage = &compactordv1.Usage{InputTokens: 900, OutputTokens: 20}
		}
		return s, err
	}}))
	d.create("s", by("paid", noFallback, small(300)))
	d.append("s", working(2, 4000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Positive(t, last(t, events).GetCompleted().GetCompaction().GetProvenance().GetUsage().GetOutputTokens())
	report := d.session("s").GetReport()
	require.Equal(t, tokensOf(d.view("s")), report.GetTokens())
	require.Positive(t, report.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, report.GetSource())
}

// Seed cases 182 and 183: an unknown checkpoint is an error; a known one keeps itself and everything before it.
func TestCase182And183RevertToCheckpoints(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", system("rules"), user("first"))
	one := d.checkpoint("s", false)
	d.append("s", user("second"))
	two := d.checkpoint("s", true)
	d.append("s", user("third"))

	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), toCheckpoint(3))
		requireReason(t, err, codes.NotFound, "CHECKPOINT_NOT_FOUND")
	})
	d.revert(toCheckpoint(two.GetId()))
	require.Equal(t, []uint32{0, 1, 2, 3}, indexes(d.view("s")))
	d.revert(toCheckpoint(one.GetId()))
	require.Equal(t, []uint32{0, 1}, indexes(d.view("s")))
	d.revert(toCheckpoint(one.GetId()))
	require.Equal(t, uint32(3), d.checkpoint("s", false).GetId())
}

// Seed cases 185 and 192: a compaction does not affect an earlier checkpoint; going back to it undoes the compaction.
func TestCase185And192CheckpointBeforeACompaction(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(3, 2000)...)
	checkpoint := d.checkpoint("s", true)
	want := d.view("s")
	d.append("s", working(5, 2000)[1:]...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotContains(t, indexes(d.view("s")), checkpoint.GetMarkerIndex(), "the compaction covers the announcement")
	require.Equal(t, uint32(2), d.checkpoint("s", false).GetId())
	d.revert(toCheckpoint(checkpoint.GetId()))
	requireSameView(t, want, d.view("s"))
	require.Empty(t, d.session("s").GetSession().GetCompactionId())
}

// Seed case 190: without announcements the model sees nothing of checkpoints, but they exist.
func TestCase190CheckpointsWithoutAnnouncements(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("first"))
	before := d.view("s")
	checkpoint := d.checkpoint("s", false)
	require.Nil(t, checkpoint.MarkerIndex)
	require.Equal(t, "before the risk", checkpoint.GetTitle())
	require.Equal(t, d.session("s").GetSession().GetPoint(), checkpoint.GetPoint())
	requireSameView(t, before, d.view("s"))
	require.Len(t, d.messages("s"), 1)
}

// Seed case 191: a revert changes what the model sees and nothing else; the message says so.
func TestCase191FilesAreNotReverted(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("write it"))
	checkpoint := d.checkpoint("s", false)
	d.append("s", touching("w", "write", "main.go")...)
	req := toCheckpoint(checkpoint.GetId())
	req.MessageFromFuture = "It is written already."
	d.revert(req)
	view := d.view("s")
	require.Contains(t, textOf(view[len(view)-1].GetMessage()), "Files and the outside world were not reverted")
}

// Seed case 194: an unknown session is NOT_FOUND, an empty one has an empty view, and an existing one is not created
// again.
func TestCase194EmptySessions(t *testing.T) {
	t.Parallel()
	d := start(t)
	_, err := d.compactions.GetLLMView(t.Context(), viewRequest())
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	d.create("s", nil)
	require.Empty(t, d.view("s"))
	d.create("other", nil)
	d.append("other", user("from elsewhere"))
	d.append("s", user("what is there"))
	d.requireUnchanged(t, func() {
		for _, from := range []string{"s", "other"} {
			_, err = d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: from, NewSessionId: "s"})
			requireReason(t, err, codes.AlreadyExists, "SESSION_EXISTS")
		}
		_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
		requireReason(t, err, codes.AlreadyExists, "SESSION_EXISTS")
	})
}

// Seed case 234: taking back a turn goes to the point before its request, and returns the request's index, so that the
// user can edit and send it again.
func TestCase234TakingBackATurn(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", working(3, 100)...)
	d.checkpoint("s", true)
	d.append("s", user("mistyped"), assistant("what?"))
	answer := d.revert(turnsBack(1))
	require.Equal(t, "mistyped", textOf(d.messages("s")[answer.GetFirstRequestPutAside()].GetMessage()))
	require.Equal(t, span(0, 14), indexes(d.view("s")), "the announcement before it stays")
	d.append("s", user("typed well"))
	require.Equal(t, []uint32{13, 16}, indexes(d.view("s"))[13:])
}
