package overflow_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// TestWordingsOfProviders has more wordings than the seeds, with their figures: requested and limit, 0 for none.
func TestWordingsOfProviders(t *testing.T) {
	for text, want := range map[string]struct {
		status           uint32
		rule             string
		requested, limit uint32
	}{
		"Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.": {
			400, "vertex-input", 1251952, 1048576,
		},
		`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`: {400, "zhipu-length", 0, 0},
		"Upstream request failed: [1261] Prompt exceeds max length":       {0, "zhipu-length", 0, 0},
		`{"error":{"code":"1261","message":"?"}}`:                         {400, "zhipu-length", 0, 0},
		"Prompt 超长":       {400, "zhipu-length", 0, 0},
		"Prompt too long": {400, "prompt-too-long", 0, 0},
		"Input validation error: `inputs` must have less than 1024 tokens. Given: 1168": {422, "tgi-length", 1168, 1024},
		"Input tokens exceed the configured limit of 272000 tokens.":                    {400, "openai-configured", 0, 272000},
		"The total length of all messages is too long.":                                 {400, "perplexity-messages", 0, 0},
		"Input length 6491 exceeds context length 1500":                                 {0, "input-over-context", 6491, 1500},
		"input exceeds context length":                                                  {500, "input-over-context", 0, 0},
		"the input length exceeds the context length":                                   {500, "input-over-context", 0, 0},
		"max_tokens must be at least 1, got -186.":                                      {400, "vllm-no-room", 0, 0},
		"400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279": {
			400, "bedrock-titan", 9279, 8192,
		},
		"Too many input tokens. Max input tokens: 8192": {400, "bedrock-titan", 0, 8192},
		"3010: AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)": {
			413, "cloudflare-window", 35000, 24000,
		},
		"the number of input tokens 4098 cannot exceed the total tokens limit 4096 for this model":           {400, "watsonx-limit", 4098, 4096},
		"The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make sure that": {500, "vllm-prompt", 21535, 16384},
		"ValueError: Prompt length 9000 is greater than max_seq_len 8192":                                    {0, "tabby-length", 9000, 8192},
		"ValueError: Request length 71599 + 2048 is greater than max_seq_len 65536":                          {0, "tabby-length", 73647, 65536},
		"InvalidParameter: Total tokens of image and text exceed max message tokens. Request id: 0217":       {400, "doubao-tokens", 0, 0},
		"prompt tokens too long": {400, "qianfan-prompt", 0, 0},
		"Requested input length 5000 exceeds maximum input length 4096":        {400, "deepinfra-input", 5000, 4096},
		"The prompt is too long: 140000, model maximum context length: 131071": {400, "anthropic-prompt", 140000, 131071},
		"Please reduce the length of the messages. Current length is 9000 while limit is 8192": {
			400, "reduce-length", 9000, 8192,
		},
		"Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 124000 tokens from the input": {
			400, "context-length", 140000, 131072,
		},
		"This model's maximum context length is 2048 tokens and your request has 8 input tokens plus 2045 'max_tokens'": {
			400, "context-length", 2053, 2048,
		},
		"'max_tokens' is too large: 2045. This model's maximum context length is 2048 tokens and your request has 8 input tokens (2045 > 2048 - 8).": {
			400, "context-length", 2053, 2048,
		},
		"too many tokens: size limit exceeded by 713295 tokens. Try using shorter or fewer inputs. The limit for this model is 288000 tokens.": {
			400, "too-many-tokens", 0, 288000,
		},
	} {
		answer := said(t, want.status, text)
		require.Equal(t, want.rule, answer.GetRule(), text)
		require.Equal(t, contextOverflow, answer.GetErrorClass(), text)
		require.Equal(t, []uint32{want.requested, want.limit}, []uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()}, text)
		require.Equal(t, want.limit != 0, answer.LimitTokens != nil, text)
	}
}

// A text that is too long counts where a compaction makes it shorter.
func TestStringsThatAreTooLong(t *testing.T) {
	const rest = ": string too long. Expected a string with maximum length 64, but got a string with length 70 instead."
	for _, field := range []string{
		"input", "prompt", "input[0]", "messages[17].content", "input[0].content", "messages[1].content[0].text",
		"messages[1].content[0].image_url.url", "input[3].output", "input[3].arguments", "messages[2].tool_calls[0].function.arguments",
	} {
		for _, text := range []string{
			"Invalid '" + field + "'" + rest,
			`{"error":{"message":"?","type":"invalid_request_error","param":"` + field + `","code":"string_above_max_length"}}`,
		} {
			require.Equal(t, "string-too-long", said(t, 400, text).GetRule(), text)
			require.Equal(t, tooLarge, said(t, 400, text).GetErrorClass())
		}
	}
	for _, field := range []string{
		"input[3].call_id", "messages[2].tool_calls[0].id", "messages[2].tool_calls[0].function.name", "messages[0].name", "user",
		"tools[0].function.description", "tools[0].function.name", "metadata.content", "metadata.input", "prompt_cache_key", "input[3].id",
	} {
		for _, text := range []string{
			"Invalid '" + field + "'" + rest,
			`{"error":{"message":"Invalid '` + field + `'` + rest + `","param":"` + field + `","code":"string_above_max_length"}}`,
		} {
			require.Equal(t, other, said(t, 400, text).GetErrorClass(), text)
			require.Empty(t, said(t, 400, text).GetRule(), text)
		}
	}
}

