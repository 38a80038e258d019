package overflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// TestWordingsOfProviders holds wordings that the seeds have not, with their figures: requested and limit, 0 for none.
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

// A text that is too long counts where compacting makes it shorter.
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

// Words of tokens and of limits make no overflow by themselves.
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

// Who is refused, or asks for what there is not, is not helped by a shorter context.
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

// Only who says how long to wait asks to wait.
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

// Where stop_reason is not set, the provider's own reason says how the answer ended.
func TestProviderStopReasonStandsIn(t *testing.T) {
	const unset = compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	for _, test := range []struct {
		stop     compactordv1.StopReason
		provider string
		usage    *compactordv1.Usage
		rule     string
	}{
		{unset, "stop", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "STOP", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "end_turn", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "completed", used(1001, 0, 0, 5), overflow.UsageOverWindow},
		{unset, "stop", used(1000, 0, 0, 5), ""},
		{unset, "length", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "max_tokens", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "MAX_TOKENS", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "max_output_tokens", used(990, 0, 0, 0), overflow.UsageNoOutput},
		{unset, "length", used(989, 0, 0, 0), ""},
		{unset, "length", used(2000, 0, 0, 5), ""},
		{unset, "tool_use", used(2000, 0, 0, 5), ""},
		{unset, "stopped", used(2000, 0, 0, 0), ""},
		{unset, "", used(2000, 0, 0, 0), ""},
		{failed, "stop", used(2000, 0, 0, 0), ""},
		{atLimit, "stop", used(2000, 0, 0, 5), ""},
		{calling, "stop", used(2000, 0, 0, 5), ""},
	} {
		req := &compactordv1.ClassifyErrorRequest{StopReason: test.stop, ProviderStopReason: test.provider, Usage: test.usage}
		require.Equal(t, test.rule, classify(t, req, 1000).GetRule(), req)
	}
	for _, provider := range []string{"stop", "END_TURN", "completed", "length", "max_tokens", "tool_calls"} {
		req := &compactordv1.ClassifyErrorRequest{ErrorText: "prompt is too long: 2 tokens > 1 maximum", ProviderStopReason: provider}
		answer := classify(t, req, 0)
		require.Equal(t, other, answer.GetErrorClass(), "a model may write this and end with %s", provider)
		require.Nil(t, answer.RequestedTokens)
		req.HttpStatus = 400
		require.True(t, classify(t, req, 0).GetOverflow(), "a status says that it is an error")
		req.HttpStatus, req.StopReason = 0, failed
		require.True(t, classify(t, req, 0).GetOverflow(), "stop_reason wins")
	}
	req := &compactordv1.ClassifyErrorRequest{ErrorText: "prompt is too long", ProviderStopReason: "error"}
	require.True(t, classify(t, req, 0).GetOverflow(), "an unknown reason says nothing")
}

// The expressions of a configuration say what their figures are.
func TestFiguresOfExtra(t *testing.T) {
	c, err := overflow.New(overflow.Extra{
		Patterns: []overflow.Pattern{
			{ID: "both", Expression: `Lane of (?P<limit>[\d,]+) tokens got (?P<requested>\d+)`},
			{ID: "one", Expression: `brim at (?P<limit>\d+)(?: of (\w+))?`},
			{ID: "maybe", Expression: `spilt(?: (?P<requested>\d+))?`},
		},
		Exclusions: []overflow.Pattern{{ID: "slow", Expression: `slow down, (?P<requested>\d+) an hour`}},
	})
	require.NoError(t, err)
	for text, want := range map[string][2]uint32{
		"LANE OF 8,192 TOKENS GOT 9000":                       {9000, 8192},
		"brim at 7; prompt is too long: 9 tokens > 8 maximum": {9, 7},
		"spilt, and prompt is too long: 9 tokens > 8 maximum": {9, 8},
		"spilt 5":               {5, 0},
		"spilt 99999999999":     {0, 0},
		"slow down, 12 an hour": {12, 0},
	} {
		answer := c.Classify(&compactordv1.ClassifyErrorRequest{ErrorText: text}, 0)
		require.Equal(t, want, [2]uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()}, text)
		require.Equal(t, want[0] != 0, answer.RequestedTokens != nil, text)
		require.Equal(t, want[1] != 0, answer.LimitTokens != nil, text)
	}
	_, err = overflow.New(overflow.Extra{Patterns: []overflow.Pattern{{ID: "a", Expression: `(?P<requests>\d+)`}}})
	require.EqualError(t, err,
		`patterns[0]: id "a": pattern has a group "requests": only requested and limit may be names of groups`)
}
