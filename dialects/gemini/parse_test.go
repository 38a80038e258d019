package gemini_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parse reads what must be readable.
func parse(t *testing.T, raw string) *dialect.Parsed {
	t.Helper()
	parsed, err := gemini.New().Parse([]byte(raw))
	require.NoError(t, err, raw)
	for i, m := range parsed.Messages {
		require.NoError(t, protovalidate.Validate(m), "message %d", i)
	}
	return parsed
}

// requireWritten requires that messages are written as the list they were parsed from.
func requireWritten(t *testing.T, want *dialect.List, messages []*compactordv1.Message) {
	t.Helper()
	written, err := gemini.New().Render(messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Empty(t, written.Dropped)
	require.Empty(t, written.Repairs)
	requireSame(t, want.System, written.System)
	requireSame(t, want.Messages, written.Messages)
}

func requireSame(t *testing.T, want, have []json.RawMessage) {
	t.Helper()
	require.Len(t, have, len(want))
	for i := range want {
		if !rawjson.Equal(want[i], have[i]) {
			require.Equal(t, string(want[i]), string(have[i]), "element %d", i)
		}
	}
}

func TestDocumentsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		requireWritten(t, list(t, string(raw)), parse(t, string(raw)).Messages)
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			// By themselves, too: an agent sends what is new.
			for _, content := range list(t, string(raw)).Messages {
				parsed, err := gemini.New().Parse(content)
				require.NoError(t, err)
				requireWritten(t, &dialect.List{Messages: []json.RawMessage{content}}, parsed.Messages)
			}
		})
	}
}

func TestPartsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, part, want string }{
		{"text", `{"text":"a"}`, `{"text":{"text":"a"}}`},
		{
			"signed text", `{"text":"","thoughtSignature":"YQ=="}`,
			`{"text":{},"attachments":[{"dialect":"DIALECT_GEMINI","key":"thoughtSignature","json":"\"YQ==\""}]}`,
		},
		{"thought", `{"text":"a","thought":true}`, `{"thinking":{"text":"a"}}`},
		{
			"call with id", `{"functionCall":{"id":"1","name":"ls","args":{"n": 1.0}},"thoughtSignature":"YQ=="}`,
			`{"toolCall":{"id":"1","name":"ls","arguments":"{\"n\": 1.0}"},
			"attachments":[{"dialect":"DIALECT_GEMINI","key":"thoughtSignature","json":"\"YQ==\""}]}`,
		},
		{
			"call without id", `{"functionCall":{"name":"ls","args":{}}}`,
			`{"toolCall":{"name":"ls","arguments":"{}"},"attachments":[
				{"dialect":"DIALECT_GEMINI","key":"functionCall.id"},{"dialect":"DIALECT_GEMINI","key":"$unsigned","json":"\"\""}]}`,
		},
		{
			"underscores", `{"function_call":{"id":"1","name":"ls","args":{}},"thought_signature":"YQ=="}`,
			`{"toolCall":{"id":"1","name":"ls","arguments":"{}"},"attachments":[
				{"dialect":"DIALECT_GEMINI","key":"thoughtSignature","json":"\"YQ==\""},
				{"dialect":"DIALECT_GEMINI","key":"$snake","json":"\"function_call thought_signature\""}]}`,
		},
		{"media by value", `{"inlineData":{"mimeType":"image/png","data":"AQID"}}`, `{"media":{"mimeType":"image/png","data":"AQID"}}`},
		{
			"media by address", `{"fileData":{"mimeType":"image/png","fileUri":"https://example.org/a.png"}}`,
			`{"media":{"mimeType":"image/png","uri":"https://example.org/a.png"}}`,
		},
		{
			"media of Gemini's", `{"fileData":{"mimeType":"image/png","fileUri":"gs://b/a.png"}}`,
			`{"media":{"mimeType":"image/png","uri":"gs://b/a.png","owner":"DIALECT_GEMINI"}}`,
		},
		{
			"code", `{"executableCode":{"code":"1"}}`,
			`{"opaque":{"dialect":"DIALECT_GEMINI","type":"executableCode","json":"{\"executableCode\":{\"code\":\"1\"}}"}}`,
		},
		{
			"unknown", `{"zzz":1,"thought":false}`,
			`{"opaque":{"dialect":"DIALECT_GEMINI","type":"zzz","json":"{\"zzz\":1,\"thought\":false}"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `[{"role":"model","parts":[`+c.part+`]}]`).Messages[0]
			require.Len(t, m.GetParts(), 1)
			requirePart(t, c.want, m.GetParts()[0])
		})
	}
}

func TestResultsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, response, want string }{
		{"output", `{"output":"a"}`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"result", `{"result":"a"}`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"error", `{"error":"a"}`, `{"name":"ls","isError":true,"parts":[{"text":{"text":"a"}}]}`},
		{"object", `{"output": 1.0}`, `{"name":"ls","parts":[{"text":{"text":"{\"output\": 1.0}"}}]}`},
		{"error object", `{"error":{"code":5}}`, `{"name":"ls","isError":true,"parts":[{"text":{"text":"{\"error\":{\"code\":5}}"}}]}`},
		{"text and more", `{"output":"a","exit":0}`, `{"name":"ls","parts":[{"text":{"text":"{\"output\":\"a\",\"exit\":0}"}}]}`},
		{"bare text", `"a"`, `{"name":"ls","parts":[{"text":{"text":"a"}}]}`},
		{"nothing", `null`, `{"name":"ls"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `[{"role":"user","parts":[{"functionResponse":{"name":"ls","response":`+c.response+`}}]}]`).Messages[0]
			require.Equal(t, compactordv1.Role_ROLE_TOOL, m.GetRole())
			part := m.GetParts()[0]
			part.Attachments = nil
			requirePart(t, `{"toolResult":`+c.want+`}`, part)
		})
	}
}

