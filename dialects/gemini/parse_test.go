package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

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
