package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The transcript lists all messages with their states, the dialogue only what user and assistant said in active ones.
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
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, logged[0].GetState(), "the leading messages are never covered")

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

// Tool results of many megabytes are accepted, and come back in pages that clients with the usual limits can receive.
func TestLargeToolOutputs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{OnAppend: listOf()})
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

// Origins that only the daemon uses are refused, and nothing of the request is stored.
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
