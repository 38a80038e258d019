package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

const (
	hello   = `{"role":"user","parts":[{"text":"hello"}]}`
	answer  = `{"role":"model","parts":[{"text":"yes"}]}`
	calls   = `{"role":"model","parts":[{"functionCall":{"id":"1","name":"read","args":{}}}]}`
	results = `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"x"}}}]}`
)

// ruleCases holds for each rule a list that breaks it and no other, and a similar list that breaks none.
var ruleCases = []struct {
	rule, broken, kept string
	// message and part are the place that breaks the rule.
	message, part int
}{
	{"gemini.shape", `[7]`, hello, 0, 0},
	{"gemini.shape", `[{"role":7,"parts":[{"text":"a"}]}]`, `[{"parts":[{"text":"a"}]}]`, 0, 0},
	{"gemini.shape", `[{"role":"user","parts":[{"text":"a"},"b"]}]`, `[{"role":"user","parts":[{"text":"a"},{"text":"b"}]}]`, 0, 1},
	{"gemini.shape", `[{"role":"user","parts":[{"text":7}]}]`, hello, 0, 0},
	{"gemini.shape", `[{"role":"user","parts":[{"inlineData":[]}]}]`, `[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"}}]}]`, 0, 0},
	{
		"gemini.shape", `[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{},"parts":{}}}]}]`,
		`[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{},"parts":[]}}]}]`, 2, 0,
	},
	{"gemini.not-empty", `[]`, hello, -1, 0},
	{
		"gemini.system-is-text", `{"systemInstruction":"be brief","contents":[` + hello + `]}`,
		`{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[` + hello + `]}`, -1, 0,
	},
	{
		"gemini.system-is-text", `{"systemInstruction":{"parts":[]},"contents":[` + hello + `]}`,
		`{"systemInstruction":{"role":"system","parts":[{"text":"a"},{"text":"b"}]},"contents":[` + hello + `]}`, -1, 0,
	},
	{"gemini.system-is-text", `{"systemInstruction":{"parts":[{"text":""}]},"contents":[` + hello + `]}`, hello, -1, 0},
	{"gemini.known-fields", `[{"role":"user","parts":[{"text":"a"}],"id":"7"}]`, `[{"role":"user","parts":[{"text":"a"}],"id":null}]`, 0, 0},
	{"gemini.roles", `[{"role":"function","parts":[{"text":"a"}]}]`, `[{"role":null,"parts":[{"text":"a"}]}]`, 0, 0},
	{"gemini.begins-with-user", `[` + answer + `,` + hello + `]`, `[` + hello + `,` + answer + `,` + hello + `]`, 0, 0},
	{"gemini.ends-with-user", `[` + hello + `,` + answer + `]`, hello, 1, 0},
	{"gemini.roles-alternate", `[` + hello + `,` + hello + `]`, hello, 1, 0},
	{
		"gemini.roles-alternate", `[` + hello + `,` + calls + `,` + results + `,` + hello + `,` + hello + `]`,
		`[` + hello + `,` + calls + `,` + results + `,` + hello + `]`, 4, 0,
	},
	{"gemini.roles-alternate", `[` + hello + `,` + answer + `,` + answer + `,` + hello + `]`, hello, 2, 0},
	{"gemini.calls-follow-user", `[` + calls + `,` + results + `]`, `[` + hello + `,` + calls + `,` + results + `]`, 0, 0},
	{
		"gemini.calls-follow-user", `[` + hello + `,` + answer + `,` + calls + `,` + results + `]`,
		`[` + hello + `,` + calls + `,` + results + `,{"role":"model","parts":[{"functionCall":{"id":"2","name":"ls"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"ls","response":{}}}]}]`, 2, 0,
	},
	{"gemini.calls-by-model", `[` + hello + `,` + answer + `,{"role":"user","parts":[{"text":"a"},{"functionCall":{"name":"read"}}]}]`, hello, 2, 1},
	{"gemini.calls-answered", `[` + hello + `,` + calls + `,` + hello + `]`, `[` + hello + `,` + calls + `,` + results + `]`, 1, 0},
	{
		"gemini.calls-answered", `[` + hello + `,{"role":"model","parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}}]},` + hello + `]`,
		`[` + hello + `,{"role":"model","parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"b"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"name":"a","response":{}}}]},` + hello + `]`, 1, 1,
	},
	{
		"gemini.last-calls-answered", `[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"a"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"a","response":{}}}]}]`,
		`[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"a"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"a","response":{}}},{"functionResponse":{"id":"1","name":"a","response":{}}}]}]`, 1, 0,
	},
	{"gemini.responses-follow-calls", `[` + results + `]`, `[` + hello + `,` + calls + `,` + results + `]`, 0, 0},
	{"gemini.responses-follow-calls", `[` + hello + `,` + calls + `,{"role":"user","parts":[` +
		`{"functionResponse":{"id":"1","name":"read","response":{}}},{"functionResponse":{"id":"1","name":"read","response":{}}}]}]`, hello, 2, 1},
	{
		"gemini.response-names", `[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"write","response":{}}}]}]`,
		`[` + hello + `,` + calls + `,` + results + `]`, 2, 0,
	},
	{
		"gemini.responses-alone", `[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{}}},{"text":"a"}]}]`,
		`[` + hello + `,` + calls + `,` + results + `,` + hello + `]`, 2, 0,
	},
	{
		"gemini.first-call-signed", `[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YQ=="},{"functionCall":{"id":"1","name":"read"}}]},` + results + `]`,
		`[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"read"}},{"text":"a","thoughtSignature":"YQ=="}]},` + results + `]`, 1, 1,
	},
	{
		"gemini.first-call-signed", `[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YQ=="}]},` + hello + `,` + calls + `,` + results + `]`,
		`[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YQ=="}]},` + hello +
			`,{"role":"model","parts":[{"functionCall":{"id":"1","name":"read"},"thought_signature":"skip_thought_signature_validator"}]},` + results + `]`, 3, 0,
	},
	{
		"gemini.signatures-are-bytes", `[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"!"}]},` + hello + `]`,
		`[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"_-8"}]},` + hello + `]`, 1, 0,
	},
	{
		"gemini.signatures-are-bytes", `[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YWJjZ"}]},` + hello + `]`,
		`[` + hello + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YWJjZA"}]},` + hello + `]`, 1, 0,
	},
	{
		"gemini.no-thoughts", `[` + hello + `,{"role":"model","parts":[{"text":"a","thought":true}]},` + hello + `]`,
		`[` + hello + `,{"role":"model","parts":[{"text":"a","thought":false}]},` + hello + `]`, 1, 0,
	},
	{"gemini.parts-not-empty", `[{"role":"user","parts":[]}]`, hello, 0, 0},
	{"gemini.parts-not-empty", `[{"role":"user","parts":[{"text":"a"},{"text":""}]}]`, `[{"role":"user","parts":[{"text":" "}]}]`, 0, 1},
	{"gemini.parts-not-empty", `[{"role":"user","parts":[{"videoMetadata":{}}]}]`, `[{"role":"user","parts":[{"something":{}}]}]`, 0, 0},
	{
		"gemini.parts-not-empty", `[` + hello + `,{"role":"model","parts":[{"text":""}]},` + hello + `]`,
		`[` + hello + `,{"role":"model","parts":[{"text":"","thoughtSignature":"YQ=="}]},` + hello + `]`, 1, 0,
	},
	{
		"gemini.one-kind-of-data", `[{"role":"user","parts":[{"text":"a","inline_data":{"mime_type":"image/png","data":"AQID"}}]}]`,
		`[{"role":"user","parts":[{"text":null,"inline_data":{"mime_type":"image/png","data":"AQID"}}]}]`, 0, 0,
	},
	{
		"gemini.function-names", `[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"0x"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"0x","response":{}}}]}]`,
		`[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"_x.y:z-0"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"_x.y:z-0","response":{}}}]}]`, 1, 0,
	},
	{
		"gemini.args-are-objects", `[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"read","args":"a"}}]},` + results + `]`,
		`[` + hello + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"read","args":null}}]},` + results + `]`, 1, 0,
	},
	{
		"gemini.responses-are-objects", `[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":"x"}}]}]`,
		`[` + hello + `,` + calls + `,` + results + `]`, 2, 0,
	},
	{
		"gemini.mime-types", `[{"role":"user","parts":[{"inlineData":{"mimeType":"image/*","data":"AQID"}}]}]`,
		`[{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"AQID"}}]}]`, 0, 0,
	},
	{
		"gemini.mime-types", `[{"role":"user","parts":[{"fileData":{"mimeType":"image/gif","fileUri":"gs://b/a"}}]}]`,
		`[{"role":"user","parts":[{"fileData":{"fileUri":"gs://b/a"}}]}]`, 0, 0,
	},
	{
		"gemini.mime-types", `[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{},"parts":[{"inlineData":{"data":"AQID"}}]}}]}]`,
		`[` + hello + `,` + calls + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{},"parts":[{"inline_data":{"mime_type":"image/png","data":"AQID"}}]}}]}]`, 2, 0,
	},
	{
		"gemini.media-sources", `[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"not base64"}}]}]`,
		`[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"_-8"}}]}]`, 0, 0,
	},
	{
		"gemini.media-sources", `[{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"plan.png"}}]}]`,
		`[{"role":"user","parts":[{"file_data":{"mime_type":"image/png","file_uri":"https://example.org/plan.png"}}]}]`, 0, 0,
	},
}

func TestRules(t *testing.T) {
	t.Parallel()
	tried := make(map[string]bool)
	for _, c := range ruleCases {
		tried[c.rule] = true
		require.Empty(t, gemini.New().Validate(list(t, c.kept), dialect.Request), c.kept)
		violations := gemini.New().Validate(list(t, c.broken), dialect.Request)
		require.Len(t, violations, 1, "%s: %v", c.broken, violations)
		require.Equal(t, c.rule, violations[0].Rule, c.broken)
		require.Equal(t, c.message, violations[0].Message, c.broken)
		require.Equal(t, c.part, violations[0].Part, c.broken)
		require.NotEmpty(t, violations[0].Detail)
		dialecttest.RequireJudgedAsRead(t, gemini.New(), list(t, c.broken))
	}
	for _, rule := range gemini.New().Rules() {
		require.True(t, tried[rule.ID], "no list breaks %s", rule.ID)
	}
}

func TestHistoryWaivesTheEnd(t *testing.T) {
	t.Parallel()
	waived := make(map[string]bool)
	for _, rule := range gemini.New().Rules() {
		waived[rule.ID] = rule.RequestOnly
	}
	for _, c := range ruleCases {
		violations := gemini.New().Validate(list(t, c.broken), dialect.History)
		require.Equal(t, waived[c.rule], len(violations) == 0, "%s: %v", c.broken, violations)
	}
	open := `[` + hello + `,` + calls + `]`
	require.Empty(t, gemini.New().Validate(list(t, open), dialect.History))
	require.NotEmpty(t, gemini.New().Validate(list(t, open), dialect.Request))
}
