package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

const (
	say       = `{"role":"ROLE_USER","parts":[{"text":{"text":"hello"}}]}`
	reply     = `{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":"yes"}}]}`
	callLs    = `{"role":"ROLE_ASSISTANT","parts":[{"toolCall":{"id":"1","name":"ls","arguments":"{}"}}]}`
	resultLs  = `{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"1","parts":[{"text":{"text":"a"}}]}}]}`
	signedLs  = `{"functionCall":{"id":"1","name":"ls","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`
	answerLs  = `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"a"}}}]}`
	helloJSON = `{"role":"user","parts":[{"text":"hello"}]}`
)

func model(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }

func assistant(parts string) string { return `{"role":"ROLE_ASSISTANT","parts":[` + parts + `]}` }

func user(parts string) string { return `{"role":"ROLE_USER","parts":[` + parts + `]}` }

// requestCases are messages of any provider, with the contents that a request holds of them.
var requestCases = []struct {
	name     string
	messages []string
	contents []string
	system   string
	// rules are those of the repairs, dropped the parts that were left out or put as text.
	rules   []string
	dropped int
}{
	{name: "nothing"},
	{
		name:     "foreign calls are signed, and the result is named",
		messages: []string{say, callLs, resultLs},
		contents: []string{helloJSON, model(signedLs), answerLs},
		rules:    []string{"gemini.first-call-signed"},
	},
	{
		name:     "what begins with the model",
		messages: []string{reply, say},
		contents: []string{`{"role":"user","parts":[{"text":"(The conversation begins with the assistant.)"}]}`, model(`{"text":"yes"}`), helloJSON},
		rules:    []string{"gemini.begins-with-user"},
	},
	{
		name:     "neighbours are merged, their parts are not",
		messages: []string{say, say, reply, reply, say},
		contents: []string{
			`{"role":"user","parts":[{"text":"hello"},{"text":"hello"}]}`, model(`{"text":"yes"},{"text":"yes"}`), helloJSON,
		},
	},
	{
		name: "instructions",
		messages: []string{
			`{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"a"}},{"text":{"text":""}}]}`, `{"role":"ROLE_DEVELOPER","parts":[{"text":{"text":"b"}}]}`,
			say, `{"role":"ROLE_DEVELOPER","parts":[{"text":{"text":"c"}},{"text":{"text":"d"}}]}`, `{"role":"ROLE_SYSTEM"}`,
		},
		contents: []string{`{"role":"user","parts":[{"text":"hello"},{"text":"[Instruction of the application, not of the user]\nc\nd"}]}`},
		system:   `{"parts":[{"text":"a"},{"text":"b"}]}`,
		rules:    []string{"gemini.parts-not-empty", "gemini.roles", "gemini.parts-not-empty"},
	},
	{
		name:     "empty messages",
		messages: []string{`{"role":"ROLE_USER"}`, assistant(`{"text":{"text":""}}`), say},
		contents: []string{`{"role":"user","parts":[{"text":"(empty message)"},{"text":"hello"}]}`},
		rules:    []string{"gemini.parts-not-empty", "gemini.parts-not-empty", "gemini.parts-not-empty"},
	},
	{
		name: "thinking and items of others",
		messages: []string{say, assistant(`{"thinking":{"text":"a"}},{"opaque":{"dialect":"DIALECT_ANTHROPIC","type":"compaction","json":"{}"}},
			{"text":{"text":"yes"}}`), say},
		contents: []string{helloJSON, model(`{"text":"yes"}`), helloJSON},
		dropped:  2,
	},
	{
		name: "items of Gemini's own that it does not take",
		messages: []string{user(`{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"executableCode\":{},\"codeExecutionResult\":{}}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"inlineData\":{},\"thought\":true}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"executableCode\":{},\"thought\":true}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"executableCode\":{},\"thoughtSignature\":\"!\"}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"function_call\":{}}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"thought\":false}"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{"}},
			{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"executableCode\":{},\"text\":null}"}}`)},
		contents: []string{`{"role":"user","parts":[{"executableCode":{},"text":null}]}`},
		dropped:  7,
	},
	{
		name: "ids come again, or are missing",
		messages: []string{
			say, callLs, resultLs,
			assistant(`{"toolCall":{"id":"1","name":"ls"}},{"toolCall":{"name":"ls"}}`), resultLs,
			`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":""}}]}`,
		},
		contents: []string{
			helloJSON, model(signedLs), answerLs,
			model(`{"functionCall":{"id":"1_2","name":"ls","args":{}},"thoughtSignature":"skip_thought_signature_validator"},` +
				`{"functionCall":{"id":"call_3_1","name":"ls","args":{}}}`),
			`{"role":"user","parts":[{"functionResponse":{"id":"1_2","name":"ls","response":{"output":"a"}}},` +
				`{"functionResponse":{"id":"call_3_1","name":"ls","response":{"output":""}}}]}`,
		},
		rules: []string{
			"gemini.first-call-signed", "gemini.calls-answered", "gemini.calls-answered", "gemini.first-call-signed",
			"gemini.calls-answered", "gemini.calls-answered",
		},
	},
	{
		name: "results out of order, and a message between them",
		messages: []string{
			say, assistant(`{"toolCall":{"id":"1","name":"a"}},{"toolCall":{"id":"2","name":"b"}}`),
			`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"2","isError":true,"parts":[{"text":{"text":"no"}}]}}]}`, say,
			`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"1"}}]}`,
		},
		contents: []string{
			helloJSON,
			model(`{"functionCall":{"id":"1","name":"a","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"2","name":"b","args":{}}}`),
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"a","response":{"output":""}}},{"functionResponse":{"id":"2","name":"b","response":{"error":"no"}}}]}`,
			helloJSON,
		},
		rules: []string{"gemini.first-call-signed", "gemini.calls-answered", "gemini.calls-answered"},
	},
	{
		name: "calls while others wait",
		messages: []string{
			say, callLs, assistant(`{"toolCall":{"id":"2","name":"b"}}`), `{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"2"}}]}`, resultLs,
		},
		contents: []string{
			helloJSON, model(signedLs + `,{"functionCall":{"id":"2","name":"b","args":{}}}`),
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"a"}}},{"functionResponse":{"id":"2","name":"b","response":{"output":""}}}]}`,
		},
		rules: []string{"gemini.first-call-signed", "gemini.calls-answered"},
	},
	{
		name:     "a result without a call",
		messages: []string{say, resultLs},
		contents: []string{`{"role":"user","parts":[{"text":"hello"},{"text":"Result of a tool that arrived when its call was no longer open:\na"}]}`},
		rules:    []string{"gemini.responses-follow-calls"},
	},
	{
		name: "names and arguments",
		messages: []string{
			say, assistant(`{"toolCall":{"id":"1","name":"0 ä.b","arguments":"rm -rf"}}`),
			`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"1","name":"0 ä.b"}}]}`,
		},
		contents: []string{
			helloJSON, model(`{"functionCall":{"id":"1","name":"_0__.b","args":{"_raw":"rm -rf"}},"thoughtSignature":"skip_thought_signature_validator"}`),
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"_0__.b","response":{"output":""}}}]}`,
		},
		rules: []string{"gemini.function-names", "gemini.args-are-objects", "gemini.first-call-signed", "gemini.response-names"},
	},
	{
		name: "media",
		messages: []string{user(`{"media":{"mimeType":"image/png","data":"AQID","name":"a.png"}},
			{"media":{"mimeType":"IMAGE/JPG; q=1","data":"AQID"}},
			{"media":{"mimeType":"image/*","uri":"https://example.org/a"}},
			{"media":{"mimeType":"image/svg+xml","data":"AQID","name":"a.svg"}},
			{"media":{"mimeType":"image/png","uri":"https://example.org/a.png"}},
			{"media":{"mimeType":"image/png","uri":"https://example.org/a.png","owner":"DIALECT_ANTHROPIC"}},
			{"media":{"mimeType":"image/png","fileId":"file-1"}},
			{"media":{"mimeType":"application/octet-stream","uri":"https://example.org/a"}},
			{"media":{"mimeType":"image/png","data":""}}`)},
		contents: []string{`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"}},
			{"inlineData":{"mimeType":"image/jpeg","data":"AQID"}},{"text":"[Attached image/*: file]"},{"text":"[Attached image/svg+xml: a.svg]"},
			{"fileData":{"mimeType":"image/png","fileUri":"https://example.org/a.png"}},
			{"text":"[Attached image/png: file]"},{"text":"[Attached image/png: file]"},
			{"text":"[Attached application/octet-stream: file]"},{"text":"[Attached image/png: file]"}]}`},
		rules:   []string{"gemini.mime-types"},
		dropped: 6,
	},
	{
		name: "a result with media",
		messages: []string{say, callLs, `{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"1","parts":[{"text":{"text":"a"}},
			{"media":{"mimeType":"image/png","data":"AQID"}},{"media":{"mimeType":"image/gif","data":"AQID"}},
			{"opaque":{"dialect":"DIALECT_ANTHROPIC","type":"x","json":"{}"}},{"text":{"text":"b"}}]}}]}`},
		contents: []string{helloJSON, model(signedLs), `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls",
			"response":{"output":"a\n[Attached image/gif: file]\nb"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"}}]}}]}`},
		rules:   []string{"gemini.first-call-signed"},
		dropped: 2,
	},
}

