package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A user types while a tool runs, and the client gets a view meanwhile. After the result has come, the delta begins at
// its place, in every dialect and as neutral messages.
func TestMessageTypedWhileAToolRunsIsShownAfterItsResult(t *testing.T) {
	t.Parallel()
	for _, kind := range append(allKinds(), compactordv1.Dialect_DIALECT_UNSPECIFIED) {
		t.Run(kind.String(), func(t *testing.T) {
			d := start(t)
			d.create("s", nil)
			d.append("s", user("Run the tests."), assistant("", call("c", "bash", `{}`)))
			d.append("s", user("Take your time."))
			view := func(token string) *compactordv1.GetLLMViewResponse {
				answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
					Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: kind, ViewToken: token,
				})
				require.NoError(t, err)
				return answer
			}
			held := view("")
			require.Contains(t, held.String(), "No result")

			d.append("s", toolResult("c", "all pass"))
			delta, whole := view(held.GetViewToken()), view("")
			kept := int(delta.GetUnchangedPrefix())
			require.GreaterOrEqual(t, kept, 2, "request and call stand")
			require.NotContains(t, whole.String(), "No result")
			require.NotContains(t, whole.String(), "no longer open")
			if kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
				requireSameBytes(t, whole.GetMessages(), slices.Concat(held.GetMessages()[:kept], delta.GetMessages()))
				return
			}
			require.Equal(t, whole.GetMessagesJson(), slices.Concat(held.GetMessagesJson()[:kept], delta.GetMessagesJson()))
			require.Empty(t, brokenRules(kind, whole, dialect.Request))
			requireInOrder(t, whole.String(), "all pass", "Take your time.")
		})
	}
}

func requireInOrder(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		_, rest, found := strings.Cut(text, word)
		require.True(t, found, "%q is missing, or out of order", word)
		text = rest
	}
}

// Pages of a view whose result comes before earlier messages are complete, wherever they end.
func TestPagesOfAViewWithALateResultAreWhole(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("Go."), assistant("", call("a", "bash", `{}`), call("b", "bash", `{}`)), toolResult("a", "first"),
		user("Well?"), user("Still there?"), toolResult("b", "second"), assistant("Done."), user("Thanks."))
	want := d.view("s")
	var got []*compactordv1.ViewMessage
	token := ""
	for more := true; more; {
		answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: token, MaxBytes: 1,
		})
		require.NoError(t, err)
		got = append(got[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
		token, more = answer.GetViewToken(), answer.GetHasMore()
	}
	requireSameBytes(t, want, got)
}

// A message between a call and its result is accepted in a strict request.
func TestStrictAcceptsMessagesWhileAToolRuns(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	appended := func(messages ...*compactordv1.Message) {
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: messages, Strict: true,
		})
		require.NoError(t, err)
	}
	appended(user("Go."), assistant("", call("a", "bash", `{}`)))
	appended(user("Well?"))
	appended(toolResult("a", "done"), assistant("Done."))
}
