package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// appended is a session with so many messages, pages of whose view are of 64 KiB.
func appended(t *testing.T, messages int) *conversation.Conversation {
	t.Helper()
	client, err := new(api.App).EmbedInMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	client.PageBytes = 64 << 10
	c := &conversation.Conversation{Client: client, Session: "s"}
	_, err = c.Create(t.Context(), nil)
	require.NoError(t, err)
	for n := range messages {
		appendText(t, c, strings.Repeat(fmt.Sprint(n, " <&> "), 2000))
	}
	return c
}

func appendText(t *testing.T, c *conversation.Conversation, text string) {
	t.Helper()
	_, err := c.Sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
				Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}},
			}},
		}},
	})
	require.NoError(t, err)
}

// writingOnce calls first before the first write.
type writingOnce struct {
	strings.Builder
	first func()
}

func (w *writingOnce) Write(b []byte) (int, error) {
	if w.Len() == 0 {
		w.first()
	}
	return w.Builder.Write(b)
}

// The messages are printed page by page, and the document is the one that it is as a whole.
func TestJSONOfAViewPageByPage(t *testing.T) {
	for messages, pages := range map[int]int{0: 1, 1: 1, 40: 2} {
		c := appended(t, messages)
		v, err := c.View(t.Context())
		require.NoError(t, err)
		f, err := figuresOfView(t.Context(), c)
		require.NoError(t, err)
		require.GreaterOrEqual(t, f.pages, pages)
		var want, got strings.Builder
		require.NoError(t, terminal.PrintJSON(&want, struct {
			figuresJSON
			View []terminal.APIJSON `json:"view"`
		}{f.json(c), terminal.APIList(v.Messages)}))
		require.NoError(t, f.printWithView(t.Context(), &got, c))
		require.Equal(t, want.String(), got.String())
	}
}

// Figures and messages are of one view: of one page also where the session has got more since, else there is none.
func TestJSONOfAViewThatChanges(t *testing.T) {
	c := appended(t, 1)
	f, err := figuresOfView(t.Context(), c)
	require.NoError(t, err)
	appendText(t, c, "later")
	var out strings.Builder
	require.NoError(t, f.printWithView(t.Context(), &out, c))
	require.NotContains(t, out.String(), "later")

	c = appended(t, 40)
	f, err = figuresOfView(t.Context(), c)
	require.NoError(t, err)
	appendText(t, c, "later")
	require.ErrorIs(t, f.printWithView(t.Context(), &out, c), conversation.ErrViewChanged)

	f, err = figuresOfView(t.Context(), c)
	require.NoError(t, err)
	w := &writingOnce{first: func() { appendText(t, c, "meanwhile") }}
	require.ErrorIs(t, f.printWithView(t.Context(), w, c), conversation.ErrViewChanged)
	require.Positive(t, w.Len(), "it is written before all of it is read")
}
