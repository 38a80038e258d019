package sdkcheck_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/sdkcheck"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// A provider sends the same as its SDK, and the SDK's types hold all of it.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, kind := range []compactordv1.Dialect{chat, responses, anthropic, gemini} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			ours, theirs := s.ours(t, kind), s.theirs(t, kind)
			for _, c := range []llm.Completion{
				{User: "Hi", MaxOutputTokens: 100},
				{System: "Be <short> & \"kind\".", User: "Hi &\n日本 \u2028 bye", MaxOutputTokens: 7777, Effort: "low"},
				{System: "Be short.", User: "a\xffb", MaxOutputTokens: 7777, Effort: "2000"},
			} {
				_, _ = theirs(&c)
				want := s.seen
				_, _ = ours.Complete(t.Context(), &c, func(string) {})
				requireSameRequest(t, want, s.seen)
				require.NoError(t, sdkcheck.CheckBody(kind, s.seen.Body))
			}
		})
	}
}

func requireSameRequest(t *testing.T, want, got request) {
	t.Helper()
	wantBody, err := json.Marshal(want.Body)
	require.NoError(t, err)
	gotBody, err := json.Marshal(got.Body)
	require.NoError(t, err)
	require.JSONEq(t, string(wantBody), string(gotBody))
	want.Body, got.Body = nil, nil
	require.Equal(t, want, got)
}

// A request with the agent's own prompt at its start also fits into the SDK's types.
func TestRequestsOnViews(t *testing.T) {
	t.Parallel()
	tools := map[compactordv1.Dialect]string{
		chat:      `[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`,
		responses: `[{"type":"function","name":"f","strict":false,"parameters":{"type":"object"}}]`,
		anthropic: `[{"name":"f","input_schema":{"type":"object"}}]`,
		gemini:    `[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}]`,
	}
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			ours := s.ours(t, d.Kind())
			rapid.Check(t, func(rt *rapid.T) {
				r, err := d.Render(proper(dialecttest.NewGenerator(sessiontest.Counts{}).History(rt)), dialect.RenderOptions{})
				require.NoError(rt, err)
				view := &summarizers.View{System: r.System, Messages: r.Messages, Tools: json.RawMessage(tools[d.Kind()])}
				_, _ = ours.Complete(t.Context(), &llm.Completion{User: "Sum up.", View: view, MaxOutputTokens: 100}, func(string) {})
				require.NoError(rt, sdkcheck.CheckBody(d.Kind(), s.seen.Body), "%s", s.seen.Body)
			})
		})
	}
}
