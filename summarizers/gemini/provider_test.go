package gemini_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/gemini"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const usageFields = `"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":64,"candidatesTokenCount":15,` +
	`"thoughtsTokenCount":5,"totalTokenCount":120},"modelVersion":"m-1"`

// piece returns a piece of a response with these parts.
func piece(parts string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0}],` + usageFields + `}`
}

// ends returns the last piece.
func ends(reason string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"` + reason + `","index":0}],` + usageFields + `}`
}

var (
	hi    = piece(`{"text":"Hi"}`)
	whole = wiretest.Events(hi, piece(`{"text":", 世界"}`), ends("STOP"))
)

func errorBody(code string) string {
	return `{"error":{"message":"what it says","status":"` + code + `"}}`
}

var spoken = wiretest.Spoken{
	New: func(o wiretest.Options) (llm.Provider, error) {
		return gemini.New(gemini.Options{
			Model: "m", BaseURL: o.BaseURL, APIKey: wiretest.Key, HTTPClient: o.HTTPClient,
			IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
		})
	},
	Whole: whole, Text: "Hi, 世界", End: ends("STOP"), More: hi, Error: errorBody,
	Variables: []string{
		"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION",
		"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
	},
}

func TestOnTheWire(t *testing.T) { wiretest.Run(t, spoken) }

func TestAnyShape(t *testing.T) {
	t.Parallel()
	wiretest.Mutate(t, spoken, 1000, wiretest.Events(piece(`{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"a":1}}}`), `{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"category":"x"}]}}`, ends("OTHER")))
}

