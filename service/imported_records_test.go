package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

func importedCompaction(after, firstKept uint32, summary string) *compactordv1.ImportedRecord {
	return &compactordv1.ImportedRecord{AfterMessages: after, Kind: &compactordv1.ImportedRecord_Compaction{
		Compaction: &compactordv1.ImportedCompaction{
			Summary: summary, FirstKeptIndex: firstKept, Tool: "pi", TokensBefore: 4321,
			Files:     &compactordv1.FileLists{Read: []string{"tides.txt"}},
			CreatedAt: timestamppb.New(time.Date(2025, 12, 5, 0, 0, 0, 0, time.UTC)),
		},
	}}
}

func importedCheckpoint(after uint32, title string) *compactordv1.ImportedRecord {
	return &compactordv1.ImportedRecord{AfterMessages: after, Kind: &compactordv1.ImportedRecord_Checkpoint{
		Checkpoint: &compactordv1.ImportedCheckpoint{Title: title},
	}}
}

// Imported compactions are in force: the session's view is what the other tool sent next, and usage reports after them
// count.
func TestImportedCompactionsAreInForce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{ContextWindow: proto.Uint32(100_000)})
	messages := turnsWithTools(6)
	answered := messages[len(messages)-1]
	answered.Usage = &compactordv1.Usage{InputTokens: 700, OutputTokens: 10}
	answer, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: messages,
		ImportedRecords: []*compactordv1.ImportedRecord{
			importedCheckpoint(0, "before all"),
			importedCompaction(10, 9, "The first eight are told here."),
			importedCheckpoint(10, "after one"),
			// The source cut between call and result. The nearest valid place before is message 18.
			importedCompaction(20, 19, "All up to the fifth ship."),
		},
	})
	require.NoError(t, err)
	require.Empty(t, answer.GetFindings())
	require.Equal(t, uint32(710), answer.GetReport().GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, answer.GetReport().GetSource())

	view := d.view("s")
	require.NotEmpty(t, view[1].GetSummaryOf())
	require.Contains(t, view[1].GetMessage().GetParts()[0].GetText().GetText(), "All up to the fifth ship.")
	require.Equal(t, uint32(18), view[2].GetIndex())
	require.Len(t, view, 2+len(messages)-18)

	list := d.listCompactions("s")
	require.Len(t, list, 2)
	newest, oldest := list[0], list[1]
	require.Equal(t, oldest.GetId(), newest.GetPreviousEntryId())
	require.Equal(t, "pi", newest.GetImportedFrom())
	require.Equal(t, uint32(4321), newest.GetSourceTokensBefore())
	require.Equal(t, 2025, newest.GetCreatedAt().AsTime().Year())
	require.Equal(t, []string{"tides.txt"}, newest.GetFiles().GetRead())
	require.Equal(t, uint32(9), newest.GetSummarized().GetStart())
	require.Equal(t, uint32(18), newest.GetSummarized().GetEnd())
	require.Greater(t, newest.GetTokensBefore(), newest.GetTokensAfter())

	records, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s"})
	require.NoError(t, err)
	var checkpoints []uint32
	for _, r := range records.GetRecords() {
		if c := r.GetCheckpoint(); c != nil {
			checkpoints = append(checkpoints, c.GetId())
			require.Equal(t, r.GetSequence(), c.GetPoint(), "so that it stays in force after a revert to it")
		}
	}
	require.Equal(t, []uint32{1, 2}, checkpoints)
	problems, err := sessionlog.Check(t.Context(), d.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

// An imported summary is stored like any other: without secrets, unless the policy keeps them.
func TestImportedSummariesAreRedacted(t *testing.T) {
	t.Parallel()
	for _, redact := range []bool{true, false} {
		d := start(t)
		d.create("s", &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Redact: proto.Bool(redact)}})
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: turnsWithTools(6),
			ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(20, 18, "They use "+aToken+" there.")},
		})
		require.NoError(t, err)
		entry := d.listCompactions("s")[0]
		shown := textOf(d.view("s")[1].GetMessage())
		if !redact {
			require.Equal(t, "They use "+aToken+" there.", entry.GetSummary())
			require.Contains(t, shown, aToken)
			require.Zero(t, entry.GetProvenance().GetRedactions())
			continue
		}
		require.Regexp(t, `^They use \[REDACTED:[a-z-]+:[0-9a-f]{4}\] there\.$`, entry.GetSummary())
		require.NotContains(t, shown, aToken)
		require.Equal(t, uint32(1), entry.GetProvenance().GetRedactions())
	}
}

