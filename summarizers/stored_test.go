package summarizers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

var codeSections = sessiontest.CodeSections()

func asksFor(kind summarizers.Kind, set []*compactordv1.Section) *summarizers.Request {
	return &summarizers.Request{Kind: kind, Sections: set, MaxTokens: 100_000, Replaces: 100_001, Count: countBytes}
}

// inTags is an answer in the form that the prompt asks for.
const inTags = `<current_focus>
Port the parser to the new reader [#3]
</current_focus>

<environment>
- Go 1.26, in /src
</environment>

<completed_tasks/>

<active_issues>
- TestEmpty fails: "unexpected EOF"
  - Solution: none yet
</active_issues>

<code_state>

<file>
parser.go

**Summary:**
Reads line by line.

**Latest version:**
` + "```go\n// ## Environment\n// </code_state>\nfunc Parse(r io.Reader) error\n```" + `
</file>

</code_state>

<important_context>
- Never touch go.mod
</important_context>`

const storedShape = `## Current Focus
Port the parser to the new reader [#3]

## Environment
- Go 1.26, in /src

## Active Issues
- TestEmpty fails: "unexpected EOF"
  - Solution: none yet

## Code State
<file>
parser.go

**Summary:**
Reads line by line.

**Latest version:**
` + "```go\n// ## Environment\n// </code_state>\nfunc Parse(r io.Reader) error\n```" + `
</file>

## Important Context
- Never touch go.mod`