func TestMessagesOfAnyProviderGoIntoARequest(t *testing.T) {
	t.Parallel()
	for _, c := range requestCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := messages(t, c.messages...)
			r := dialecttest.RequireRendered(t, gemini.New(), all)
			want := `{"contents":[` + strings.Join(c.contents, ",") + `]`
			if c.system != "" {
				want += `,"systemInstruction":` + c.system
			}
			require.JSONEq(t, want+`}`, string(gemini.New().Document(&r.List)))
			var rules []string
			for _, repair := range r.Repairs {
				rules = append(rules, repair.Rule)
			}
			require.Equal(t, c.rules, rules)
			require.Len(t, r.Dropped, c.dropped)
			require.False(t, r.DisableThinking)
		})
	}
}

func TestResultsAnswerTheNewestCallWithTheirID(t *testing.T) {
	t.Parallel()
	r, err := gemini.New().Render(messages(t, say, callLs, say, callLs, resultLs), dialect.RenderOptions{})
	require.NoError(t, err)
	require.Len(t, r.Messages, 5)
	require.Contains(t, string(r.Messages[4]), `"id":"1_2"`)
	require.Equal(t, []dialect.Span{{First: 0, End: 1}, {First: 1, End: 2}, {First: 2, End: 3}, {First: 3, End: 4}, {First: 4, End: 5}}, r.From)
}

