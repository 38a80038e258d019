package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

// chunk returns a chunk of a chat completion with this delta and this stop reason.
func chunk(delta, reason string) string {
	return `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + reason + `}]}`
}

const chatUsage = `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[],"usage":` +
	`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64}}}`

var (
	chatEnd   = chunk(`{}`, `"stop"`)
	chatWhole = wiretest.Events(
		chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{"content":"Hel"}`, "null"), chunk(`{"content":"lo, 世界"}`, "null"),
		chatEnd, chatUsage, "[DONE]")
)

var spokenChat = wiretest.Spoken{
	New: making(openai.APIChat), Whole: chatWhole, Text: "Hello, 世界", End: chatEnd,
	More: chunk(`{"content":"more "}`, "null"), Error: errorBody, Variables: variables,
}

func TestChatOnTheWire(t *testing.T) { wiretest.Run(t, spokenChat) }

func TestChatOfAnyShape(t *testing.T) {
	t.Parallel()
	wiretest.Mutate(t, spokenChat, 1000, wiretest.Events(chunk(`{"content":"Hi","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}`, `"length"`), chatUsage))
}

func TestChatOfAnyBytes(t *testing.T) {
	t.Parallel()
	wiretest.AnyBytes(t, spokenChat, chunk(`{"tool_calls":[{"index":0}],"refusal":"x"}`, `"length"`), chatUsage,
		`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
}

// chat sends a completion to a server that gives this answer.
func chat(t *testing.T, answer http.HandlerFunc, o openai.Options, c *llm.Completion) (*llm.Answer, wiretest.Request, error) {
	t.Helper()
	server := wiretest.Serve(t, answer)
	o.Model, o.BaseURL, o.HTTPClient = "m", server.URL+"/v1", server.Client()
	p, err := openai.New(o)
	require.NoError(t, err)
	got, err := wiretest.Ask(t, p, c)
	require.Len(t, server.Seen(), 1)
	return got, server.Seen()[0], err
}

func TestChatAnswers(t *testing.T) {
	t.Parallel()
	usage := &compactordv1.Usage{InputTokens: 36, OutputTokens: 20, CacheReadTokens: 64, TotalTokens: 120}
	begin := chunk(`{"role":"assistant","content":"Hi"}`, "null")
	for name, c := range map[string]struct {
		events []string
		want   llm.Answer
	}{
		"with usage":             {[]string{begin, chatEnd, chatUsage, "[DONE]"}, llm.Answer{Text: "Hi", Model: "m-1", Usage: usage}},
		"without usage":          {[]string{begin, chatEnd, "[DONE]"}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"without an end":         {[]string{begin, chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"with an error of null":  {[]string{`{"error":null,` + begin[1:], chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"with the end in one":    {[]string{chunk(`{"content":"Hi"}`, `"stop"`)}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"with another's reason":  {[]string{chunk(`{"content":"Hi"}`, `"eos"`)}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"with parts":             {[]string{chunk(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"Hi"}]}`, "null"), chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"cut off by its limit":   {[]string{begin, chunk(`{}`, `"max_tokens"`)}, llm.Answer{Text: "Hi", Model: "m-1", CutOff: true}},
		"nothing":                {[]string{chatEnd}, llm.Answer{Model: "m-1"}},
		"cut off":                {[]string{begin, chunk(`{}`, `"length"`)}, llm.Answer{Text: "Hi", Model: "m-1", CutOff: true}},
		"filtered":               {[]string{begin, chunk(`{}`, `"content_filter"`)}, llm.Answer{Text: "Hi", Model: "m-1", Refused: true}},
		"refused":                {[]string{chunk(`{"refusal":"No."}`, "null"), chatEnd}, llm.Answer{Model: "m-1", Refused: true}},
		"thinking of DeepSeek":   {[]string{chunk(`{"reasoning_content":"Hm.","content":null}`, "null"), begin, chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"thinking of OpenRouter": {[]string{chunk(`{"reasoning":"Hm.","content":""}`, "null"), begin, chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"another choice":         {[]string{`{"choices":[{"index":1,"delta":{"content":"Ho"}}]}`, begin, chatEnd}, llm.Answer{Text: "Hi", Model: "m-1"}},
		"a tool call": {[]string{
			begin, chunk(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]}`, "null"), chatEnd,
		}, llm.Answer{Text: "Hi", Model: "m-1", ToolCall: true}},
		"stopped for a tool call": {[]string{chunk(`{}`, `"tool_calls"`)}, llm.Answer{Model: "m-1", ToolCall: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := chat(t, wiretest.Stream(wiretest.Events(c.events...)), openai.Options{}, &llm.Completion{User: "x"})
			require.NoError(t, err)
			requireAnswer(t, &c.want, got)
		})
	}
}

// requireAnswer compares answers.
func requireAnswer(t *testing.T, want, got *llm.Answer) {
	t.Helper()
	require.True(t, proto.Equal(want.Usage, got.Usage), "%v", got.Usage)
	w, g := *want, *got
	w.Usage, g.Usage = nil, nil
	require.Equal(t, w, g)
}

func TestChatAnswersAtOnce(t *testing.T) {
	t.Parallel()
	const completion = `{"id":"1","object":"chat.completion","model":"m-1","choices":[{"index":0,"finish_reason":"length",` +
		`"message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	got, _, err := chat(t, wiretest.Answer(200, "application/json", completion), openai.Options{}, &llm.Completion{User: "x"})
	require.NoError(t, err)
	requireAnswer(t, &llm.Answer{
		Text: "Hi", Model: "m-1", CutOff: true, Usage: &compactordv1.Usage{InputTokens: 3, OutputTokens: 2, TotalTokens: 5},
	}, got)
}

func TestChatErrorsInTheStream(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]summarizers.ProviderError{
		`{"error":{"message":"x","type":"server_error"}}`:                      {Status: 200, Code: "server_error", Retryable: true},
		`{"error":{"message":"x","code":502}}`:                                 {Status: 200, Code: "502", Retryable: true},
		`{"error":{"message":"x","code":"502"}}`:                               {Status: 200, Code: "502", Retryable: true},
		`{"error":{"message":"x","type":"insufficient_quota","code":"quota"}}`: {Status: 200, Code: "insufficient_quota", RefusesAll: true},
		`{"error":"out of memory"}`:                                            {Status: 200, Retryable: true},
		`{"object":"error","message":"x","type":"BadRequestError","code":400}`: {Status: 200, Code: "BadRequestError"},
		chunk(`{"content":""}`, `"error"`):                                     {Status: 200, Code: "error", Retryable: true},
		chunk(`{"content":""}`, `"abort"`):                                     {Status: 200, Code: "abort", Retryable: true},
	} {
		begin := wiretest.Events(chunk(`{"content":"Hi"}`, "null"), chatUsage)
		answer, _, err := chat(t, wiretest.Stream(begin+wiretest.Events(event)), openai.Options{}, &llm.Completion{User: "x"})
		require.Equal(t, &want, err, event)
		require.EqualValues(t, 20, answer.Usage.GetOutputTokens(), "what it took is lost")
	}
}

func TestChatRequests(t *testing.T) {
	t.Parallel()
	whole := wiretest.Stream(chatWhole)
	_, seen, _ := chat(t, whole, openai.Options{APIKey: wiretest.Key}, &llm.Completion{
		System: "Be <short>.", User: "Hi & bye", MaxOutputTokens: 77, Effort: "low",
	})
	require.Equal(t, "/v1/chat/completions", seen.Path)
	require.Equal(t, "Bearer "+wiretest.Key, seen.Header.Get("Authorization"))
	require.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":77,"reasoning_effort":"low",
		"messages":[{"role":"system","content":"Be <short>."},{"role":"user","content":"Hi & bye"}]}`, seen.Body)

	_, seen, _ = chat(t, whole, openai.Options{TokenLimit: openai.MaxCompletionTokens}, &llm.Completion{User: "Hi", MaxOutputTokens: 77})
	require.NotContains(t, seen.Header, "Authorization")
	require.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":77,
		"messages":[{"role":"user","content":"Hi"}]}`, seen.Body)
}

// redirecting sends requests for a host to the test's server.
type redirecting struct {
	to   *wiretest.Server
	host string
}

func (r *redirecting) RoundTrip(req *http.Request) (*http.Response, error) {
	r.host = req.URL.Host
	req.URL.Scheme, req.URL.Host = "http", r.to.Listener.Addr().String()
	return r.to.Client().Transport.RoundTrip(req)
}

func TestChatLimitByHost(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"":                                openai.MaxCompletionTokens,
		"https://eu.api.openai.com/v1":    openai.MaxCompletionTokens,
		"https://openrouter.ai/api/v1":    openai.MaxTokens,
		"https://notapi.openai.com.x/v1/": openai.MaxTokens,
	} {
		server := wiretest.Serve(t, wiretest.Stream(chatWhole))
		p, err := openai.New(openai.Options{
			Model: "m", BaseURL: base, HTTPClient: &http.Client{Transport: &redirecting{to: server}},
		})
		require.NoError(t, err)
		_, err = wiretest.Ask(t, p, &llm.Completion{User: "x", MaxOutputTokens: 5})
		require.NoError(t, err)
		var body map[string]any
		require.NoError(t, json.Unmarshal([]byte(server.Seen()[0].Body), &body))
		require.EqualValues(t, 5, body[want], base)
	}
}