// A model that uses the tags of the system from which the sections come is understood.
func TestTagsAreSections(t *testing.T) {
	t.Parallel()
	req := asksFor(summarizers.History, codeSections)
	for name, text := range map[string]string{
		"as they are":      inTags,
		"in capitals":      strings.NewReplacer("<environment>", "<ENVIRONMENT>", "</environment>", "</Environment>").Replace(inTags),
		"empty in pairs":   strings.Replace(inTags, "<completed_tasks/>", "<completed_tasks>\n</completed_tasks>", 1),
		"empty with space": strings.Replace(inTags, "<completed_tasks/>", "<completed_tasks />", 1),
		"left out":         strings.Replace(inTags, "<completed_tasks/>\n", "", 1),
		"in one line": strings.Replace(
			inTags, "<environment>\n- Go 1.26, in /src\n</environment>", "<environment>- Go 1.26, in /src</environment>", 1),
		"not closed at the end": strings.TrimSuffix(inTags, "\n</important_context>"),
		"with Windows' lines":   strings.ReplaceAll(inTags, "\n</environment>", "\r\n</environment>\r"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: text}))
			require.Equal(t, storedShape, summarizers.Stored(req, text))
			require.False(t, summarizers.SaysNothing(text))
			require.Equal(t, storedShape, summarizers.Stored(req, storedShape), "it is a change to what is stored")
		})
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a heading of any level":           {"###### Original Request\nx", "## Original Request\nx"},
		"closed signs":                     {"## Original Request ##\nx", "## Original Request\nx"},
		"without a space":                  {"##Original Request\nx", "## Original Request\nx"},
		"numbered":                         {"## 1. Original Request:\nx", "## Original Request\nx"},
		"in bold in a heading":             {"## **Original Request**\nx", "## Original Request\nx"},
		"in bold":                          {"**Original Request**\nx", "## Original Request\nx"},
		"in bold with a colon":             {"**Original Request:**\nx", "## Original Request\nx"},
		"in bold, numbered":                {"1. **Original Request**:\nx", "## Original Request\nx"},
		"in bold with its text":            {"**Original Request:** x", "## Original Request\nx"},
		"in bold with a dash":              {"**Original Request** – x", "## Original Request\nx"},
		"in bold with a list's dash":       {"**Original Request:** - x", "## Original Request\n- x"},
		"underlined":                       {"Original Request\n===\nx", "## Original Request\nx"},
		"underlined with dashes":           {"Original Request\n---\nx", "## Original Request\nx"},
		"with a colon":                     {"Original Request:\nx", "## Original Request\nx"},
		"with text in the heading":         {"## Original Request: x\ny", "## Original Request\nx\ny"},
		"with brackets in the heading":     {"## Original Request (1/2)\ny", "## Original Request\n(1/2)\ny"},
		"a tag with a hyphen":              {"<original-request>x</original-request>", "## Original Request\nx"},
		"a tag with spaces":                {"<Original Request>x</Original Request>", "## Original Request\nx"},
		"a tag in a heading":               {"## <original_request>\nx", "## Original Request\nx"},
		"all in one line":                  {"<original_request>x</original_request> <early_progress>y</early_progress>", "## Original Request\nx\n\n## Early Progress\ny"},
		"in another order":                 {"## Early Progress\ny\n## Original Request\nx", "## Original Request\nx\n\n## Early Progress\ny"},
		"twice":                            {"## Original Request\nx\n## Early Progress\ny\n## Original Request\nz", "## Original Request\nx\n\nz\n\n## Early Progress\ny"},
		"an introduction":                  {"Here it is.\n\n## Original Request\nx", "Here it is.\n\n## Original Request\nx"},
		"text behind a tag":                {"<original_request>x</original_request>\nThat is all.", "## Original Request\nx\nThat is all."},
		"a heading of the model's own":     {"## Original Request\nx\n## Notes\ny", "## Original Request\nx\n## Notes\ny"},
		"a title in a sub-heading":         {"## Original Request\nx\n#### Original Request\ny", "## Original Request\nx\n#### Original Request\ny"},
		"a label where there is a heading": {"## Early Progress\n**Original Request:** x\n## Original Request\ny", "## Original Request\ny\n\n## Early Progress\n**Original Request:** x"},
		"a title in code":                  {"## Original Request\n```\n## Early Progress\n</original_request>\n```\nx", "## Original Request\n```\n## Early Progress\n</original_request>\n```\nx"},
		"a title in code in a list":        {"## Original Request\n- ~~~md\n  ## Early Progress\n  ~~~\nx", "## Original Request\n- ~~~md\n  ## Early Progress\n  ~~~\nx"},
		"code beside the tags":             {"<original_request>```\n## Early Progress\n```</original_request>", "## Original Request\n```\n## Early Progress\n```"},
		"a title in a quote":               {"## Original Request\n> ## Early Progress\n> <early_progress>", "## Original Request\n> ## Early Progress\n> <early_progress>"},
		"a title in a sentence":            {"## Original Request\nAsk for <early_progress> and ## Early Progress", "## Original Request\nAsk for <early_progress> and ## Early Progress"},
		"an indented title":                {"##  Original Request\n\n    ## Early Progress", "## Original Request\n    ## Early Progress"},
		"an issue's number":                {"## Original Request\n#12 Early Progress", "## Original Request\n#12 Early Progress"},
		"a dated title":                    {"## Original Request\n## 2026-01-02 Early Progress", "## Original Request\n## 2026-01-02 Early Progress"},
		"a fence that is never closed":     {"## Original Request:\n```\nx\n## Early Progress\ny", "## Original Request\n```\nx\n\n## Early Progress\ny"},
		"markup of that name in a section": {"<original_request>\n<early_progress>inner</early_progress>\n</original_request>\n<early_progress>y</early_progress>", "## Original Request\n<early_progress>inner</early_progress>\n\n## Early Progress\ny"},
		"the same tag within":              {"<original_request>\n<original_request>x</original_request>\n</original_request>", "## Original Request\n<original_request>x</original_request>"},
		"a tag around all of it":           {"<original_request>\n## Early Progress\ny\n## Context for Suffix\nz\n</original_request>", "## Early Progress\ny\n\n## Context for Suffix\nz"},
		"a tag with an attribute":          {"<original_request kind=\"user\" n='1'>\nx\n</original_request>", "## Original Request\nx"},
		"a tag in an attribute":            {"## Original Request\n<a b=\"<early_progress>\">x</a>", "## Original Request\n<a b=\"<early_progress>\">x</a>"},
		"a heading between the tags":       {"<original_request>\n## Original Request\nx\n</original_request>\n<early_progress>\n## Early Progress\ny\n</early_progress>", "## Original Request\nx\n\n## Early Progress\ny"},
		"an empty tag above the heading":   {"<original_request/>\n## Original Request\nx\n## Early Progress\ny", "## Original Request\nx\n\n## Early Progress\ny"},
		"a comment like a higher heading":  {"## Original Request\nx\n## Early Progress\ny\n## Context for Suffix\nz\n# early progress\nset -e", "## Original Request\nx\n## Early Progress\ny\n## Context for Suffix\nz\n# early progress\nset -e"},
		"items of a list":                  {"## Original Request\n1. Early Progress\n2. Speed", "## Original Request\n1. Early Progress\n2. Speed"},
		"numbers and no signs":             {"1. Original Request\nx\n2. Early Progress\ny", "## Original Request\nx\n\n## Early Progress\ny"},
		"what is in shape already":         {"## Original Request\nx\n## Early Progress\n\n\ny\n## Context for Suffix\nz", "## Original Request\nx\n## Early Progress\n\n\ny\n## Context for Suffix\nz"},
		"an empty one":                     {"## Original Request\n\n## Early Progress\ny", "## Early Progress\ny"},
		"a word for nothing":               {"## Original Request\n- None yet.\n\n## Early Progress\ny", "## Early Progress\ny"},
		"a rule below nothing":             {"## Original Request\n(none)\n\n---\n\n## Early Progress\ny", "## Early Progress\ny"},
		"that word among others":           {"## Original Request\nx\n- none", "## Original Request\nx\n- none"},
		"twice, once empty":                {"## Original Request\nx\n## Early Progress\ny\n## Original Request\n(none)", "## Original Request\nx\n\n## Early Progress\ny"},
		"nothing at all":                   {"## Early Progress\nN/A\n## Context for Suffix\n", "## Original Request\n(none)"},
		"nothing but an introduction":      {"Here it is.\n\n## Early Progress\n（无）", "Here it is.\n\n## Original Request\n(none)"},
		"a label and an empty heading":     {"## Early Progress\ny\n**Context for Suffix:** z\n## Context for Suffix\n(none)", "## Early Progress\ny\n\n## Context for Suffix\nz"},
		"no section":                       {"They want the parser ported.", "They want the parser ported."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summarizers.Stored(asksFor(summarizers.TurnPrefix, nil), c.text)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want, summarizers.Stored(asksFor(summarizers.TurnPrefix, nil), got), "it is changed again")
		})
	}
}