func TestReportTellsWhereElementsComeFrom(t *testing.T) {
	t.Parallel()
	r, err := gemini.New().Render(messages(t, `{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"a"}}]}`,
		reply, reply, assistant(`{"toolCall":{"id":"1","name":"ls"}},{"toolCall":{"id":"2","name":"ls"}}`), resultLs,
		`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"2"}}]}`, say, say), dialect.RenderOptions{})
	require.NoError(t, err)
	require.Equal(t, []dialect.Span{{First: 1, End: 1}, {First: 1, End: 4}, {First: 4, End: 6}, {First: 6, End: 8}}, r.From)
	require.Equal(t, 4, r.Merged)
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	const signed = `"thoughtSignature":"YQ=="`
	call := func(id, more string) string {
		return `{"functionCall":{"id":"` + id + `","name":"ls","args":{}}` + more + `}`
	}
	answers := func(ids ...string) string {
		var parts []string
		for _, id := range ids {
			parts = append(parts, fmt.Sprintf(`{"functionResponse":{"id":%q,"name":"ls","response":{"output":"a"}}}`, id))
		}
		return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
	}
	skip := `,"thoughtSignature":"skip_thought_signature_validator"`
	unsigned := helloJSON + `,` + model(call("1", "")) + `,` + answers("1")
	for _, c := range []struct{ name, model, given, want string }{
		{"an older model's own list", "", unsigned, unsigned},
		{"an older model by its name", "models/gemini-2.5-pro", unsigned, unsigned},
		{
			"a newer model that lost it", "gemini-3-pro", unsigned,
			helloJSON + `,` + model(call("1", skip)) + `,` + answers("1"),
		},
		{
			"from the first signature on", "", unsigned + `,` + model(call("2", ","+signed)) + `,` + answers("2") + `,` + model(call("3", "")) + `,` + answers("3"),
			unsigned + `,` + model(call("2", ","+signed)) + `,` + answers("2") + `,` + model(call("3", skip)) + `,` + answers("3"),
		},
		{
			"only the first of parallel calls", "", helloJSON + `,` + model(call("1", ","+signed)+`,`+call("2", "")) + `,` + answers("1", "2"),
			helloJSON + `,` + model(call("1", ","+signed)+`,`+call("2", "")) + `,` + answers("1", "2"),
		},
		{
			"a text's signature stays on the text", "", helloJSON + `,` + model(`{"text":"",`+signed+`},`+call("1", "")) + `,` + answers("1"),
			helloJSON + `,` + model(`{"text":"",`+signed+`},`+call("1", skip)) + `,` + answers("1"),
		},
		{
			"that of a thought goes with it", "", helloJSON + `,` + model(`{"text":"a","thought":true,`+signed+`},`+call("1", "")) + `,` + answers("1"),
			unsigned,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, `[`+c.given+`]`)
			for _, m := range parsed.Messages {
				if m.GetParts()[0].GetToolCall() != nil {
					m.Model = c.model
				}
			}
			r := dialecttest.RequireRendered(t, gemini.New(), parsed.Messages)
			require.JSONEq(t, `{"contents":[`+c.want+`]}`, string(gemini.New().Document(&r.List)))
		})
	}
}

func TestOwnListsGoBackAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, own := range []string{
		helloJSON + `,` + model(`{"functionCall":{"name":"ls"}},{"functionCall":{"name":"ls","args":null}}`) +
			`,{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"rows":[1.0]}}},{"functionResponse":{"name":"ls","response":{"result":"b"}}}]}`,
		`{"role":"user","parts":[{"file_data":{"file_uri":"gs://b/a"}},{"inline_data":{"mime_type":"image/png","data":"_-8"}},{"text":"\ud83d","x":null}]}`,
		helloJSON + `,` + model(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"toolCall":{"id":"1"},"thoughtSignature":"YQ=="}`) + `,` + helloJSON,
		helloJSON + `,` + model(signedLs) + `,` + answerLs + `,` + helloJSON,
	} {
		parsed := parse(t, `[`+own+`]`)
		view := dialecttest.ViewOf(parsed.Messages)
		r := dialecttest.RequireRendered(t, gemini.New(), view)
		requireSame(t, list(t, `[`+own+`]`).Messages, r.Messages)
		require.Empty(t, r.Repairs)
		require.Empty(t, r.Dropped)
	}
}

func TestOwnListsAreRepairedWhereGeminiWouldRefuseThem(t *testing.T) {
	t.Parallel()
	given := `{"role":"user","parts":[{"text":"a","thought_signature":"!"}],"id":"m1"},` +
		model(`{"functionCall":{"id":"1","name":"ls","args":{}},"thoughtSignature":"!","thought":true}`) + `,` +
		`{"role":"function","parts":[{"functionResponse":{"id":"1","name":"other","response":[1]}},{"text":"b"}]}`
	r := dialecttest.RequireRendered(t, gemini.New(), parse(t, `[`+given+`]`).Messages)
	require.JSONEq(t, `{"contents":[{"role":"user","parts":[{"text":"a"}]},`+model(signedLs)+`,
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"[1]"}}}]},{"role":"user","parts":[{"text":"b"}]}]}`,
		string(gemini.New().Document(&r.List)))
	var rules []string
	for _, repair := range r.Repairs {
		rules = append(rules, repair.Rule)
	}
	require.Equal(t, []string{
		"gemini.known-fields", "gemini.signatures-are-bytes", "gemini.no-thoughts", "gemini.signatures-are-bytes",
		"gemini.first-call-signed", "gemini.roles", "gemini.response-names", "gemini.responses-are-objects",
		"gemini.responses-alone",
	}, rules)
}
