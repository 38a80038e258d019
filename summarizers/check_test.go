package summarizers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

// written returns a summary with all headings of a kind.
func written(kind summarizers.Kind, set []*compactordv1.Section) string {
	var b strings.Builder
	for _, h := range summarizers.Headings(kind, set) {
		b.WriteString(h.Line() + "\n(none)\n")
	}
	return b.String()
}

func countBytes(text string) uint32 { return uint32(len(text)) }

func TestCheckPasses(t *testing.T) {
	t.Parallel()
	standard := written(summarizers.History, session.StandardSections())
	for name, text := range map[string]string{
		"as it should be":          standard,
		"after thinking":           "<think>\nWhat did they want?\n</think>\n\n" + standard,
		"with other levels":        strings.ReplaceAll(standard, "##", "#"),
		"with bold headings":       "**Goal:**\nx\n" + strings.TrimPrefix(standard, "## Goal\n"),
		"with 'and' for '&'":       strings.ReplaceAll(standard, "&", "and"),
		"with an error quoted":     strings.Replace(standard, "(none)", "Error: the build fails", 1),
		"with a section missing":   strings.Replace(standard, "## Next Steps\n(none)\n", "", 1),
		"in another order":         "## Next Steps\n(none)\n" + strings.Replace(standard, "## Next Steps\n(none)\n", "", 1),
		"with the last one empty":  strings.TrimSuffix(standard, "(none)\n"),
		"ending in a reference":    standard + "#12 is open",
		"with a tag in a sentence": strings.Replace(standard, "(none)", "They asked why <think> is shown", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := &summarizers.Request{MaxTokens: 1000, Replaces: 2000, Count: countBytes}
			require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: text}))
		})
	}
	for _, set := range [][]*compactordv1.Section{
		nil, session.StandardSections(), sessiontest.CodeSections(),
	} {
		for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
			req := &summarizers.Request{Kind: kind, Sections: set, MaxTokens: 1000, Replaces: 2000, Count: countBytes}
			require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: written(kind, set)}), "%v %v", kind, set)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	standard := written(summarizers.History, session.StandardSections())
	full := strings.ReplaceAll(standard, "(none)", "x")
	for _, c := range []struct {
		name    string
		summary *summarizers.Summary
		max     uint32
		covered uint32
		want    string
	}{
		{"nothing", nil, 1000, 2000, summarizers.CheckEmpty},
		{"white space", &summarizers.Summary{Text: " \n\t"}, 1000, 2000, summarizers.CheckEmpty},
		{"thinking alone", &summarizers.Summary{Text: "<thinking>hm</thinking>"}, 1000, 2000, summarizers.CheckEmpty},
		{"thinking without an end", &summarizers.Summary{Text: "<think>" + standard}, 1000, 2000, summarizers.CheckEmpty},
		{"a tool call in tags", &summarizers.Summary{Text: "I'll look.\n<tool_call>{}</tool_call>"}, 1000, 2000, summarizers.CheckToolCall},
		{"a tool call in JSON", &summarizers.Summary{Text: "```json\n{\"name\": \"read\", \"arguments\": {}}\n```"}, 1000, 2000, summarizers.CheckToolCall},
		{"an error", &summarizers.Summary{Text: "API Error: 529 overloaded"}, 1000, 2000, summarizers.CheckErrorText},
		{"a refusal", &summarizers.Summary{Text: "I'm sorry, but I can't help with that."}, 1000, 2000, summarizers.CheckErrorText},
		{"an error in Chinese", &summarizers.Summary{Text: "抱歉，我无法完成。"}, 1000, 2000, summarizers.CheckErrorText},
		{"cut off", &summarizers.Summary{Text: standard, CutOff: true}, 1000, 2000, summarizers.CheckCutOff},
		{"ends in a heading", &summarizers.Summary{Text: standard + "\n## Relevant Files"}, 1000, 2000, summarizers.CheckCutOff},
		{"too long", &summarizers.Summary{Text: full}, uint32(len(full)) - 2, 2000, summarizers.CheckBudget},
		{"no shorter than what it replaces", &summarizers.Summary{Text: full}, 1000, uint32(len(full)) - 1, summarizers.CheckSize},
		{"ends in an empty section while others are missing", &summarizers.Summary{Text: "## Done\nx\n\n## Next Steps"}, 1000, 2000, summarizers.CheckCutOff},
		{"ends in a tag while others are missing", &summarizers.Summary{Text: "<done>\nx\n</done>\n<next_steps>\n"}, 1000, 2000, summarizers.CheckCutOff},
		{"sections in code alone", &summarizers.Summary{Text: "Look:\n```\n## Goal\nx\n```"}, 1000, 2000, summarizers.CheckSections},
		{"sections in a quote alone", &summarizers.Summary{Text: "> ## Goal\n> <done>x</done>"}, 1000, 2000, summarizers.CheckSections},
		{"sections of another set", &summarizers.Summary{Text: "<current_focus>x</current_focus>"}, 1000, 2000, summarizers.CheckSections},
		{"no sections", &summarizers.Summary{Text: "They worked on the parser."}, 1000, 2000, summarizers.CheckSections},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := &summarizers.Request{MaxTokens: c.max, Replaces: c.covered, Count: countBytes}
			err := summarizers.Check(req, c.summary)
			var failed *summarizers.CheckError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, c.want, failed.Check, failed.Detail)
			require.NotEmpty(t, failed.Detail)
			require.Contains(t, err.Error(), c.want)
		})
	}
}

// If the budget is too small for the headings, they are not required. All other checks are made.
func TestCheckAsksForNoSectionsWithoutRoom(t *testing.T) {
	t.Parallel()
	const skeleton = "## Original Request\n## Early Progress\n## Context for Suffix\n(none)"
	req := &summarizers.Request{Kind: summarizers.TurnPrefix, MaxTokens: uint32(len(skeleton)), Replaces: 1000, Count: countBytes}
	require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: skeleton}))
	alone := &summarizers.Summary{Text: "They want the parser ported."}
	var failed *summarizers.CheckError
	require.ErrorAs(t, summarizers.Check(req, alone), &failed)
	require.Equal(t, summarizers.CheckSections, failed.Check)
	req.MaxTokens--
	require.NoError(t, summarizers.Check(req, alone))
	require.ErrorAs(t, summarizers.Check(req, &summarizers.Summary{Text: "I'm sorry, no."}), &failed)
	require.Equal(t, summarizers.CheckErrorText, failed.Check)
}

func TestWithoutThinking(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"plain", "plain"},
		{"<think>a</think>b", "b"},
		{"<think>a\nb</think>\n\n## Goal\n<thinking>\nc\n</thinking>\nd", "## Goal\n\nd"},
		{"a <think>b</think> c", "a <think>b</think> c"},
		{"<thinker>a", "<thinker>a"},
		{"a\n<think>never closed", "a"},
	} {
		require.Equal(t, c[1], summarizers.WithoutThinking(c[0]), c[0])
	}
}
