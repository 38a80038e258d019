package overflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	other           = compactordv1.ErrorClass_ERROR_CLASS_OTHER
	contextOverflow = compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW
	tooLarge        = compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE
	rateLimit       = compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT
)

const (
	failed  = compactordv1.StopReason_STOP_REASON_ERROR
	ended   = compactordv1.StopReason_STOP_REASON_END
	atLimit = compactordv1.StopReason_STOP_REASON_LENGTH
	calling = compactordv1.StopReason_STOP_REASON_TOOL_USE
)

func classify(
	t testing.TB, req *compactordv1.ClassifyErrorRequest, window uint32,
) *compactordv1.ClassifyErrorResponse {
	t.Helper()
	c, err := overflow.New(overflow.Extra{})
	require.NoError(t, err)
	return c.Classify(req, window)
}

// said classifies a text that a provider answered with a status; 0 is not known.
func said(t testing.TB, status uint32, text string) *compactordv1.ClassifyErrorResponse {
	t.Helper()
	return classify(t, &compactordv1.ClassifyErrorRequest{ErrorText: text, HttpStatus: status, StopReason: failed}, 0)
}

// TestCase145EachWording holds the seeds' wordings, each as its provider writes it.
func TestCase145EachWording(t *testing.T) {
	for text, rule := range map[string]string{
		"prompt is too long: 210000 tokens > 200000 maximum":                                      "anthropic-prompt",
		"ValidationException: Input is too long for requested model.":                             "bedrock-input",
		"Your input exceeds the context window of this model.":                                    "openai-window",
		"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).": "gemini-input",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.":    "xai-prompt",
		"Please reduce the length of the messages or completion.":                                 "reduce-length",
		"This endpoint's maximum context length is 128000 tokens.":                                "context-length",
		"prompt token count of 135000 exceeds the limit of 128000":                                "copilot-limit",
		"the request exceeds the available context size, try increasing it":                       "llamacpp-size",
		"tokens to keep from the initial prompt is greater than the context length":               "lmstudio-length",
		"invalid params, context window exceeds limit (2013)":                                     "minimax-window",
		"Your request exceeded model token limit: 262144 (requested: 291351)":                     "kimi-limit",
		"Prompt contains 40000 tokens, too large for model with 32768 maximum context length":     "mistral-length",
		"Provider finish_reason: model_context_window_exceeded":                                   "window-exceeded",
		"context_length_exceeded":              "length-exceeded",
		"Context length exceeded":              "length-exceeded",
		"too many tokens: the prompt has 9000": "too-many-tokens",
		"Token limit exceeded":                 "limit-exceeded",
		// Those that came later, and other seeds' own.
		"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000":           "anthropic-input-and-output",
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).": "together-input",
		"prompt too long; exceeded max context length by 12 tokens":                            "ollama-prompt",
		"prompt exceeds the maximum allowed input length of 32768 tokens":                      "proxy-input",
		"your prompt contains at least 30000 input tokens":                                     "vllm-total",
		"Range of input length should be [1, 30720]":                                           "qwen-range",
		"exceeds the maximum number of tokens":                                                 "maximum-tokens",
		"input too long":                                                                       "input-too-long",
		"Requested tokens (612) exceed context window of 512":                                  "llamacpp-python-window",
		"`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens":      "tgi-inputs",
	} {
		for _, spelt := range []string{text, strings.ToUpper(text), `{"error":{"message":"` + text + `"}}`} {
			answer := said(t, 0, spelt)
			require.Equal(t, contextOverflow, answer.GetErrorClass(), spelt)
			require.Equal(t, rule, answer.GetRule(), spelt)
			require.True(t, answer.GetOverflow())
			require.NotEmpty(t, answer.GetWhy())
		}
		for _, stop := range []compactordv1.StopReason{
			ended, atLimit, calling, compactordv1.StopReason_STOP_REASON_ABORTED,
		} {
			req := &compactordv1.ClassifyErrorRequest{ErrorText: text, StopReason: stop}
			require.Equal(t, other, classify(t, req, 0).GetErrorClass(), "a model may write %q", text)
			req.HttpStatus = 400
			require.Equal(t, contextOverflow, classify(t, req, 0).GetErrorClass(), "a status says that it is an error")
		}
	}
}

func TestCase146NoBody(t *testing.T) {
	for _, text := range []string{
		"400 status code (no body)", "413 status code (no body)", "413 (no body)", "400 (no body)", "400status code(no body)",
	} {
		require.Equal(t, "no-body", said(t, 0, text).GetRule(), text)
	}
	for _, text := range []string{"429 status code (no body)", "429 (no body)"} {
		require.Equal(t, rateLimit, said(t, 0, text).GetErrorClass(), text)
		require.False(t, said(t, 429, text).GetOverflow())
	}
	require.Equal(t, other, said(t, 500, "500 status code (no body)").GetErrorClass())
}

func TestCase147OnlyAtTheStart(t *testing.T) {
	for _, status := range []uint32{0, 400} {
		require.Equal(t, other, said(t, status, "Error: 400 status code (no body)").GetErrorClass())
	}
}

