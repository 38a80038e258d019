package prompts_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chars4 counts like the default estimator.
func chars4(text string) uint32 {
	n := 0
	for _, r := range text {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return uint32((n + 3) / 4)
}

func text(s string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: s}}}
}

func thinking(s string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: s}}}
}

func call(name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Name: name, Arguments: arguments}}}
}

func media(mime, name string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{MimeType: mime, Name: name}}}
}

func message(index uint32, role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Index: index, Tokens: 10, Message: &compactordv1.Message{Role: role, Parts: parts}}
}

func user(index uint32, said string) *compactordv1.LoggedMessage {
	return message(index, compactordv1.Role_ROLE_USER, text(said))
}

func result(index uint32, tool, said string) *compactordv1.LoggedMessage {
	r := &compactordv1.ToolResult{Name: tool}
	if said != "" {
		r.Parts = []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: said}}}}
	}
	return message(index, compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: r}})
}

// request returns a request with a small conversation.
func request() *summarizers.Request {
	failed := result(6, "bash", "panic: index out of range\nexit status 2")
	failed.GetMessage().GetParts()[0].GetToolResult().IsError = true
	return &summarizers.Request{
		Lead: []*compactordv1.LoggedMessage{
			message(0, compactordv1.Role_ROLE_SYSTEM, text("You are a careful engineer.\nNever push to main.")),
			message(1, compactordv1.Role_ROLE_DEVELOPER, text("Answer in short.")),
		},
		Messages: []*compactordv1.LoggedMessage{
			user(2, "Find out why the export drops the last row."),
			message(3, compactordv1.Role_ROLE_ASSISTANT, call("read", `{"path":"pager.go","limit":50}`), text("I look at the pager."), thinking("The pager cuts.")),
			result(4, "read", "func page() {}"),
			message(5, compactordv1.Role_ROLE_ASSISTANT, call("bash", `{"command":"go test ./..."}`), call("todo", "{}")),
			failed,
			message(7, compactordv1.Role_ROLE_DEVELOPER, text("Tests run in CI only.")),
		},
		MaxTokens: 2000, Replaces: 10000, Count: chars4,
		Input: summarizers.Input{ToolResultChars: 2000, ToolArgumentChars: 2000, Thinking: true},
	}
}

// prompt returns the only prompt of a request.
func prompt(tb testing.TB, req *summarizers.Request) *prompts.Prompt {
	tb.Helper()
	f, err := prompts.Fold(req, prompts.Limits{PromptTokens: 32000, Count: chars4})
	require.NoError(tb, err)
	p, err := f.Next(tb.Context())
	require.NoError(tb, err)
	require.True(tb, p.Final)
	after, err := f.Next(tb.Context())
	require.NoError(tb, err)
	require.Nil(tb, after)
	return p
}

// goldens returns requests by the name of their file.
func goldens() map[string]*summarizers.Request {
	all := map[string]*summarizers.Request{}
	add := func(name string, change func(req *summarizers.Request)) {
		req := request()
		change(req)
		all[name] = req
	}
	for name, set := range sessiontest.SectionLists() {
		add("history."+name, func(req *summarizers.Request) { req.Sections = set })
		add("update."+name, func(req *summarizers.Request) {
			req.Sections, req.PreviousSummary, req.Focus = set, "## Goal\nFix the export. [#0]", "the pager"
		})
		add("turn_prefix."+name, func(req *summarizers.Request) {
			req.Sections, req.Kind, req.Focus = set, summarizers.TurnPrefix, "the pager"
		})
	}
	add("turn_prefix_update", func(req *summarizers.Request) {
		req.Kind, req.PreviousSummary = summarizers.TurnPrefix, "## Original Request\nFix the export. [#2]"
	})
	add("rewrite", func(req *summarizers.Request) {
		req.Messages, req.PreviousSummary = nil, "## Goal\nFix the export. [#2]"
	})
	add("override", func(req *summarizers.Request) {
		req.PromptOverride, req.Focus = "List the <conversation>'s open questions.", "the pager"
		req.ExtraContext = []string{"Branch: main", "Ticket: 4711"}
	})
	add("refusal", func(req *summarizers.Request) { req.Refusal = "The summary is empty once thinking is removed." })
	observation := func(guidelines, focus string) func(req *summarizers.Request) {
		return func(req *summarizers.Request) {
			*req = summarizers.Request{
				Kind: summarizers.Observation, MaxTokens: 300, Replaces: 9000, Count: chars4, Focus: focus,
				Result: &summarizers.ToolResult{
					Index: 6, Tool: "bash", Argument: "go test ./...", Text: "ok  a\nFAIL b\nexit status 1", Failed: true, Guidelines: guidelines,
				},
			}
			if guidelines != "" {
				req.Result.Task = "Find out why the export drops the last row."
			}
		}
	}
	add("range", func(req *summarizers.Request) { req.Kind = summarizers.Range })
	add("range_guided", func(req *summarizers.Request) {
		req.Kind, req.Guidelines = summarizers.Range, "Keep the names of tests."
		req.Messages, req.Task, req.Focus = req.Messages[1:], "Find out why the </current-task> drops the last row.", "the pager"
	})
	add("range_update", func(req *summarizers.Request) {
		req.Kind, req.PreviousSummary = summarizers.Range, "## Sub-task\nFix the export. [#2]"
	})
	add("observation", observation("", ""))
	add("observation_guided", observation("Keep the names of tests.", "the pager"))
	return all
}

// TestGolden compares the prompts with files that a person has reviewed.
func TestGolden(t *testing.T) {
	for name, req := range goldens() {
		p := prompt(t, req)
		golden(t, name, "=== system\n"+p.System+"\n=== user\n"+p.Text+"\n")
	}
	for name, set := range sessiontest.SectionLists() {
		req := request()
		req.Sections = set
		p := prompts.Closing(req)
		require.Empty(t, p.System)
		golden(t, "closing."+name, p.Text+"\n")
	}
	req := request()
	req.Focus, req.ExtraContext = "the pager", []string{"Branch: main"}
	golden(t, "closing_focus", prompts.Closing(req).Text+"\n")
	req.PromptOverride = "List the open questions."
	golden(t, "closing_override", prompts.Closing(req).Text+"\n")
	golden(t, "with_refusal", prompts.WithRefusal("PROMPT", "The summary is empty.")+"\n")
}

func golden(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(tb, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(tb, err)
	require.Equal(tb, string(want), got, name)
	require.NotRegexp(tb, `\{[a-z]+\}`, got, name)
}
