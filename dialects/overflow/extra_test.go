package overflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

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
