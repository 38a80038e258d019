package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

const (
	created = `{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","model":"m-1","error":null,"output":[]}}`
	started = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"i","role":"assistant","content":[]}}`
	usage   = `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}`
	output  = `[{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}]`
)

// says returns a delta of the text.
func says(delta string) string {
	return `{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":"` + delta + `"}`
}

// ended returns the last event: how the response ended, and its other fields.
func ended(how, output, more string) string {
	return `{"type":"response.` + how + `","response":{"id":"r","object":"response","status":"` + how + `","model":"m-1","output":` +
		output + `,` + usage + more + `}}`
}

var (
	completed       = ended("completed", output, `,"error":null`)
	spokenResponses = wiretest.Spoken{
		New: making(openai.APIResponses), Whole: wiretest.Events(created, started, says("Hel"), says("lo, 世界"), completed),
		Text: "Hello, 世界", End: completed, More: says("more "), Error: errorBody, Variables: variables,
	}
)

func TestResponsesOnTheWire(t *testing.T) { wiretest.Run(t, spokenResponses) }

func TestResponsesOfAnyShape(t *testing.T) {
	t.Parallel()
	wiretest.Mutate(t, spokenResponses, 1000, wiretest.Events(created, started, ended("incomplete", output, `,"incomplete_details":{"reason":"max_output_tokens"}`)))
}

func TestResponsesOfAnyBytes(t *testing.T) {
	t.Parallel()
	wiretest.AnyBytes(t, spokenResponses, wiretest.Events(ended("incomplete", output, "")), wiretest.Events(ended("failed", "[]", "")),
		`{"object":"response","status":"completed","output":`+output+`}`)
}

// respond sends a completion to a server that gives this answer.
func respond(t *testing.T, answer http.HandlerFunc, o openai.Options, c *llm.Completion) (*llm.Answer, wiretest.Request, error) {
	t.Helper()
	o.API = openai.APIResponses
	return chat(t, answer, o, c)
}

func TestResponsesAnswers(t *testing.T) {
	t.Parallel()
	tokens := &compactordv1.Usage{InputTokens: 36, OutputTokens: 20, CacheReadTokens: 64, TotalTokens: 120}
	call := `{"type":"function_call","id":"f","call_id":"c","name":"read","arguments":""}`
	refusal := `[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}]`
	for name, c := range map[string]struct {
		events []string
		want   llm.Answer
	}{
		"text":               {[]string{created, started, says("Hi"), ended("completed", output, "")}, llm.Answer{Text: "Hi"}},
		"text at the end":    {[]string{created, ended("completed", output, "")}, llm.Answer{Text: "Hi"}},
		"nothing":            {[]string{created, ended("completed", "[]", "")}, llm.Answer{}},
		"after thinking":     {[]string{`{"type":"response.reasoning_summary_text.delta","delta":"Hm."}`, says("Hi"), ended("completed", output, "")}, llm.Answer{Text: "Hi"}},
		"cut off":            {[]string{says("H"), ended("incomplete", output, `,"incomplete_details":{"reason":"max_output_tokens"}`)}, llm.Answer{Text: "H", CutOff: true}},
		"filtered":           {[]string{says("H"), ended("incomplete", output, `,"incomplete_details":{"reason":"content_filter"}`)}, llm.Answer{Text: "H", Refused: true}},
		"refused":            {[]string{`{"type":"response.refusal.delta","delta":"No."}`, ended("completed", refusal, "")}, llm.Answer{Refused: true}},
		"refused at the end": {[]string{ended("completed", refusal, "")}, llm.Answer{Refused: true}},
		"a tool call":        {[]string{`{"type":"response.output_item.added","item":` + call + `}`, ended("completed", "[]", "")}, llm.Answer{ToolCall: true}},
		"a call at the end":  {[]string{ended("completed", "["+call+"]", "")}, llm.Answer{ToolCall: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := respond(t, wiretest.Stream(wiretest.Events(c.events...)), openai.Options{}, &llm.Completion{User: "x"})
			require.NoError(t, err)
			c.want.Model, c.want.Usage = "m-1", tokens
			requireAnswer(t, &c.want, got)
		})
	}
}

func TestResponsesAnswersAtOnce(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"r","object":"response","status":"completed","model":"m-1","error":null,"output":` + output + `}`
	got, _, err := respond(t, wiretest.Answer(200, "application/json", whole), openai.Options{}, &llm.Completion{User: "x"})
	require.NoError(t, err)
	requireAnswer(t, &llm.Answer{Text: "Hi", Model: "m-1"}, got)
}

func TestResponsesErrorsInTheStream(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]summarizers.ProviderError{
		`{"type":"error","code":"rate_limit_exceeded","message":"x"}`:             {Status: 200, Code: "rate_limit_exceeded", Retryable: true},
		`{"type":"error","code":null,"message":"x"}`:                              {Status: 200, Retryable: true},
		`{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`: {Status: 200, Code: "invalid_request_error"},
		ended("failed", "[]", `,"error":{"code":"server_error","message":"x"}`):   {Status: 200, Code: "server_error", Retryable: true},
		ended("failed", "[]", `,"error":{"code":"context_length_exceeded"}`):      {Status: 200, Code: "context_length_exceeded"},
		ended("failed", "[]", `,"error":null`):                                    {Status: 200, Retryable: true},
	} {
		answer, _, err := respond(t, wiretest.Stream(wiretest.Events(created, says("Hi"), event)), openai.Options{}, &llm.Completion{User: "x"})
		require.Equal(t, &want, err, event)
		if answer != nil {
			require.EqualValues(t, 20, answer.Usage.GetOutputTokens())
		}
		require.Equal(t, event[:10] == `{"type":"r`, answer != nil, "what a failed response took is lost")
	}
}

func TestResponsesRequests(t *testing.T) {
	t.Parallel()
	whole := wiretest.Stream(wiretest.Events(ended("completed", output, "")))
	_, seen, _ := respond(t, whole, openai.Options{APIKey: wiretest.Key}, &llm.Completion{
		System: "Be <short>.", User: "Hi & bye", MaxOutputTokens: 77, Effort: "low",
	})
	require.Equal(t, "/v1/responses", seen.Path)
	require.Equal(t, "Bearer "+wiretest.Key, seen.Header.Get("Authorization"))
	require.JSONEq(t, `{"model":"m","stream":true,"store":false,"max_output_tokens":77,"reasoning":{"effort":"low"},
		"instructions":"Be <short>.","input":[{"role":"user","content":[{"type":"input_text","text":"Hi & bye"}]}]}`, seen.Body)
	_, seen, _ = respond(t, whole, openai.Options{}, &llm.Completion{User: "Hi"})
	require.JSONEq(t, `{"model":"m","stream":true,"store":false,
		"input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}]}`, seen.Body)
}
