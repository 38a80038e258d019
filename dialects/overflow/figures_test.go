package overflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

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

// The expressions of a configuration have named groups for their figures.
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
