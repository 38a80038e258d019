package service_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/testing/protocmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// requireGrammar asserts the rules of every event stream: numbers count from 1, one operation, `started` at most once
// and first, exactly one end and nothing after it, stages in order, and progress that never falls and reaches its
// total.
func requireGrammar(t testing.TB, events []*compactordv1.CompactionEvent) {
	t.Helper()
	require.NotEmpty(t, events)
	var ends, starts int
	progress := make(map[compactordv1.CompactionStage]uint32)
	stage := compactordv1.CompactionStage_COMPACTION_STAGE_UNSPECIFIED
	attempt := uint32(1)
	for i, e := range events {
		require.Equal(t, uint32(i+1), e.GetNumber())
		require.Equal(t, events[0].GetOperationId(), e.GetOperationId())
		require.NotNil(t, e.GetTime())
		require.Zero(t, ends, "an event after the end")
		switch k := e.GetEvent().(type) {
		case *compactordv1.CompactionEvent_Started:
			starts++
			require.Zero(t, i, "started comes first")
		case *compactordv1.CompactionEvent_Progress:
			require.GreaterOrEqual(t, k.Progress.GetStage(), stage, "stages go back")
			stage = k.Progress.GetStage()
			require.GreaterOrEqual(t, k.Progress.GetDone(), progress[stage])
			require.LessOrEqual(t, k.Progress.GetDone(), k.Progress.GetTotal())
			progress[stage] = k.Progress.GetDone()
		case *compactordv1.CompactionEvent_SummaryDelta:
			require.GreaterOrEqual(t, k.SummaryDelta.GetAttempt(), attempt)
			attempt = k.SummaryDelta.GetAttempt()
		case *compactordv1.CompactionEvent_Heartbeat:
		case *compactordv1.CompactionEvent_Skipped, *compactordv1.CompactionEvent_Planned:
			ends++
		default:
			ends++
			require.Equal(t, 1, starts, "an end without a start")
		}
	}
	require.Equal(t, 1, ends, "exactly one end")
	if last(t, events).GetCompleted() != nil {
		for _, s := range []compactordv1.CompactionStage{
			compactordv1.CompactionStage_COMPACTION_STAGE_PLAN, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT,
		} {
			require.Positive(t, progress[s], "stage %s", s)
		}
	}
}

// lastAttemptText joins the deltas of the last attempt.
func lastAttemptText(events []*compactordv1.CompactionEvent) string {
	var text string
	var attempt uint32
	for _, e := range events {
		if d := e.GetSummaryDelta(); d != nil {
			if d.GetAttempt() != attempt {
				attempt, text = d.GetAttempt(), ""
			}
			text += d.GetText()
		}
	}
	return text
}

func requireSameView(t testing.TB, want, got []*compactordv1.ViewMessage) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got, protocmp.Transform()))
}

func (d *daemon) records(id string) []*compactordv1.Record {
	d.t.Helper()
	return d.listRecords(&compactordv1.ListRecordsRequest{SessionId: id, PageSize: 7})
}

// listCompactions returns the compaction entries of a session, newest first.
func (d *daemon) listCompactions(id string) []*compactordv1.CompactionEntry {
	d.t.Helper()
	var entries []*compactordv1.CompactionEntry
	for _, r := range d.listRecords(&compactordv1.ListRecordsRequest{
		SessionId: id, PageSize: 2, NewestFirst: true,
		Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_COMPACTION},
	}) {
		entries = append(entries, r.GetCompaction())
	}
	return entries
}

// listRecords reads all records, page by page.
func (d *daemon) listRecords(req *compactordv1.ListRecordsRequest) []*compactordv1.Record {
	d.t.Helper()
	var all []*compactordv1.Record
	for {
		answer, err := d.sessions.ListRecords(d.t.Context(), req)
		require.NoError(d.t, err)
		all = append(all, answer.GetRecords()...)
		if answer.GetNextPageToken() == "" {
			return all
		}
		req.PageToken = answer.GetNextPageToken()
	}
}

func (d *daemon) lastRecord(id string) *compactordv1.Record {
	d.t.Helper()
	all := d.records(id)
	return all[len(all)-1]
}

func (d *daemon) messages(id string) []*compactordv1.LoggedMessage {
	d.t.Helper()
	var all []*compactordv1.LoggedMessage
	req := &compactordv1.ListMessagesRequest{SessionId: id, PageSize: 100}
	for {
		answer, err := d.sessions.ListMessages(d.t.Context(), req)
		require.NoError(d.t, err)
		all = append(all, answer.GetMessages()...)
		if answer.GetNextPageToken() == "" {
			return all
		}
		req.PageToken = answer.GetNextPageToken()
	}
}

// ends counts the records that end started compactions.
func (d *daemon) ends(id string) (completed, attempts int) {
	d.t.Helper()
	for _, r := range d.records(id) {
		switch r.GetKind().(type) {
		case *compactordv1.Record_Compaction:
			completed++
		case *compactordv1.Record_Attempt:
			attempts++
		}
	}
	return completed, attempts
}

func indexes(view []*compactordv1.ViewMessage) []uint32 {
	var shown []uint32
	for _, vm := range view {
		if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok {
			shown = append(shown, o.Index)
		}
	}
	return slices.Clip(shown)
}