// Words about tokens and limits alone are no overflow.
func TestLimitsOfAnotherKind(t *testing.T) {
	for text, rule := range map[string]string{
		"max_tokens cannot exceed 4096": "output-limit",
		"max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated.":         "output-limit",
		"max_tokens: 9000 exceeds the limit of 8192":                                                              "output-limit",
		"The requested max_tokens exceeds the maximum output tokens 8192 of the model":                            "output-limit",
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for the model":          "output-limit",
		"too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - got": "output-limit",
		"budget_tokens: token limit must be at least 1024":                                                        "",
		"Invalid value for 'context_length'":                                                                      "",
		"max_tokens must be at least 1, got -1.":                                                                  "",
		"max_tokens must be at least 1, got 0.":                                                                   "",
		"max_tokens is too large":                                                                                 "",
		"This model's token limit and context length are not known":                                               "",
	} {
		for _, status := range []uint32{0, 400, 422} {
			answer := said(t, status, text)
			require.Equal(t, other, answer.GetErrorClass(), text)
			require.Equal(t, rule, answer.GetRule(), text)
		}
	}
}

// A shorter context does not help where access is refused or the address is wrong.
func TestRefusedStatuses(t *testing.T) {
	for _, text := range []string{
		"", "Your token limit key has expired", "No endpoints found; try models with larger context length than that",
		"prompt is too long: 210000 tokens > 200000 maximum", "Request Entity Too Large",
	} {
		for _, status := range []uint32{401, 403, 404} {
			req := &compactordv1.ClassifyErrorRequest{
				ErrorText: text, HttpStatus: status, ProviderStopReason: "model_context_window_exceeded", Usage: used(1001, 0, 0, 0),
			}
			require.Equal(t, other, classify(t, req, 1000).GetErrorClass(), text)
			require.Equal(t, overflow.StatusRefused, classify(t, req, 1000).GetRule())
			req.StopReason = ended
			require.False(t, classify(t, req, 1000).GetOverflow())
		}
	}
	require.Equal(t, rateLimit, said(t, 403, "You exceeded your current quota").GetErrorClass())
}

// Only a wording that says how long to wait is a request to wait.
func TestPleaseTryAgain(t *testing.T) {
	for _, text := range []string{
		"Prompt is too long, please try again in a new session", "Prompt is too long. Please try again after compacting.",
		"prompt is too long, please try again with fewer messages",
	} {
		require.Equal(t, "anthropic-prompt", said(t, 400, text).GetRule(), text)
	}
	for _, text := range []string{
		"Too many tokens, please wait before trying again.", "too many tokens, please try again in 20s", "too many tokens, please retry after 6m0s",
		"too many tokens, please try again in a few seconds", "too many tokens, please try again in an hour",
		"too many tokens, please try again after about 5 minutes", "too many tokens, please try again after a short wait",
		"too many tokens, please retry your request after some time", "too many tokens, please try again after waiting",
	} {
		require.Equal(t, "please-wait", said(t, 400, text).GetRule(), text)
		require.Equal(t, rateLimit, said(t, 400, text).GetErrorClass())
	}
}

// TestCase145EachWording has the seeds' wordings, each as its provider writes it.
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
		// Later wordings, and those of other seeds.
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

func TestCase153NoText(t *testing.T) {
	for _, status := range []uint32{0, 400, 500} {
		answer := said(t, status, "")
		require.Equal(t, other, answer.GetErrorClass())
		require.Empty(t, answer.GetRule())
	}
	require.Equal(t, other, said(t, 0, " \n").GetErrorClass())
}

// Common words count only with a status that blames the request.
func TestCommonWordsNeedAStatus(t *testing.T) {
	for _, text := range []string{
		"more than the context length", "request exceeds context_length", "over the maximum context",
		"token limit reached", "max tokens exceeded", "larger than the context window", "exceeds max input tokens",
	} {
		require.Equal(t, "client-error-wording", said(t, 400, text).GetRule(), text)
		require.Equal(t, other, said(t, 0, text).GetErrorClass(), text)
		require.Equal(t, other, said(t, 500, text).GetErrorClass(), text)
	}
	require.Equal(t, other, said(t, 400, "max tokens must be at least 1").GetErrorClass())
}

// A shorter context does not help where the request asks for more output than the model can write.
func TestTooMuchOutputAskedFor(t *testing.T) {
	for _, text := range []string{
		"max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.",
		"The maximum tokens you requested exceeds the model limit of 32768",
	} {
		require.Equal(t, "output-limit", said(t, 400, text).GetRule(), text)
		require.Equal(t, other, said(t, 400, text).GetErrorClass())
	}
	answer := said(t, 400, "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context "+
		"length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000).")
	require.Equal(t, contextOverflow, answer.GetErrorClass(), "here a shorter context does help")
	require.Equal(t, []uint32{38192, 32768}, []uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()})
}

func TestOtherErrors(t *testing.T) {
	for _, text := range []string{
		"invalid api key", "model not found", "Internal server error", "messages: roles must alternate", "connection reset",
		"tool_use ids were found without tool_result blocks immediately after", "Overloading of operators", "context",
	} {
		for _, status := range []uint32{0, 400, 422, 500} {
			require.Equal(t, other, said(t, status, text).GetErrorClass(), text)
			require.Empty(t, said(t, status, text).GetRule())
		}
	}
}

// TestRules checks what the documents, and the search in lower-case text, need from the table.
func TestRules(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range overflow.Rules() {
		require.Regexp(t, `^[a-z][a-z0-9-]{0,63}$`, r.ID)
		require.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		require.NotEmpty(t, r.Sentence)
		require.NotEmpty(t, r.Source)
		require.NotContains(t, r.Pattern+r.Sentence+r.Source, "|\n")
		literal := regexp.MustCompile(`\\[A-Z]`).ReplaceAllString(r.Pattern, "")
		require.Equal(t, strings.ToLower(literal), literal, "%s would never match", r.ID)
		if r.Pattern != "" {
			require.False(t, regexp.MustCompile(r.Pattern).MatchString(""), r.ID)
		}
	}
}
