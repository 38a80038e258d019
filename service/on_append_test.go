package service_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
)

const truncated = compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT

// truncating returns a policy that truncates results when they are appended.
func truncating(maxChars uint32) *compactordv1.Policy {
	return &compactordv1.Policy{OnAppend: listOf(&compactordv1.Strategy{
		Kind: &compactordv1.Strategy_TruncateToolOutputs{TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{
			MaxChars: proto.Uint32(maxChars),
		}},
	})}
}

// offloading returns a policy that offloads results of more tokens when they are appended.
func offloading(overTokens uint32) *compactordv1.Policy {
	return &compactordv1.Policy{OnAppend: listOf(&compactordv1.Strategy{
		Kind: &compactordv1.Strategy_Offload{Offload: &compactordv1.OffloadStrategy{
			OverTokens: proto.Uint32(overTokens), PreviewChars: proto.Uint32(20),
		}},
	})}
}

func resultTextOf(m *compactordv1.Message) string {
	var b strings.Builder
	for _, rp := range m.GetParts()[0].GetToolResult().GetParts() {
		b.WriteString(rp.GetText().GetText())
	}
	return b.String()
}

// reads returns a turn that reads a file of that many characters.
func reads(id string, chars int) []*compactordv1.Message {
	return []*compactordv1.Message{
		user("Read " + id + "."), assistant("I do.", call(id, "read", `{"path":"`+id+`.go"}`)),
		toolResult(id, strings.Repeat("x", chars)), assistant("Done."),
	}
}

// An arrival edit is in the first view that has the result, and in every later one. The log has the result in full.
func TestResultsHaveArrivalEdits(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", truncating(100))
	d.append("s", reads("a", 4000)[:2]...)
	token := d.tokenOf("s")
	whole := strings.Repeat("x", 4000)
	report := d.append("s", toolResult("a", whole), assistant("Done.")).GetReport()

	view := d.view("s")
	shown := view[2]
	require.Equal(t, []compactordv1.EditKind{truncated}, shown.GetEdits())
	require.True(t, strings.HasPrefix(resultTextOf(shown.GetMessage()), whole[:100]+"\n"), "%v", shown)
	require.Less(t, len(resultTextOf(shown.GetMessage())), 300)
	require.Equal(t, tokensOf(view), report.GetTokens())
	require.Equal(t, shown.GetTokens(), report.GetPrunableTokens(), "what is left can still be hidden")
	delta, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: token,
	})
	require.NoError(t, err)
	require.Equal(t, uint32(2), delta.GetUnchangedPrefix())
	requireSameBytes(t, view[2:], delta.GetMessages())

	// The log has it in full, and says how it is shown.
	l := d.messages("s")[2]
	require.Equal(t, whole, resultTextOf(l.GetMessage()))
	require.Equal(t, uint32(1000), l.GetTokens())
	require.Len(t, l.GetArrivalEdits(), 1)
	require.Equal(t, resultTextOf(shown.GetMessage()), l.GetArrivalEdits()[0].GetReplacement())
	require.Equal(t, 1000-shown.GetTokens(), l.GetArrivalEdits()[0].GetTokensFreed())
	require.Equal(t, whole, d.recall(recallOf(2)).GetText())
	require.Equal(t, whole, d.recall(recallBy(resultTextOf(shown.GetMessage()))).GetText())
	hits, _ := d.search(searchWords(strings.Repeat("x", 1000)))
	require.Len(t, hits, 1)
	require.Equal(t, []compactordv1.EditKind{truncated}, hits[0].GetEdits())

	// A pin shows it in full, and an unpin as before.
	pinned := d.pinned(t, 2)
	require.Equal(t, tokensOf(view)-shown.GetTokens()+1000, pinned.GetTokens())
	require.Equal(t, whole, resultTextOf(d.view("s")[2].GetMessage()))
	hits, _ = d.search(searchWords(strings.Repeat("x", 1000)))
	require.Empty(t, hits[0].GetEdits())
	unpinned, err := d.sessions.UnpinMessages(t.Context(), &compactordv1.UnpinMessagesRequest{SessionId: "s", Indexes: []uint32{2}})
	require.NoError(t, err)
	require.Equal(t, report.GetTokens(), unpinned.GetReport().GetTokens())
	requireSameBytes(t, view, d.view("s"))
	d.requireSound(t)
}

