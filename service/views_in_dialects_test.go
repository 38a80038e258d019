package service_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	chat      = compactordv1.Dialect_DIALECT_OPENAI_CHAT
	responses = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES
	anthropic = compactordv1.Dialect_DIALECT_ANTHROPIC
	gemini    = compactordv1.Dialect_DIALECT_GEMINI
)

// appendJSON appends a provider's JSON.
func (d *daemon) appendJSON(id string, kind compactordv1.Dialect, raw string) *compactordv1.AppendMessagesResponse {
	d.t.Helper()
	answer, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: id, ProviderJson: &compactordv1.ProviderJson{Dialect: kind, Json: raw},
	})
	require.NoError(d.t, err)
	return answer
}

// render returns the view in a dialect, and validates it again.
func (d *daemon) render(id string, kind compactordv1.Dialect) *compactordv1.GetLLMViewResponse {
	d.t.Helper()
	answer, err := d.compactions.GetLLMView(d.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, Dialect: kind, MaxBytes: 64 << 20,
	})
	require.NoError(d.t, err)
	require.Empty(d.t, brokenRules(kind, answer, dialect.History))
	return answer
}

func brokenRules(
	kind compactordv1.Dialect, answer *compactordv1.GetLLMViewResponse, mode dialect.Mode,
) []dialect.Violation {
	shape, _ := dialects.For(kind)
	list := &dialect.List{}
	for _, raw := range answer.GetSystemJson() {
		list.System = append(list.System, json.RawMessage(raw))
	}
	for _, raw := range answer.GetMessagesJson() {
		list.Messages = append(list.Messages, json.RawMessage(raw))
	}
	return shape.Validate(list, mode)
}

func allKinds() []compactordv1.Dialect {
	return []compactordv1.Dialect{chat, responses, anthropic, gemini}
}

// Seed case 143: neighbours of one role are merged before sending.
func TestCase143NeighboursMergeWhereTheProviderDemandsIt(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("One."), user("Two."), assistant("Both."), user("Three."))
	for kind, want := range map[compactordv1.Dialect]int{chat: 4, responses: 4, anthropic: 3, gemini: 3} {
		rendered := d.render("s", kind)
		require.Len(t, rendered.GetMessagesJson(), want, kind)
		require.Equal(t, uint32(4-want), rendered.GetViewReport().GetMessagesMerged(), kind)
	}
	var logged []string
	for _, l := range d.messages("s") {
		logged = append(logged, textOf(l.GetMessage()))
	}
	require.Equal(t, []string{"One.", "Two.", "Both.", "Three."}, logged)
	require.Len(t, d.view("s"), 4)
}

// With sources, each rendered message names the messages of the neutral view that it was made from, in pages, too.
func TestRenderedMessagesNameTheirSources(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", system("Be careful."), user("One."), user("Two."), assistant("", call("a", "read", `{}`), call("b", "read", `{}`)),
		toolResult("a", "first"), toolResult("b", "second"), assistant("Both."), user("Three."))
	for kind, want := range map[compactordv1.Dialect][][2]uint32{
		chat:      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}},
		responses: {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}},
		anthropic: {{1, 3}, {3, 4}, {4, 6}, {6, 7}, {7, 8}},
		gemini:    {{1, 3}, {3, 4}, {4, 6}, {6, 7}, {7, 8}},
	} {
		for _, size := range []uint32{1, 200, 64 << 20} {
			var got [][2]uint32
			req := &compactordv1.GetLLMViewRequest{
				Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: kind, MaxBytes: size, WithSources: true,
			}
			for more := true; more; {
				answer, err := d.compactions.GetLLMView(t.Context(), req)
				require.NoError(t, err)
				require.Len(t, answer.GetSources(), len(answer.GetMessagesJson()))
				for _, source := range answer.GetSources() {
					got = append(got, [2]uint32{source.GetStart(), source.GetEnd()})
				}
				req.ViewToken, more = answer.GetViewToken(), answer.GetHasMore()
			}
			require.Equal(t, want, got, "%s in pages of %d bytes", kind, size)
		}
		require.Empty(t, d.render("s", kind).GetSources(), "without with_sources")
	}
	_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, WithSources: true,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}
