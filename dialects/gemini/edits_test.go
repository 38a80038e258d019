package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// hidden replaces the content of results and arguments, as an edit does. The attachments stay.
func hidden(all []*compactordv1.Message) []*compactordv1.Message {
	const text = "[hidden]"
	edited := make([]*compactordv1.Message, len(all))
	for i, m := range all {
		edited[i] = proto.CloneOf(m)
		for _, p := range edited[i].GetParts() {
			if call := p.GetToolCall(); call != nil {
				call.Arguments = text
			}
			if result := p.GetToolResult(); result != nil {
				result.Parts = []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}},
				}}
			}
		}
	}
	return edited
}

func TestEdits(t *testing.T) {
	t.Parallel()
	args := []string{`{"s":"SECRET"}`, `["SECRET"]`, `"SECRET"`, `{"s":"SECRET\ud83d"}`}
	responses := []string{
		`{"output":"SECRET"}`, `{"output":"SECRET\ud83d"}`, `{"result":"SECRET \ude00"}`, `{"error":"SECRET"}`, `{"a":"SECRET"}`,
		`["SECRET"]`, `"SECRET\ud83d"`, `{"error":{"a":"SECRET"}}`,
	}
	for i, response := range responses {
		raw := `[` + hello + `,` + model(`{"functionCall":{"id":"1","name":"ls","args":`+args[i%len(args)]+`}}`) +
			`,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":` + response +
			`,"parts":[{"inlineData":{"mimeType":"image/png","data":"SECRETAA"}}]}}]}]`
		for _, asWritten := range []bool{false, true} {
			r, err := gemini.New().Render(hidden(parse(t, raw).Messages), dialect.RenderOptions{AsWritten: asWritten})
			require.NoError(t, err)
			document := string(gemini.New().Document(&r.List))
			require.True(t, json.Valid([]byte(document)), document)
			require.NotContains(t, document, "SECRET", raw)
			require.Equal(t, 2, strings.Count(document, "[hidden]"), document)
		}
	}
}

func TestResultsOfNothingCanBeEdited(t *testing.T) {
	t.Parallel()
	for _, response := range []string{``, `,"response":null`, `,"parts":[]`, `,"response":null,"parts":null`} {
		raw := `[{"role":"user","parts":[{"functionResponse":{"name":"ls"` + response + `}}]}]`
		r, err := gemini.New().Render(hidden(parse(t, raw).Messages), dialect.RenderOptions{AsWritten: true})
		require.NoError(t, err)
		require.Contains(t, string(r.Messages[0]), `"response":{"output":"[hidden]"}`)
	}
	without := `[` + model(`{"functionCall":{"name":"ls"}}`) + `]`
	r, err := gemini.New().Render(hidden(parse(t, without).Messages), dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Contains(t, string(r.Messages[0]), `[hidden]`)
}

func TestMediaReplacedInAResultLeaveItsResponse(t *testing.T) {
	t.Parallel()
	raw := `[` + hello + `,` + model(`{"functionCall":{"id":"1","name":"ls","args":{}}}`) +
		`,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"a"},` +
		`"parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"},"x":1}]}}]}]`
	all := parse(t, raw).Messages
	parts := all[2].GetParts()[0].GetToolResult().GetParts()
	parts[1] = &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "[Attached]"}}}
	for _, asWritten := range []bool{false, true} {
		r, err := gemini.New().Render(all, dialect.RenderOptions{AsWritten: asWritten})
		require.NoError(t, err)
		require.JSONEq(t, `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"a\n[Attached]"}}}]}`,
			string(r.Messages[2]))
	}
}