func (d *daemon) tokenOf(id string) string {
	d.t.Helper()
	answer, err := d.compactions.GetLLMView(d.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
	})
	require.NoError(d.t, err)
	return answer.GetViewToken()
}

func (d *daemon) pinned(t *testing.T, indexes ...uint32) *compactordv1.ContextReport {
	t.Helper()
	answer, err := d.sessions.PinMessages(t.Context(), &compactordv1.PinMessagesRequest{SessionId: "s", Indexes: indexes})
	require.NoError(t, err)
	return answer.GetReport()
}

// The policy of that time decides about arrival edits. A later policy changes nothing in any view, fork or revert, and
// neither does a restart.
func TestArrivalEditsStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	d.create("s", truncating(100))
	d.append("s", reads("a", 4000)...)
	first := d.view("s")
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: &compactordv1.Policy{},
	})
	require.NoError(t, err)
	changed := d.session("s").GetSession().GetPoint()
	d.append("s", reads("b", 4000)...)
	view := d.view("s")
	requireSameBytes(t, first, view[:4])
	require.Len(t, resultTextOf(view[6].GetMessage()), 4000, "under the policy of now results arrive whole")

	d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "f"})
	requireSameBytes(t, view, d.view("f"))
	require.True(t, proto.Equal(d.messages("s")[2], d.messages("f")[2]))
	d.revert(toPoint(changed))
	requireSameBytes(t, first, d.view("s"))
	d.revert(undo())
	requireSameBytes(t, view, d.view("s"))
	d.requireSound(t)
	d.stop()

	again := start(t, withStore(openStore(t, path)))
	requireSameBytes(t, view, again.view("s"))
	requireSameBytes(t, view, again.view("f"))
}

// A stray result is quoted or left out, so it gets no arrival edit.
func TestStrayResultsHaveNoArrivalEdits(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", truncating(100))
	aborted := assistant("I read.", call("v", "read", "{}"))
	aborted.StopReason = compactordv1.StopReason_STOP_REASON_ABORTED
	d.append("s", user("u"), toolResult("stray", strings.Repeat("x", 4000)), aborted,
		toolResult("v", strings.Repeat("x", 4000)))
	require.Empty(t, d.messages("s")[1].GetArrivalEdits())
	require.Empty(t, d.messages("s")[3].GetArrivalEdits())
	require.Equal(t, uint32(1), d.view("s")[1].GetLogRepair().GetIndex())
	d.requireSound(t)
}

// Imported conversations and inline histories are treated the same.
func TestImportedResultsHaveArrivalEdits(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.Policies.Default = truncating(100) })
	d.create("s", nil)
	messages := append(reads("a", 4000), reads("b", 4000)...)
	messages[0] = user(strings.Repeat("Read a. ", 200))
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: messages,
		ImportedRecords: []*compactordv1.ImportedRecord{importedCheckpoint(1, "within"), importedCompaction(8, 4, "s")},
	})
	require.NoError(t, err)
	require.Len(t, d.messages("s")[2].GetArrivalEdits(), 1)
	kept := d.view("s")
	require.NotEmpty(t, kept[0].GetSummaryOf())
	require.Equal(t, []compactordv1.EditKind{truncated}, kept[3].GetEdits())
	d.requireSound(t)

	history := &compactordv1.InlineHistory{Messages: messages}
	view, err := d.compactions.GetLLMView(t.Context(), historyTarget(history))
	require.NoError(t, err)
	require.Equal(t, []compactordv1.EditKind{truncated}, view.GetMessages()[6].GetEdits())
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_History{History: history},
		Policy: truncating(50), DryRun: true,
	})
	require.NoError(t, err)
	require.Less(t, pruned.GetReport().GetTokens(), tokensOf(view.GetMessages()), "the request's policy holds for it")
}

