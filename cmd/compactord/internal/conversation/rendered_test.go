package conversation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// wholeDocument returns the document of a view in a dialect that is read at once.
func wholeDocument(t *testing.T, c *conversation.Conversation, d dialect.Dialect) string {
	t.Helper()
	answer, err := c.Compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session}, Dialect: d.Kind(), MaxBytes: 64 << 20,
	})
	require.NoError(t, err)
	require.False(t, answer.GetHasMore())
	list := &dialect.List{}
	for _, raw := range answer.GetSystemJson() {
		list.System = append(list.System, json.RawMessage(raw))
	}
	for _, raw := range answer.GetMessagesJson() {
		list.Messages = append(list.Messages, json.RawMessage(raw))
	}
	return string(d.Document(list)) + "\n"
}

// A view in a dialect that is printed page by page is what it is as a whole, in each dialect, with a system prompt and without.
func TestPrintRenderedPageByPage(t *testing.T) {
	for _, d := range dialects.All() {
		for _, system := range []bool{false, true} {
			t.Run(fmt.Sprint(d.Name(), system), func(t *testing.T) {
				c := manyPages(t)
				if system {
					_, err := c.Sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
						SessionId: "s", Messages: []*compactordv1.Message{{
							Role: compactordv1.Role_ROLE_SYSTEM, Parts: []*compactordv1.Part{{
								Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: `Be "brief".`}},
							}},
						}},
					})
					require.NoError(t, err)
				}
				lines := &writing{first: func() {}}
				begun := 0
				_, err := c.PrintRendered(t.Context(), lines, d, false, func() { begun++ })
				require.NoError(t, err)
				require.Equal(t, wholeDocument(t, c, d), lines.text.String())
				require.Equal(t, 1, begun)

				// It was written before all of it was read.
				lines = &writing{first: func() { revert(t, c, 20) }}
				_, err = c.PrintRendered(t.Context(), lines, d, false, func() {})
				require.ErrorIs(t, err, conversation.ErrViewChanged)
				require.Positive(t, lines.bytes)
			})
		}
	}
}

// What a list lacks for a request is said by its end alone, also where that is on a later page than the rest.
func TestPrintRenderedSaysWhatARequestLacks(t *testing.T) {
	demandUser := []string{"anthropic", "gemini"}
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			c := manyPages(t)
			report, err := c.PrintRendered(t.Context(), &strings.Builder{}, d, false, func() {})
			require.NoError(t, err)
			if slices.Contains(demandUser, d.Name()) {
				require.Contains(t, report.Lacks(), "message 39, part 0: ")
			} else {
				require.Empty(t, report.Lacks())
			}
			revert(t, c, 39)
			report, err = c.PrintRendered(t.Context(), &strings.Builder{}, d, false, func() {})
			require.NoError(t, err)
			require.Empty(t, report.Lacks())
		})
	}
}
