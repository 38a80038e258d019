package overflow_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Sizes in bytes are told apart from those in tokens, which say more.
func TestTooLargeInBytes(t *testing.T) {
	for text, rule := range map[string]string{
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`: "request-too-large",
		"Request too large": "request-too-large",
		"<html><title>413 Request Entity Too Large</title></html>": "payload-too-large",
		`{"error":{"code":413,"message":"no"}}`:                    "payload-too-large",
		"exceeds the maximum request size":                         "maximum-size",
		"grpc: received message larger than max (5 vs. 4)":         "maximum-size",
		"Invalid 'input': string too long. Expected less":          "string-too-long",
	} {
		answer := said(t, 0, text)
		require.Equal(t, tooLarge, answer.GetErrorClass(), text)
		require.Equal(t, rule, answer.GetRule(), text)
		require.True(t, answer.GetOverflow())
	}
	require.Equal(t, overflow.Status413, said(t, 413, "").GetRule(), "the status says all")
	require.Equal(t, tooLarge, said(t, 413, "").GetErrorClass())
	require.Equal(t, contextOverflow, said(t, 413, "prompt is too long").GetErrorClass())
	require.Equal(t, rateLimit, said(t, 413, "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000").GetErrorClass())
}

// Common words count with a status that blames the request, and never alone.
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

// Who asks for more output than the model writes is not helped by a shorter context.
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

func TestFigures(t *testing.T) {
	for text, want := range map[string][2]uint32{
		"prompt is too long: 210000 tokens > 200000 maximum":                                            {210000, 200000},
		`{"message":"prompt is too long: 210,000 tokens \u003e 200,000 maximum"}`:                       {210000, 200000},
		"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease":          {207951, 200000},
		"maximum context length is 128000 tokens. However, you requested 130000 tokens (122000 in ...)": {130000, 128000},
		"maximum context length is 4097 tokens. However, your messages resulted in 13393 tokens.":       {13393, 4097},
		"maximum context length is 32768 tokens. However, you requested 8192 output tokens and your prompt contains at least " +
			"30000 input tokens, for a total of at least 38192 tokens.": {38192, 32768},
		`[{"error":{"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."}}]`:                      {1200293, 1048576},
		"The input token count exceeds the maximum number of tokens allowed (1048576).":                                                          {0, 1048576},
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.":                                                   {537812, 131072},
		"prompt token count of 135000 exceeds the limit of 128000":                                                                               {135000, 128000},
		"request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it":                                             {14429, 8192},
		`{"error":{"type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`:                                                    {14429, 8192},
		"Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens": {10136, 7866},
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                                 {40000, 32768},
		"exceeded model token limit: 262144 (requested: 291351)":                                                                                 {291351, 262144},
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).":                                                   {140000, 131072},
		"Range of input length should be [1, 30720]":                                                                                             {0, 30720},
		"`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens":                                                        {5000, 4097},
		"Your input is too long. Max input length is 4096 tokens, but you supplied 5441 tokens.":                                                 {5441, 4096},
		"Requested tokens (612) exceed context window of 512":                                                                                    {612, 512},
		"on tokens per min (TPM): Limit 30000, Requested 31538.":                                                                                 {31538, 30000},
		"invalid params, context window exceeds limit (2013)":                                                                                    {0, 0},
		"exceed context limit: 4294967295 + 8192 > 200000":                                                                                       {0, 200000},
		"prompt is too long: 99999999999 tokens > 200000 maximum":                                                                                {0, 200000},
		"prompt is too long": {0, 0},
	} {
		answer := said(t, 0, text)
		require.Equal(t, want, [2]uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()}, text)
		require.Equal(t, want[0] != 0, answer.RequestedTokens != nil, text)
		require.Equal(t, want[1] != 0, answer.LimitTokens != nil, text)
	}
}

// Of a long text both ends are searched.
func TestLongTexts(t *testing.T) {
	trace := strings.Repeat("at frame of the program\n", 40_000)
	require.True(t, said(t, 0, "prompt is too long\n"+trace).GetOverflow())
	require.True(t, said(t, 0, trace+"prompt is too long").GetOverflow())
	require.False(t, said(t, 0, trace+"prompt is too long\n"+trace).GetOverflow())
}