// Undo skips imported compactions: it undoes what was done here, however often it is called.
func TestUndoPassesOverImportedCompactions(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: turnsWithTools(6),
		ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(20, 18, "All up to the fifth ship.")},
	})
	require.NoError(t, err)
	imported := d.view("s")
	require.NotEmpty(t, imported[1].GetSummaryOf())
	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), undo())
		requireReason(t, err, codes.FailedPrecondition, "NOTHING_TO_REVERT")
	})
	d.pin("s", 2)
	pinned := d.view("s")
	d.revert(undo())
	requireSameView(t, imported, d.view("s"))
	d.revert(undo())
	requireSameView(t, pinned, d.view("s"))
}

func TestImportedCompactionsWithoutAPlaceOrGainAreLeftOutAndReported(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	answer, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: turnsWithTools(2),
		ImportedRecords: []*compactordv1.ImportedRecord{
			importedCompaction(4, 1, "Nothing stands before the first message."),
			importedCompaction(6, 5, strings.Repeat("tide ", 4000)),
		},
	})
	require.NoError(t, err)
	require.Len(t, answer.GetFindings(), 2)
	for i, at := range []uint32{3, 5} {
		require.Equal(t, "input.compaction-left-out", answer.GetFindings()[i].GetRule())
		require.Equal(t, at, answer.GetFindings()[i].GetMessage())
	}
	require.Empty(t, d.view("s")[1].GetSummaryOf())
}

func TestImportedRecordsOutOfPlaceAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	messages := turnsWithTools(1)
	for name, records := range map[string][]*compactordv1.ImportedRecord{
		"behind the end": {importedCheckpoint(6, "")},
		"falling":        {importedCheckpoint(3, ""), importedCheckpoint(2, "")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: messages, ImportedRecords: records,
			})
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			field := "imported_records[0].after_messages"
			if len(records) > 1 {
				field = "imported_records[1].after_messages"
			}
			require.True(t, namesField(status.Convert(err), field), "%v", err)
		})
	}
	require.Empty(t, d.view("s"))
}

// Seed case 81: for the next compaction, a summary from another tool counts as the one before, like one of the
// daemon's.
func TestCase081SummariesFromElsewhereServeAsTheLast(t *testing.T) {
	t.Parallel()
	const said = "All up to the fifth ship is told here."
	summary := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, said)
	for name, write := range map[string]func(d *daemon){
		"imported": func(d *daemon) {
			_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: turnsWithTools(6),
				ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(20, 17, summary)},
			})
			require.NoError(t, err)
		},
		"handed in": func(d *daemon) {
			d.append("s", turnsWithTools(6)...)
			own := &compactordv1.ClientPlan{Strategy: "theirs", FirstKeptIndex: proto.Uint32(17)}
			plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own})
			d.commitPlan(&compactordv1.CommitCompactionRequest{
				SessionId: "s", PlanToken: plan.GetPlanToken(), ClientPlan: own, Summary: summary,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			writer := &scripted{name: "writer", do: faithful}
			d := start(t, withSummarizer(writer))
			d.create("s", splitting(1))
			write(d)
			d.append("s", user("And the next ship?"), assistant("It leaves at noon."))
			entry := d.completed(nil)
			require.Equal(t, uint32(17), writer.seen()[0].Messages[0].GetIndex())
			require.Equal(t, summary, writer.seen()[0].PreviousSummary)
			require.Contains(t, entry.GetSummary(), said, "faithful takes it in")
		})
	}
}
