package summarizers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/summarizers"
)

func observing(result *summarizers.ToolResult, budget uint32) *summarizers.Request {
	return &summarizers.Request{Kind: summarizers.Observation, Result: result, MaxTokens: budget, Count: countBytes}
}

func TestReplacementTellsHowToHaveTheWholeResult(t *testing.T) {
	t.Parallel()
	r := &summarizers.ToolResult{Index: 12, Part: 0, Text: strings.Repeat("line\n", 500)}
	text := r.Replacement(&summarizers.Summary{Text: "<think>\nhm\n</think>\n500 times `line`.\n"})
	require.Equal(t, "500 times `line`.\n[A shortened result. To read the whole of it, recall index 12, part 0.]", text)
	ref, err := recall.ParseReference(text)
	require.NoError(t, err)
	require.Equal(t, uint32(12), ref.Index)
	require.Equal(t, uint32(0), *ref.Part)
}

func TestCheckOfObservation(t *testing.T) {
	t.Parallel()
	whole := &summarizers.ToolResult{Index: 3, Text: "uno\ntwo\n" + strings.Repeat("more\n", 100)}
	failed := &summarizers.ToolResult{Index: 3, Text: whole.Text, Failed: true}
	late := &summarizers.ToolResult{Index: 3, Text: "\n Error: two\n" + strings.Repeat("more\n", 100)}
	marked := &summarizers.ToolResult{Index: 3, Text: "\ufeff I cannot\n" + strings.Repeat("more\n", 100)}
	quoting := &summarizers.ToolResult{Index: 3, Text: "<tool_call>x\n" + whole.Text}
	line := uint32(len(whole.Replacement(&summarizers.Summary{})))
	for _, c := range []struct {
		name    string
		result  *summarizers.ToolResult
		summary *summarizers.Summary
		budget  uint32
		covered uint32
		want    string
	}{
		{"passes without any heading", whole, &summarizers.Summary{Text: "uno, two, more"}, 200, 300, ""},
		{"passes with its last heading", whole, &summarizers.Summary{Text: "uno\n# two"}, 200, 300, ""},
		{"none", whole, nil, 200, 300, summarizers.CheckEmpty},
		{"only thinking", whole, &summarizers.Summary{Text: "<think>uno</think>"}, 200, 300, summarizers.CheckEmpty},
		{"half a rune", whole, &summarizers.Summary{Text: "uno\xe2\x82"}, 200, 300, summarizers.CheckUTF8},
		{"cut off", whole, &summarizers.Summary{Text: "uno", CutOff: true}, 200, 300, summarizers.CheckCutOff},
		{"a refusal", whole, &summarizers.Summary{Text: "I'm sorry, I cannot do that."}, 200, 300, summarizers.CheckErrorText},
		{"an error of the tool", failed, &summarizers.Summary{Text: "Error: two"}, 200, 300, ""},
		{"an error of the tool after an empty line", late, &summarizers.Summary{Text: "Error: two"}, 200, 300, ""},
		{"a refusal that the tool told of after a byte order mark", marked, &summarizers.Summary{Text: "I cannot"}, 200, 300, ""},
		{"a tool call", whole, &summarizers.Summary{Text: "<tool_call>read"}, 200, 300, summarizers.CheckToolCall},
		{"a tool call that the tool told of", quoting, &summarizers.Summary{Text: "<tool_call>x"}, 200, 300, ""},
		{"as large as the budget", whole, &summarizers.Summary{Text: "uno"}, line + 3, 300, ""},
		{"over the budget", whole, &summarizers.Summary{Text: "uno!"}, line + 3, 300, summarizers.CheckBudget},
		{"one token shorter", whole, &summarizers.Summary{Text: "uno"}, 200, line + 4, ""},
		{"no shorter", whole, &summarizers.Summary{Text: "uno"}, 200, line + 3, summarizers.CheckSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := observing(c.result, c.budget)
			req.Replaces = c.covered
			err := summarizers.Check(req, c.summary)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var refused *summarizers.CheckError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.want, refused.Check)
			require.NotContains(t, refused.Detail, "uno", "the detail holds content")
		})
	}
}
