package gemini_test

import (
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

// requestCases are messages of any provider, with the contents that a request has for them.
var requestCases = []struct {
	name     string
	messages []string
	contents []string
	system   string
	// rules are the rules of the repairs. dropped counts the parts that were left out or shown as text.
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

func TestRequest(t *testing.T) {
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

func TestRequestTellsWhereElementsComeFrom(t *testing.T) {
	t.Parallel()
	r, err := gemini.New().Render(messages(t, `{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"a"}}]}`,
		reply, reply, assistant(`{"toolCall":{"id":"1","name":"ls"}},{"toolCall":{"id":"2","name":"ls"}}`), resultLs,
		`{"role":"ROLE_TOOL","parts":[{"toolResult":{"callId":"2"}}]}`, say, say), dialect.RenderOptions{})
	require.NoError(t, err)
	require.Equal(t, []dialect.Span{{First: 1, End: 1}, {First: 1, End: 4}, {First: 4, End: 6}, {First: 6, End: 8}}, r.From)
	require.Equal(t, 4, r.Merged)
}
