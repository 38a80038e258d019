package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestUnknownSessionsAndNames(t *testing.T) {
	t.Parallel()
	d := start(t)
	ctx := t.Context()
	_, err := d.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: "none"})
	info := requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	require.Equal(t, "none", info.GetMetadata()["session_id"])
	_, err = d.compact(compactRequest("none", nil))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	_, err = d.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: "none"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")

	d.create("s", nil)
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s"})
	requireReason(t, err, codes.AlreadyExists, "SESSION_EXISTS")
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{Preset: proto.String("nobody")},
	})
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	require.ErrorContains(t, err, "default")
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("nobody")}},
	})
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	require.ErrorContains(t, err, "extractive")
	_, err = d.compactions.GetCompaction(ctx, &compactordv1.GetCompactionRequest{SessionId: "s", CompactionId: "none"})
	requireReason(t, err, codes.NotFound, "COMPACTION_NOT_FOUND")
}

// Seed cases 32 and 41: a reserve that leaves nothing of the window is refused, naming the field.
func TestReserveAtOrAboveTheWindowIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(1000)},
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
	require.ErrorContains(t, err, "reserve_tokens")
	policy.Trigger.ReserveTokens = proto.Uint32(999)
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	require.NoError(t, err)
}

func TestUpdateSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	ctx := t.Context()
	answer, err := d.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("labels", "policy"), Labels: map[string]string{"team": "blue"},
		Title: "not in the mask", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(1000)},
	})
	require.NoError(t, err)
	require.Equal(t, "blue", answer.GetSession().GetLabels()["team"])
	require.Empty(t, answer.GetSession().GetTitle())
	require.Equal(t, uint32(1000), answer.GetSession().GetResolvedPolicy().GetContextWindow())
	require.Equal(t, uint32(250), answer.GetSession().GetResolvedPolicy().GetTrigger().GetReserveTokens())
	require.NotNil(t, d.lastRecord("s").GetPolicyChange())
	_, err = d.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{SessionId: "s", UpdateMask: mask("uid")})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "update_mask.paths[0]")
}

func TestListSessionsByLabelAndPage(t *testing.T) {
	t.Parallel()
	d := start(t)
	ctx := t.Context()
	for i := range 25 {
		_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
			SessionId: fmt.Sprintf("s%02d", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)},
		})
		require.NoError(t, err)
	}
	var ids []string
	req := &compactordv1.ListSessionsRequest{PageSize: 4, Labels: map[string]string{"odd": "1"}}
	for {
		page, err := d.sessions.ListSessions(ctx, req)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.GetSessions()), 4)
		for _, s := range page.GetSessions() {
			ids = append(ids, s.GetSessionId())
		}
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	require.Len(t, ids, 12)
	require.True(t, slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }), "newest first: %v", ids)

	d.append("s03", user("hello"))
	page, err := d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{
		PageSize: 1, Order: compactordv1.SessionOrder_SESSION_ORDER_CHANGED,
	})
	require.NoError(t, err)
	require.Equal(t, "s03", page.GetSessions()[0].GetSessionId())
	_, err = d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{PageToken: "made up"})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}

// The transcript shows everything with its state; the dialogue only what user and assistant said on the active path.
func TestTranscriptAndDialogue(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	point := d.append("s", user("to be put aside")).GetPoint() - 1
	_, err = d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	require.NoError(t, err)
	d.append("s", user("the last"))
	_, err = d.sessions.CreateCheckpoint(t.Context(), &compactordv1.CreateCheckpointRequest{SessionId: "s", Announce: true})
	require.NoError(t, err)

	states := make(map[compactordv1.MessageState]int)
	logged := d.messages("s")
	for i, l := range logged {
		require.Equal(t, uint32(i), l.GetIndex())
		states[l.GetState()]++
	}
	require.Len(t, logged, 44)
	require.Equal(t, 1, states[compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE])
	require.Positive(t, states[compactordv1.MessageState_MESSAGE_STATE_COVERED])
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, logged[0].GetState(), "the leading run is never covered")

	dialogue, err := d.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{
		SessionId: "s", Listing: compactordv1.MessageListing_MESSAGE_LISTING_DIALOGUE, PageSize: 1000,
	})
	require.NoError(t, err)
	require.Len(t, dialogue.GetMessages(), 31, "the announcement of a checkpoint is nothing that the user said")
	for _, l := range dialogue.GetMessages() {
		require.Contains(t, []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT},
			l.GetMessage().GetRole())
		for _, p := range l.GetMessage().GetParts() {
			require.NotNil(t, p.GetText())
		}
	}
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
	var entries []*compactordv1.CompactionEntry
	req := &compactordv1.ListCompactionsRequest{SessionId: "s", PageSize: 2}
	for {
		page, err := d.compactions.ListCompactions(t.Context(), req)
		require.NoError(t, err)
		entries = append(entries, page.GetCompactions()...)
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	require.Len(t, entries, 3)
	for i, entry := range entries[:2] {
		require.Equal(t, entries[i+1].GetId(), entry.GetPreviousEntryId())
		require.Equal(t, entries[i+1].GetFirstKeptIndex(), entry.GetSummarized().GetStart(),
			"seed case 75: the range begins where the entry before left off")
		one, err := d.compactions.GetCompaction(t.Context(), &compactordv1.GetCompactionRequest{
			SessionId: "s", CompactionId: entry.GetId(),
		})
		require.NoError(t, err)
		require.True(t, proto.Equal(entry, one.GetCompaction()))
	}
}

// Tool outputs of many megabytes go in, and come out in pages that clients with the usual limits can take.
func TestLargeToolOutputs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	large := strings.Repeat("All work and no play. ", 9<<20/22)
	d.append("s", user("read it"), assistant("", call("1", "read", `{"path":"x"}`)))
	answer := d.append("s", toolResult("1", large))
	require.Greater(t, answer.GetReport().GetViewBytes(), uint32(9<<20))
	d.append("s", user("thanks"))
	view := d.view("s")
	require.Len(t, view, 4)
	require.Equal(t, large, view[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText())
	page, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
	})
	require.NoError(t, err)
	require.Len(t, page.GetMessages(), 2, "the answer ends before it passes the limit")
	require.True(t, page.GetHasMore())
}

// Messages that only the daemon writes are refused, and nothing of the request is stored.
func TestOriginsOfTheDaemonAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	future := user("from the future")
	future.Origin = compactordv1.Origin_ORIGIN_FUTURE
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("fine"), future},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "messages[1].origin")
	require.Empty(t, d.messages("s"))
}

// Seed case 41: opencode in a window that its answer fills was taken, and silently never due.
func TestCase041OpencodeWithNothingUsableIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := &compactordv1.Policy{
		Preset: proto.String("opencode"), ContextWindow: proto.Uint32(8_000), MaxOutputTokens: proto.Uint32(8_000),
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
	require.ErrorContains(t, err, "policy.max_output_tokens: of the 8000 tokens that a request can hold")
	policy.MaxOutputTokens = proto.Uint32(7_999)
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s", Policy: policy})
	require.NoError(t, err)
	policy.MaxOutputTokens = proto.Uint32(8_000)
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
}