// Headings that group others have no text of their own. They are written exactly if one of those below them is.
func TestGroupsAreStoredWithTheirSections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"with one":            {"## Progress\n### Done\nx\n### In Progress\n(none)\n### Blocked\n", "## Progress\n\n### Done\nx"},
		"with none":           {"## Goal\nx\n## Progress\n### Done\n(none)\n## Next Steps\n1. y", "## Goal\nx\n\n## Next Steps\n1. y"},
		"left out":            {"### Blocked\nx", "## Progress\n\n### Blocked\nx"},
		"empty itself":        {"## Progress\n(none)\n### Done\nx", "## Progress\n\n### Done\nx"},
		"with a text":         {"## Progress:\nx\n### Done\ny", "## Progress\nx\n\n### Done\ny"},
		"with a text alone":   {"## Progress\nx\n### Done\n(none)", "## Progress\nx"},
		"without any of them": {"## Goal\nx\n## Progress\n", "## Goal\nx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := asksFor(summarizers.History, nil)
			require.Equal(t, c.want, summarizers.Stored(req, c.text))
			require.Equal(t, c.want, summarizers.Stored(req, c.want), "it is changed again")
		})
	}
}

// Our headings must not make a summary too large. Empty sections do not count.
func TestStoredKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	const text = "Early Progress:\ny\nOriginal Request:\nx\nContext for Suffix:\n"
	const stored = "## Original Request\nx\n\n## Early Progress\ny"
	for _, c := range []struct {
		max, replaces int
		want          string
	}{
		{len(stored), 1000, stored},
		{1000, len(stored) + 1, stored},
		{len(stored) - 1, 1000, text},
		{1000, len(stored), text},
	} {
		req := asksFor(summarizers.TurnPrefix, nil)
		req.MaxTokens, req.Replaces = uint32(c.max), uint32(c.replaces)
		require.Equal(t, c.want, summarizers.Stored(req, text), "%v", c)
	}
	req := asksFor(summarizers.TurnPrefix, nil)
	req.PromptOverride = "In bold."
	require.Equal(t, text, summarizers.Stored(req, text), "who has replaced the instructions has the form too")
	req = asksFor(summarizers.TurnPrefix, nil)
	req.MaxTokens = uint32(len(stored))
	empty := stored + "\n\n## Context for Suffix\n(none)"
	require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: empty}))
	require.Equal(t, stored, summarizers.Stored(req, empty))
}

func TestNothingInTags(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{
		"<current_focus></current_focus>\n<environment/>", "<goal>none</goal>", "<goal>\nN/A\n</goal>\n## Next Steps\n- (none)",
	} {
		require.True(t, summarizers.SaysNothing(empty), empty)
	}
	require.False(t, summarizers.SaysNothing("<goal>Fix the parser</goal>"))
}

// Each line is checked only once for closing a fence, however many fences are never closed. The test counts
// allocations.
func TestUnclosedFencesAreReadOnce(t *testing.T) {
	const fences = 300
	var text strings.Builder
	text.WriteString("## Original Request\nx\n")
	for length := fences; length >= 3; length-- {
		text.WriteString(strings.Repeat("`", length) + "go\n")
	}
	req := asksFor(summarizers.TurnPrefix, nil)
	req.MaxTokens, req.Replaces = 1<<30, 1<<31
	allocations := testing.AllocsPerRun(1, func() { summarizers.Stored(req, text.String()) })
	require.Less(t, allocations, float64(100*fences))
}

// A byte order mark does not hide the first section.
func TestByteOrderMarkBeforeTheFirstSection(t *testing.T) {
	t.Parallel()
	require.Equal(t, "## Goal\nx", summarizers.WithoutThinking("\ufeff## Goal\nx"))
	require.Equal(t, "<goal>x</goal>", summarizers.WithoutThinking("\ufeff<think>y</think>\n<goal>x</goal>"))
}