func TestCase148RateLimitsAreNoOverflow(t *testing.T) {
	for text, rule := range map[string]string{
		"Too many tokens, please wait before trying again.":                          "please-wait",
		"rate limit: too many tokens per minute":                                     "rate-limit",
		"rate limit: token limit per minute":                                         "rate-limit",
		"ThrottlingException: Too many tokens":                                       "throttled",
		"Throttling error: Too many tokens, please wait before trying again.":        "throttled",
		"Too Many Requests: context_length_exceeded":                                 "too-many-requests",
		"Limit 30000 tokens per min exceeded, too many tokens":                       "tokens-per-time",
		"too many tokens for your TPM":                                               "tokens-per-time",
		"You exceeded your current quota: too many tokens":                           "quota",
		`{"error":{"status":"RESOURCE_EXHAUSTED","message":"token limit exceeded"}}`: "quota",
		"(429 Too many tokens)":                                                      "text-429",
		`Error code: 429 - {"error":{"message":"too many tokens"}}`:                  "text-429",
		`{"error":{"code":429,"message":"exceeds the limit of 100"}}`:                "text-429",
		`{"statusCode":429,"body":"prompt is too long"}`:                             "text-429",
		`429 {"type":"error","error":{"message":"prompt is too long"}}`:              "text-429",
	} {
		answer := said(t, 0, text)
		require.Equal(t, rateLimit, answer.GetErrorClass(), text)
		require.Equal(t, rule, answer.GetRule(), text)
		require.False(t, answer.GetOverflow())
	}
	for _, text := range []string{"Service unavailable: too many tokens", `{"type":"overloaded_error"}`} {
		require.Equal(t, other, said(t, 0, text).GetErrorClass())
		require.Equal(t, "unavailable", said(t, 0, text).GetRule())
	}
	require.Equal(t, overflow.Status429, said(t, 429, "prompt is too long").GetRule(), "the status wins over the text")
	require.Equal(t, contextOverflow, said(t, 0, "the corporate limit: prompt is too long: 1429 tokens").GetErrorClass(),
		"words within words are none")
}

func used(input, cacheRead, cacheWrite, output uint32) *compactordv1.Usage {
	return &compactordv1.Usage{
		InputTokens: input, CacheReadTokens: cacheRead, CacheWriteTokens: cacheWrite, OutputTokens: output,
	}
}

func TestCase149SilentOverflow(t *testing.T) {
	for _, test := range []struct {
		usage *compactordv1.Usage
		rule  string
	}{
		{used(600, 400, 0, 5), ""},
		{used(601, 400, 0, 5), overflow.UsageOverWindow},
		{used(600, 401, 0, 5), overflow.UsageOverWindow},
		{used(600, 400, 1000, 1000), ""},
		{used(1<<31, 1<<31, 0, 0), overflow.UsageOverWindow},
	} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, Usage: test.usage}, 1000)
		require.Equal(t, test.rule, answer.GetRule(), test.usage)
		require.Equal(t, test.rule != "", answer.GetOverflow())
	}
}

func TestCase150OnlyWhereItEndedByItself(t *testing.T) {
	for _, stop := range []compactordv1.StopReason{
		atLimit, calling, failed, compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
		compactordv1.StopReason_STOP_REASON_ABORTED,
	} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: stop, Usage: used(1001, 0, 0, 5)}, 1000)
		require.Equal(t, other, answer.GetErrorClass(), stop)
	}
}

func TestCase151WindowUnknown(t *testing.T) {
	for _, stop := range []compactordv1.StopReason{ended, atLimit} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: stop, Usage: used(1<<31, 0, 0, 0)}, 0)
		require.Equal(t, other, answer.GetErrorClass())
	}
	require.Equal(t, contextOverflow, said(t, 400, "prompt is too long").GetErrorClass())
}

func TestCase152LengthWithoutOutput(t *testing.T) {
	for _, test := range []struct {
		usage *compactordv1.Usage
		rule  string
	}{
		{used(500, 490, 0, 0), overflow.UsageNoOutput},
		{used(500, 489, 0, 0), ""},
		{used(500, 490, 0, 1), ""},
		{used(2000, 0, 0, 0), overflow.UsageNoOutput},
	} {
		req := &compactordv1.ClassifyErrorRequest{StopReason: atLimit, Usage: test.usage}
		require.Equal(t, test.rule, classify(t, req, 1000).GetRule(), test.usage)
	}
}

func TestCase153NoText(t *testing.T) {
	for _, status := range []uint32{0, 400, 500} {
		answer := said(t, status, "")
		require.Equal(t, other, answer.GetErrorClass())
		require.Empty(t, answer.GetRule())
	}
	require.Equal(t, other, said(t, 0, " \n").GetErrorClass())
}

func TestCase165ProviderStopReason(t *testing.T) {
	for _, reason := range []string{"model_context_window_exceeded", "MODEL_CONTEXT_WINDOW_EXCEEDED", "contextLengthReached"} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, ProviderStopReason: reason}, 0)
		require.Equal(t, contextOverflow, answer.GetErrorClass(), reason)
		require.Equal(t, overflow.ProviderStopped, answer.GetRule())
	}
	for _, reason := range []string{"", "stop", "length", "max_tokens", "not model_context_window_exceeded"} {
		answer := classify(t, &compactordv1.ClassifyErrorRequest{StopReason: ended, ProviderStopReason: reason}, 0)
		require.Equal(t, other, answer.GetErrorClass(), reason)
	}
}