func TestAContentOfResultsBecomesMessages(t *testing.T) {
	t.Parallel()
	parsed := parse(t, `[`+calls+`,{"role":"user","parts":[
		{"functionResponse":{"id":"1","name":"read","response":{}}},{"text":"and"},{"functionResponse":{"id":"2","name":"x","response":{}}}]}]`)
	require.Equal(t, []int{0, 1, 1, 1}, parsed.Positions)
	require.Equal(t, []compactordv1.Role{
		compactordv1.Role_ROLE_ASSISTANT, compactordv1.Role_ROLE_TOOL, compactordv1.Role_ROLE_TOOL, compactordv1.Role_ROLE_USER,
	}, roles(parsed.Messages))
	require.Equal(t, []dialect.Finding{{
		Rule: dialect.InputResultsOutOfOrder, Message: 1, Part: 0,
		Text: "results stand behind other parts; they were taken as if they stood in front",
	}}, parsed.Findings)
}

func TestResultsFindTheirCallsWithoutIDs(t *testing.T) {
	t.Parallel()
	model := func(calls string) string { return `{"role":"model","parts":[` + calls + `]}` }
	user := func(responses string) string { return `{"role":"user","parts":[` + responses + `]}` }
	for _, c := range []struct {
		name, list string
		ids        []string
		names      []string
		findings   int
	}{
		{
			"by order", model(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}`) + `,` +
				user(`{"functionResponse":{"name":"a","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"", ""},
			[]string{"a", "a"},
			0,
		},
		{
			"by name", model(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"b"}}`) + `,` +
				user(`{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"", ""},
			[]string{"a", "b"},
			1,
		},
		{
			"only calls have ids", model(`{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"b"}}`) + `,` +
				user(`{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"2", "1"},
			[]string{"b", "a"},
			0,
		},
		{
			"only results have ids", model(`{"functionCall":{"name":"a"}}`) + `,` + user(`{"functionResponse":{"id":"1","name":"a","response":{}}}`),
			[]string{""},
			[]string{"a"},
			0,
		},
		{
			"in two contents", model(`{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"a"}}`) + `,` +
				user(`{"functionResponse":{"name":"a","response":{}}}`) + `,` + user(`{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"1", "2"},
			[]string{"a", "a"},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, `[`+c.list+`]`)
			var ids, names []string
			for _, m := range parsed.Messages[1:] {
				ids = append(ids, m.GetParts()[0].GetToolResult().GetCallId())
				names = append(names, m.GetParts()[0].GetToolResult().GetName())
			}
			require.Equal(t, c.ids, ids)
			require.Equal(t, c.names, names)
			require.Len(t, parsed.Findings, c.findings)
			requireWritten(t, list(t, `[`+c.list+`]`), parsed.Messages)
		})
	}
}

func TestSystemInstructionIsTheFirstMessage(t *testing.T) {
	t.Parallel()
	for _, system := range []string{
		`"systemInstruction":"a"`, `"system_instruction":{"parts":{"text":"a"}}`, `"systemInstruction":{"role":"user","parts":[{"text":"a"}]}`,
	} {
		raw := `{` + system + `,"contents":[` + hello + `]}`
		parsed := parse(t, raw)
		require.Equal(t, []int{0, 0}, parsed.Positions)
		require.Equal(t, compactordv1.Role_ROLE_SYSTEM, parsed.Messages[0].GetRole())
		require.Equal(t, "a", parsed.Messages[0].GetParts()[0].GetText().GetText())
		requireWritten(t, list(t, raw), parsed.Messages)

		rendered, err := gemini.New().Render(parsed.Messages, dialect.RenderOptions{})
		require.NoError(t, err)
		require.JSONEq(t, `{"systemInstruction":{"parts":[{"text":"a"}]},"contents":[`+hello+`]}`,
			string(gemini.New().Document(&rendered.List)))
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list, rule    string
		message, part int
	}{
		{`[` + hello + `,{"role":"user","parts":[]}]`, dialect.InputEmptyMessage, 1, 0},
		{`[{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"a","args":"{"}}]}]`, dialect.InputArgumentsNotJSON, 0, 1},
	} {
		parsed := parse(t, c.list)
		require.Len(t, parsed.Findings, 1, c.list)
		found := parsed.Findings[0]
		require.Equal(t, c.rule, found.Rule)
		require.Equal(t, []int{c.message, c.part}, []int{found.Message, found.Part})
		requireWritten(t, list(t, c.list), parsed.Messages)
	}
}
