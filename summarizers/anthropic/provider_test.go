package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/anthropic"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	start = `{"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m-1","content":[],` +
		`"stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":64,"cache_creation_input_tokens":5,"output_tokens":1}}}`
	block = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hi    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`
	stop  = `{"type":"message_stop"}`
)

// ends returns the event with the stop reason.
func ends(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":20}}`
}

// A stream in Anthropic's format, with the names of the events.
const whole = "event: message_start\ndata: " + start + "\n\n" +
	"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
	"event: content_block_start\ndata: " + block + "\n\n" +
	"event: content_block_delta\ndata: " + hi + "\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\", 世界\"}}\n\n" +
	"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
	"event: message_delta\ndata: " + wholeEnd + "\n\n" +
	"event: message_stop\ndata: " + stop + "\n\n"

const wholeEnd = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}`

func errorBody(code string) string {
	return `{"type":"error","error":{"type":"` + code + `","message":"what it says"},"request_id":"r"}`
}

var spoken = wiretest.Spoken{
	New: func(o wiretest.Options) (llm.Provider, error) {
		return anthropic.New(anthropic.Options{
			Model: "m", BaseURL: o.BaseURL, APIKey: wiretest.Key, HTTPClient: o.HTTPClient,
			IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
		})
	},
	Whole: whole, Text: "Hi, 世界", End: wholeEnd, More: hi, Error: errorBody,
	Variables: []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS",
		"ANTHROPIC_CONFIG_DIR", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID",
		"ANTHROPIC_WORKSPACE_ID",
	},
}

func TestOnTheWire(t *testing.T) { wiretest.Run(t, spoken) }

func TestAnyShape(t *testing.T) {
	t.Parallel()
	wiretest.Mutate(t, spoken, 1000, wiretest.Events(start, block, hi, ends("max_tokens")))
}

func TestAnyBytes(t *testing.T) {
	t.Parallel()
	wiretest.AnyBytes(t, spoken, wiretest.Events(start, block, ends("max_tokens"), stop), wiretest.Events(ends("model_context_window_exceeded")))
}

// ask sends a completion to a server that gives this answer.
func ask(t *testing.T, answer http.HandlerFunc, o anthropic.Options, c *llm.Completion) (*llm.Answer, wiretest.Request, error) {
	t.Helper()
	server := wiretest.Serve(t, answer)
	o.Model, o.BaseURL, o.HTTPClient = "m", server.URL+o.BaseURL, server.Client()
	p, err := anthropic.New(o)
	require.NoError(t, err)
	require.Equal(t, compactordv1.Dialect_DIALECT_ANTHROPIC, p.Dialect())
	got, err := wiretest.Ask(t, p, c)
	require.Len(t, server.Seen(), 1)
	return got, server.Seen()[0], err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	usage := &compactordv1.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 64, CacheWriteTokens: 5}
	call := `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}`
	input := `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`
	thinking := `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
	thought := `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`
	signed := `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`
	for name, c := range map[string]struct {
		events []string
		want   llm.Answer
	}{
		"without names":         {[]string{start, block, hi, ends("end_turn"), stop}, llm.Answer{Text: "Hi"}},
		"without the last":      {[]string{start, block, hi, ends("end_turn")}, llm.Answer{Text: "Hi"}},
		"by a sequence":         {[]string{start, block, hi, ends("stop_sequence"), stop}, llm.Answer{Text: "Hi"}},
		"nothing":               {[]string{start, ends("end_turn"), stop}, llm.Answer{}},
		"after thinking":        {[]string{start, thinking, thought, signed, block, hi, ends("end_turn"), stop}, llm.Answer{Text: "Hi"}},
		"only thinking":         {[]string{start, thinking, thought, signed, ends("max_tokens"), stop}, llm.Answer{CutOff: true}},
		"cut off":               {[]string{start, block, hi, ends("max_tokens"), stop}, llm.Answer{Text: "Hi", CutOff: true}},
		"a tool call":           {[]string{start, block, hi, call, input, ends("tool_use"), stop}, llm.Answer{Text: "Hi", ToolCall: true}},
		"a tool call, cut off":  {[]string{start, call, input, ends("max_tokens"), stop}, llm.Answer{ToolCall: true, CutOff: true}},
		"stopped for a call":    {[]string{start, ends("tool_use"), stop}, llm.Answer{ToolCall: true}},
		"paused at the server":  {[]string{start, block, hi, ends("pause_turn"), stop}, llm.Answer{Text: "Hi", ToolCall: true}},
		"refused":               {[]string{start, block, hi, ends("refusal"), stop}, llm.Answer{Text: "Hi", Refused: true}},
		"text in the beginning": {[]string{start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`, ends("end_turn")}, llm.Answer{Text: "Hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := ask(t, wiretest.Stream(wiretest.Events(c.events...)), anthropic.Options{}, &llm.Completion{User: "x"})
			require.NoError(t, err)
			require.True(t, proto.Equal(usage, got.Usage), "%v", got.Usage)
			got.Usage, c.want.Model = nil, "m-1"
			require.Equal(t, &c.want, got)
		})
	}
}

func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	const message = `{"id":"1","type":"message","role":"assistant","model":"m-1","stop_reason":"max_tokens","content":[` +
		`{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"Hi"}],"usage":{"input_tokens":3,"output_tokens":2}}`
	got, _, err := ask(t, wiretest.Answer(200, "application/json", message), anthropic.Options{}, &llm.Completion{User: "x"})
	require.NoError(t, err)
	require.True(t, proto.Equal(&compactordv1.Usage{InputTokens: 3, OutputTokens: 2}, got.Usage), "%v", got.Usage)
	got.Usage = nil
	require.Equal(t, &llm.Answer{Text: "Hi", Model: "m-1", CutOff: true}, got)
	// A whole body that is longer than an answer may be is cut.
	finished := strings.Replace(message, "max_tokens", "end_turn", 1)
	for limit, cutOff := range map[int64]bool{1: true, 2: false} {
		got, _, err = ask(t, wiretest.Answer(200, "application/json", finished), anthropic.Options{MaxAnswerBytes: limit}, &llm.Completion{User: "x"})
		require.NoError(t, err)
		require.Equal(t, cutOff, got.CutOff, limit)
		require.Equal(t, cutOff, got.Text == "", limit)
	}
}

// Servers that imitate Anthropic's report the input only at the end, or not at all.
func TestUsageFromElsewhere(t *testing.T) {
	t.Parallel()
	const bare = `{"type":"message_start","message":{"model":"m-1"}}`
	const late = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":7,"output_tokens":2}}`
	got, _, err := ask(t, wiretest.Stream(wiretest.Events(bare, block, hi, late)), anthropic.Options{}, &llm.Completion{User: "x"})
	require.NoError(t, err)
	require.True(t, proto.Equal(&compactordv1.Usage{InputTokens: 7, OutputTokens: 2}, got.Usage), "%v", got.Usage)
	const none = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
	got, _, err = ask(t, wiretest.Stream(wiretest.Events(bare, block, hi, none)), anthropic.Options{}, &llm.Completion{User: "x"})
	require.NoError(t, err)
	require.Nil(t, got.Usage)
}

func TestErrorsInTheStream(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]summarizers.ProviderError{
		errorBody("overloaded_error"):         {Status: 200, Code: "overloaded_error", Retryable: true},
		errorBody("api_error"):                {Status: 200, Code: "api_error", Retryable: true},
		errorBody("billing_error"):            {Status: 200, Code: "billing_error", RefusesAll: true},
		ends("model_context_window_exceeded"): {Status: 200, Code: "model_context_window_exceeded", Overflow: true},
	} {
		body := wiretest.Events(start, block, hi) + "event: error\n" + wiretest.Events(event)
		answer, _, err := ask(t, wiretest.Stream(body), anthropic.Options{}, &llm.Completion{User: "x"})
		require.Equal(t, &want, err, event)
		require.EqualValues(t, 10, answer.Usage.GetInputTokens(), "what it took is lost")
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	_, seen, _ := ask(t, wiretest.Stream(whole), anthropic.Options{APIKey: wiretest.Key}, &llm.Completion{
		System: "Be <short>.", User: "Hi & bye", MaxOutputTokens: 77, Effort: "low",
	})
	require.Equal(t, "/v1/messages", seen.Path)
	require.Equal(t, wiretest.Key, seen.Header.Get("X-Api-Key"))
	require.Equal(t, "2023-06-01", seen.Header.Get("Anthropic-Version"))
	require.JSONEq(t, `{"model":"m","stream":true,"max_tokens":77,"output_config":{"effort":"low"},
		"system":[{"type":"text","text":"Be <short>."}],
		"messages":[{"role":"user","content":[{"type":"text","text":"Hi & bye"}]}]}`, seen.Body)

	_, seen, _ = ask(t, wiretest.Stream(whole), anthropic.Options{BaseURL: "/proxy/v1/"}, &llm.Completion{User: "Hi", MaxOutputTokens: 77})
	require.Equal(t, "/proxy/v1/messages", seen.Path)
	require.NotContains(t, seen.Header, "X-Api-Key")
	require.NotContains(t, seen.Header, "Authorization")
	require.JSONEq(t, `{"model":"m","stream":true,"max_tokens":77,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`, seen.Body)
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effort, want string
		limit        uint32
	}{
		{"2000", `{"type":"enabled","budget_tokens":2000}`, 8000},
		{"9000", `{"type":"enabled","budget_tokens":7999}`, 8000},
		{"9000", `{"type":"disabled"}`, 1024},
		{"0", `{"type":"disabled"}`, 8000},
	} {
		_, seen, _ := ask(t, wiretest.Stream(whole), anthropic.Options{}, &llm.Completion{User: "x", MaxOutputTokens: c.limit, Effort: c.effort})
		require.Contains(t, seen.Body, `"messages":`)
		require.Contains(t, seen.Body, `"max_tokens":`)
		require.JSONEq(t, c.want, member(t, seen.Body, "thinking"))
		require.NotContains(t, seen.Body, "effort")
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]anthropic.Options{
		"no model":       {},
		"no host":        {Model: "m", BaseURL: "http://"},
		"another scheme": {Model: "m", BaseURL: "ftp://host"},
		"no address":     {Model: "m", BaseURL: "::"},
	} {
		o.APIKey = wiretest.Key
		_, err := anthropic.New(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), wiretest.Key)
	}
}