func TestAnyBytes(t *testing.T) {
	t.Parallel()
	wiretest.AnyBytes(t, spoken, wiretest.Events(`{"candidates":{}}`), wiretest.Events(piece(`{"functionCall":{}}`), ends("OTHER")), wiretest.Events(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
}

// ask sends a completion to a server that gives this answer.
func ask(t *testing.T, answer http.HandlerFunc, base string, c *llm.Completion) (*llm.Answer, wiretest.Request, error) {
	t.Helper()
	server := wiretest.Serve(t, answer)
	p, err := gemini.New(gemini.Options{Model: "m", BaseURL: server.URL + base, HTTPClient: server.Client(), APIKey: wiretest.Key})
	require.NoError(t, err)
	require.Equal(t, compactordv1.Dialect_DIALECT_GEMINI, p.Dialect())
	got, err := wiretest.Ask(t, p, c)
	require.Len(t, server.Seen(), 1)
	return got, server.Seen()[0], err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	usage := &compactordv1.Usage{InputTokens: 36, OutputTokens: 20, CacheReadTokens: 64, TotalTokens: 120}
	thought := piece(`{"text":"Hm.","thought":true},{"text":"","thoughtSignature":"c2ln"}`)
	call := piece(`{"functionCall":{"name":"read","args":{"a":1}}}`)
	for name, c := range map[string]struct {
		events []string
		want   llm.Answer
	}{
		"text":                   {[]string{hi, ends("STOP")}, llm.Answer{Text: "Hi"}},
		"text and a late usage":  {[]string{`{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`, `{` + usageFields + `}`}, llm.Answer{Text: "Hi"}},
		"two parts":              {[]string{piece(`{"text":"H"},{"text":"i"}`), ends("STOP")}, llm.Answer{Text: "Hi"}},
		"nothing":                {[]string{ends("STOP")}, llm.Answer{}},
		"after thinking":         {[]string{thought, hi, ends("STOP")}, llm.Answer{Text: "Hi"}},
		"only thinking":          {[]string{thought, ends("MAX_TOKENS")}, llm.Answer{CutOff: true}},
		"cut off":                {[]string{hi, ends("MAX_TOKENS")}, llm.Answer{Text: "Hi", CutOff: true}},
		"a tool call":            {[]string{hi, call, ends("STOP")}, llm.Answer{Text: "Hi", ToolCall: true}},
		"a malformed call":       {[]string{ends("MALFORMED_FUNCTION_CALL")}, llm.Answer{ToolCall: true}},
		"an unexpected call":     {[]string{ends("UNEXPECTED_TOOL_CALL")}, llm.Answer{ToolCall: true}},
		"unsafe":                 {[]string{hi, ends("SAFETY")}, llm.Answer{Text: "Hi", Refused: true}},
		"prohibited":             {[]string{ends("PROHIBITED_CONTENT")}, llm.Answer{Refused: true}},
		"recited":                {[]string{ends("RECITATION")}, llm.Answer{Refused: true}},
		"on a list":              {[]string{ends("BLOCKLIST")}, llm.Answer{Refused: true}},
		"personal":               {[]string{ends("SPII")}, llm.Answer{Refused: true}},
		"a prompt that is unfit": {[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},` + usageFields + `}`}, llm.Answer{Refused: true}},
		"a reason yet unknown":   {[]string{hi, ends("ENOUGH")}, llm.Answer{Text: "Hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := ask(t, wiretest.Stream(wiretest.Events(c.events...)), "", &llm.Completion{User: "x"})
			require.NoError(t, err)
			require.True(t, proto.Equal(usage, got.Usage), "%v", got.Usage)
			got.Usage, c.want.Model = nil, "m-1"
			require.Equal(t, &c.want, got)
		})
	}
}

func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	got, _, err := ask(t, wiretest.Answer(200, "application/json", ends("MAX_TOKENS")), "", &llm.Completion{User: "x"})
	require.NoError(t, err)
	require.True(t, got.CutOff)
	require.EqualValues(t, 64, got.Usage.GetCacheReadTokens())
	got, _, err = ask(t, wiretest.Answer(200, "application/json", hi), "", &llm.Completion{User: "x"})
	var refused *summarizers.ProviderError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "stream_cut", refused.Code, "it does not say why the model stopped")
	require.Empty(t, got.Text)
}

func TestErrorsInTheStream(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]summarizers.ProviderError{
		`{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}`:      {Status: 200, Code: "UNAVAILABLE", Retryable: true},
		`{"error":{"code":400,"message":"x","status":"INVALID_ARGUMENT"}}`: {Status: 200, Code: "INVALID_ARGUMENT"},
		ends("OTHER"): {Status: 200, Code: "OTHER", Retryable: true},
		// Events that are not pieces of a response.
		`{"candidates":{}}`:       {Code: "stream_malformed", Retryable: true},
		`{"candidates":["text"]}`: {Code: "stream_malformed", Retryable: true},
		`[]`:                      {Code: "stream_malformed", Retryable: true},
	} {
		answer, _, err := ask(t, wiretest.Stream(wiretest.Events(hi, event)), "", &llm.Completion{User: "x"})
		var refused *summarizers.ProviderError
		require.ErrorAs(t, err, &refused, event)
		refused.Err = nil
		require.Equal(t, &want, refused, event)
		require.EqualValues(t, 64, answer.Usage.GetCacheReadTokens(), "what it took is lost")
	}
}

func TestRetryInfo(t *testing.T) {
	t.Parallel()
	const exhausted = `{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}]}}`
	for _, body := range []string{exhausted, "[" + exhausted + "]"} {
		_, _, err := ask(t, wiretest.Answer(429, "application/json", body), "", &llm.Completion{User: "x"})
		require.Equal(t, &summarizers.ProviderError{
			Status: 429, Code: "RESOURCE_EXHAUSTED", Retryable: true, RetryAfter: 17500 * time.Millisecond,
		}, err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	_, seen, _ := ask(t, wiretest.Stream(whole), "", &llm.Completion{System: "Be <short>.", User: "Hi & bye", MaxOutputTokens: 77, Effort: "low"})
	require.Equal(t, "/v1beta/models/m:streamGenerateContent", seen.Path)
	require.Equal(t, "alt=sse", seen.Query, "the key does not belong into an address")
	require.Equal(t, wiretest.Key, seen.Header.Get("X-Goog-Api-Key"))
	require.JSONEq(t, `{"systemInstruction":{"role":"user","parts":[{"text":"Be <short>."}]},
		"contents":[{"role":"user","parts":[{"text":"Hi & bye"}]}],
		"generationConfig":{"maxOutputTokens":77,"thinkingConfig":{"thinkingLevel":"LOW"}}}`, seen.Body)

	_, seen, _ = ask(t, wiretest.Stream(whole), "/proxy/v1/", &llm.Completion{User: "Hi", Effort: "-1"})
	require.Equal(t, "/proxy/v1/models/m:streamGenerateContent", seen.Path)
	require.JSONEq(t, `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],
		"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}}`, seen.Body)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]gemini.Options{
		"no model":       {APIKey: wiretest.Key},
		"no key":         {Model: "m"},
		"no host":        {Model: "m", APIKey: wiretest.Key, BaseURL: "http://"},
		"another scheme": {Model: "m", APIKey: wiretest.Key, BaseURL: "ftp://host"},
		"no address":     {Model: "m", APIKey: wiretest.Key, BaseURL: "::"},
		"parameters":     {Model: "m?key=", APIKey: wiretest.Key},
		"another path":   {Model: "../../m", APIKey: wiretest.Key},
	} {
		_, err := gemini.New(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), wiretest.Key)
	}
}