// JSON within JSON within JSON, as gateways pass errors on.
func TestEscapedBodies(t *testing.T) {
	body := `{"error":{"message":"{\n \"error\": {\n \"code\": 429,\n \"message\": \"too many tokens\"}}"}}`
	require.Equal(t, "text-429", said(t, 0, body).GetRule())
	require.Equal(t, "text-429", said(t, 0, strings.ReplaceAll(strings.ReplaceAll(body, `\`, `\\`), `"`, `\"`)).GetRule())
	require.True(t, said(t, 0, `{\"message\":\"The model\u2019s context window: exceeds the model\u2019s context window\"}`).GetOverflow())
}

func TestExtra(t *testing.T) {
	c, err := overflow.New(overflow.Extra{
		Patterns: []overflow.Pattern{
			{ID: "ours", Expression: `Gateway says .* FULL`},
			{ID: "ours-bytes", Expression: `too heavy`, Class: tooLarge},
		},
		Exclusions: []overflow.Pattern{
			{ID: "our-limit", Expression: "slow down"},
			{ID: "our-other", Expression: "not today", Class: other},
		},
	})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"gateway SAYS it is full":       "ours CONTEXT_OVERFLOW",
		"Too heavy":                     "ours-bytes REQUEST_TOO_LARGE",
		"prompt is too long, slow down": "our-limit RATE_LIMIT",
		"Not today: prompt is too long": "our-other OTHER",
		"prompt is too long":            "anthropic-prompt CONTEXT_OVERFLOW",
		"gateway says full: rate limit": "rate-limit RATE_LIMIT",
		"gateway says full, slow down":  "our-limit RATE_LIMIT",
	} {
		answer := c.Classify(&compactordv1.ClassifyErrorRequest{ErrorText: text}, 0)
		class := strings.TrimPrefix(answer.GetErrorClass().String(), "ERROR_CLASS_")
		require.Equal(t, want, answer.GetRule()+" "+class, text)
	}
}

func TestWrongEntries(t *testing.T) {
	good := overflow.Pattern{ID: "good", Expression: "x"}
	for says, extra := range map[string]overflow.Extra{
		`patterns[1]: id "good" is in use`:                         {Patterns: []overflow.Pattern{good, good}},
		`exclusions[0]: id "good" is in use`:                       {Patterns: []overflow.Pattern{good}, Exclusions: []overflow.Pattern{good}},
		`patterns[0]: id "rate-limit" is in use`:                   {Patterns: []overflow.Pattern{{ID: "rate-limit", Expression: "x"}}},
		`patterns[0]: id "" must be`:                               {Patterns: []overflow.Pattern{{Expression: "x"}}},
		`patterns[0]: id "A" must be`:                              {Patterns: []overflow.Pattern{{ID: "A", Expression: "x"}}},
		`patterns[0]: id "a": pattern must have 1 to 1000 bytes`:   {Patterns: []overflow.Pattern{{ID: "a"}}},
		`exclusions[0]: id "b": pattern must have 1 to 1000 bytes`: {Exclusions: []overflow.Pattern{{ID: "b", Expression: strings.Repeat("x", 1001)}}},
		`patterns[0]: id "a": pattern is no RE2 expression`:        {Patterns: []overflow.Pattern{{ID: "a", Expression: "(?=x)"}}},
		`patterns[0]: id "a": pattern matches the empty text`:      {Patterns: []overflow.Pattern{{ID: "a", Expression: "x*"}}},
		`patterns[0]: id "a": this list has no class`:              {Patterns: []overflow.Pattern{{ID: "a", Expression: "x", Class: rateLimit}}},
		`exclusions[0]: id "a": this list has no class`:            {Exclusions: []overflow.Pattern{{ID: "a", Expression: "x", Class: tooLarge}}},
		`patterns[100]: there may be 100 at most`:                  {Patterns: make([]overflow.Pattern, 101)},
	} {
		_, err := overflow.New(extra)
		require.ErrorContains(t, err, says)
		var entry *overflow.EntryError
		require.ErrorAs(t, err, &entry)
	}
}

// TestRules holds the table to what the documents and the search of texts in lower case rely on.
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
