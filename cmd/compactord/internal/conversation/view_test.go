package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reading is what a reader of a view was given.
type reading struct {
	begun, pages int
	texts        []string
	// between is called after each page.
	between func()
}

func (r *reading) Begin(*compactordv1.ContextReport) { r.begun, r.texts = r.begun+1, nil }

func (r *reading) Add(messages []*compactordv1.ViewMessage) {
	for _, m := range messages {
		r.texts = append(r.texts, m.GetMessage().GetParts()[0].GetText().GetText())
	}
	r.pages++
	r.between()
}

// manyPages opens a session whose view takes many pages, each message of which begins with its index.
func manyPages(t *testing.T) *conversation.Conversation {
	t.Helper()
	client, err := new(api.App).EmbedInMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	client.PageBytes = 64 << 10
	c := &conversation.Conversation{Client: client, Session: "s"}
	_, err = c.Create(t.Context(), nil)
	require.NoError(t, err)
	var messages []*compactordv1.Message
	for n := range 40 {
		messages = append(messages, &compactordv1.Message{
			Role: []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT}[n%2],
			Parts: []*compactordv1.Part{{
				Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat(fmt.Sprint(n, " "), 5000)}},
			}},
		})
	}
	_, err = c.Sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: messages})
	require.NoError(t, err)
	return c
}

// revert reverts the session to a point.
func revert(t *testing.T, c *conversation.Conversation, point uint32) {
	t.Helper()
	_, err := c.Sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	require.NoError(t, err)
}

// A view that is read page by page is what it is as a whole, also where it changes between two pages.
func TestReadViewPageByPage(t *testing.T) {
	c := manyPages(t)
	requireRead := func(r *reading) {
		t.Helper()
		report, _, err := c.ReadView(t.Context(), r)
		require.NoError(t, err)
		v, err := c.View(t.Context())
		require.NoError(t, err)
		whole := &reading{between: func() {}}
		whole.Add(v.Messages)
		require.Equal(t, whole.texts, r.texts)
		require.Equal(t, v.Report.GetTokens(), report.GetTokens())
		require.Greater(t, r.pages, 3)
	}
	r := &reading{between: func() {}}
	requireRead(r)
	require.Equal(t, 1, r.begun)

	v, err := c.View(t.Context())
	require.NoError(t, err)
	var whole, printed strings.Builder
	v.Print(&whole)
	begun := 0
	require.NoError(t, c.PrintView(t.Context(), &printed, func() { begun++ }))
	require.Equal(t, whole.String(), printed.String())
	require.Equal(t, 1, begun)

	changing := &reading{}
	changing.between = func() {
		if changing.pages == 2 {
			revert(t, c, 35)
		}
	}
	requireRead(changing)
	require.Equal(t, 2, changing.begun)

	lines := &writing{}
	lines.first = func() { revert(t, c, 30) }
	err = c.PrintView(t.Context(), lines, func() {})
	require.ErrorIs(t, err, conversation.ErrViewChanged)
	require.Positive(t, lines.bytes)
	require.Less(t, lines.bytes, printed.Len(), "the second reading was written, too")
}

// writing counts what is written, and calls first before that.
type writing struct {
	first func()
	bytes int
	text  strings.Builder
}

func (w *writing) Write(b []byte) (int, error) {
	if w.bytes == 0 {
		w.first()
	}
	w.bytes += len(b)
	w.text.Write(b)
	return len(b), nil
}