// reading counts the reads of logs.
type reading struct {
	storage.Store
	messages atomic.Int64
}

func (r *reading) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	r.messages.Add(1)
	return r.Store.Messages(ctx, ref, start, end, maxBytes)
}

// Appends read nothing of the log, unless a result needs its call: then they read the call's message, once.
func TestAppendsReadNoMoreThanCalls(t *testing.T) {
	t.Parallel()
	store := &reading{Store: openStore(t, filepath.Join(t.TempDir(), "store.db"))}
	d := start(t, withStore(store))
	d.create("plain", &compactordv1.Policy{OnAppend: listOf()})
	policy := truncating(100)
	policy.OnUserMessage = listOf(hideOld())
	d.create("s", policy)
	two := assistant("I read.", call("a", "read", "{}"), call("b", "read", "{}"))
	for _, each := range []struct {
		session  string
		messages []*compactordv1.Message
		reads    int64
	}{
		{"plain", []*compactordv1.Message{user("u"), two}, 0},
		{"plain", []*compactordv1.Message{toolResult("a", "x"), toolResult("b", "x")}, 0},
		{"plain", []*compactordv1.Message{user("u")}, 0},
		{"s", []*compactordv1.Message{system("careful"), two}, 0},
		{"s", []*compactordv1.Message{toolResult("a", "x"), toolResult("b", "x")}, 1},
		{"s", []*compactordv1.Message{assistant("done"), two, toolResult("a", "x"), toolResult("b", "x")}, 0},
	} {
		before := store.messages.Load()
		d.append(each.session, each.messages...)
		require.Equal(t, each.reads, store.messages.Load()-before, "%s: %d messages", each.session, len(each.messages))
	}
}

func TestStrategiesThatOnAppendAndOnUserMessageRefuse(t *testing.T) {
	t.Parallel()
	d := start(t)
	for field, policy := range map[string]*compactordv1.Policy{
		"policy.on_append.strategies[1]": {OnAppend: listOf(append(truncating(1).GetOnAppend().GetStrategies(), hideOld())...)},
		"policy.on_user_message.strategies[0]": {OnUserMessage: listOf(&compactordv1.Strategy{
			Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}},
		})},
		"policy.on_user_message.strategies[1]": {OnUserMessage: listOf(hideOld(), &compactordv1.Strategy{
			Kind: &compactordv1.Strategy_FirstEffective{FirstEffective: &compactordv1.FirstEffectiveStrategy{
				Strategies: []*compactordv1.Strategy{small(1).GetStrategy()},
			}},
		})},
	} {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
		info := requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
		require.Equal(t, field, info.GetMetadata()["field"])
	}
}

// Some lines that were asked for are not offloaded: the call is looked up in the request, or else in the log.
func TestPartialReadsAreNotOffloadedOnArrival(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", offloading(100))
	part, whole := call("part", "read", `{"path":"a.go","offset":7,"limit":20}`), call("whole", "read", `{"path":"a.go"}`)
	lines := strings.Repeat("a line of the file\n", 100)
	results := []*compactordv1.Message{toolResult("whole", lines), toolResult("part", lines)}
	d.append("s", append([]*compactordv1.Message{user("u"), assistant("I read.", part, whole)}, results...)...)
	d.append("s", assistant("Once more.", part, whole))
	d.append("s", results...)
	for _, index := range []uint32{2, 5} {
		require.Len(t, d.messages("s")[index].GetArrivalEdits(), 1, "%d", index)
		require.Empty(t, d.messages("s")[index+1].GetArrivalEdits(), "%d", index+1)
	}
	shown := d.view("s")[2]
	require.Equal(t, []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT}, shown.GetEdits())
	require.Equal(t, lines, d.recall(recallBy(resultTextOf(shown.GetMessage()))).GetText())
	d.requireSound(t)
}
