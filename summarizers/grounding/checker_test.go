package grounding_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/grounding"
)

// marked returns a summary with all marks, after its source was read.
func marked(summary string, sources ...string) string {
	c := grounding.New(summary)
	for _, source := range sources {
		c.Read(source)
	}
	return c.Marked(c.Unsupported())
}

func TestNamesThatTheSourceHas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ summary, source string }{
		"a path":                       {"Edited internal/auth/session.go.", "open internal/auth/session.go: no such file"},
		"an absolute path":             {"Edited /repo/internal/session.go.", "cwd: /repo\n M internal/session.go"},
		"a relative path":              {"Edited auth/session.go.", "/home/me/repo/auth/session.go"},
		"a path from a tree of files":  {"Edited internal/auth/session.go.", "internal\n  auth\n    session.go"},
		"another case of an extension": {"Read docs/NOTES.md.", "docs/notes.MD"},
		"a file's lines":               {"See auth/session.go:12-20.", "auth/session.go"},
		"a dot at the end":             {"It is in ./auth/session.go.", "auth/session.go"},
		"an identifier":                {"`parseHeader()` fails.", "func parseHeader(s string)"},
		"another case":                 {"ParseHeader fails.", "parseHeader"},
		"a plural":                     {"All SessionIDs are new.", "type SessionID string"},
		"a singular":                   {"The sessionHeader is new.", "all sessionHeaders"},
		"an escaped line end":          {"parseHeader fails.", `{"text":"see:\nparseHeader"}`},
		"a short hash":                 {"Commit 3f9ab12.", "commit 3f9ab12cd45e6f708192a3b4c5d6e7f8091a2b3c"},
		"a long hash":                  {"Commit 3f9ab12cd45e6f708192a3b4c5d6e7f8091a2b3c.", "[main 3f9ab12] Fix"},
		"an error code":                {"It ended in ECONNRESET and PROJ-1234.", "PROJ-1234: econnreset"},
		"a URL":                        {"See https://example.com/a/b?c=d.", "GET example.com /a/b c d"},
		"a quotation":                  {`The user said "keep the old export".`, "Please keep the old export."},
		"a mended quotation":           {`The user said "that is too much of it".`, "that is to much of it"},
		"an ellipsis":                  {`The user said "keep the … old export".`, "keep the very old export"},
		"brackets in a quotation":      {`The user said "keep that [the CSV export] as it is".`, "keep that as it is"},
		"code that the model composed": {"Replace it by `parse(header) + 1 == total`.", "parse header total"},
		"a number":                     {"There are 12345 rows and 3,141 pages.", "many rows"},
		"words of prose":               {"The session is slow, e.g. in the morning.", ""},
		"what everybody knows":         {"It is JavaScript, hashed with SHA-256 in Node.js.", ""},
		"another script":               {"已修改 src/导出.go 和「目标」。", "src/导出.go"},
	} {
		require.Equal(t, c.summary, marked(c.summary, c.source), name)
	}
}

func TestNamesThatTheSourceHasNot(t *testing.T) {
	t.Parallel()
	const source = "internal/auth/session.go has parseHeader; the user said: keep the old export as it is. https://example.com/a"
	for name, c := range map[string]struct{ summary, want string }{
		"a path": {"Edited internal/auth/token_store.go today.", "Edited internal/auth/token_store.go‹› today."},
		"a path whose words are elsewhere": {
			"Edited internal/old-session.go.", "Edited internal/old-session.go‹›.",
		},
		"a file's lines":   {"See `internal/ghost.go:12-20`.", "See `internal/ghost.go:12-20`‹›."},
		"an identifier":    {"`readHeader()` fails.", "`readHeader()`‹› fails."},
		"a hash":           {"Commit 3f9ab12.", "Commit 3f9ab12‹›."},
		"a ticket":         {"PROJ-1234 is open.", "PROJ-1234‹› is open."},
		"a URL":            {"See https://example.org/a.", "See https://example.org/a‹›."},
		"a quotation":      {`They said "drop every new import".`, `They said "drop every new import"‹›.`},
		"once":             {"readHeader calls readHeader.", "readHeader‹› calls readHeader."},
		"two in a line":    {"src/a_one.go, src/b_two.go", "src/a_one.go‹›, src/b_two.go‹›"},
		"within quotation": {`They said "drop src/b_two.go at once".`, `They said "drop src/b_two.go at once"‹›.`},
		"one of two":       {"parseHeader calls readHeader.", "parseHeader calls readHeader‹›."},
		"the end":          {"- src/b_two.go", "- src/b_two.go‹›"},
	} {
		want := strings.ReplaceAll(c.want, "‹›", grounding.Mark)
		got := marked(c.summary, source)
		require.Equal(t, want, got, name)
		require.Equal(t, want, marked(got, source), "%s: a mark is not marked", name)
		require.Equal(t, c.summary, marked(got, source+"\n"+c.summary), "%s: the conversation has it now", name)
		// The next round's model copies the mark from the summary before, or leaves it out.
		require.Equal(t, want, marked(c.summary, source, grounding.WithoutMarked(got)), "%s: a marked name is no source", name)
	}
}

// A name that is marked once is no source where it comes again, but what holds it is.
func TestSummaryWithMarksAsASource(t *testing.T) {
	t.Parallel()
	previous := "readHeader" + grounding.Mark + " is in src/main.go. Call readHeader, then readHeaderTwice."
	source := grounding.WithoutMarked(previous)
	require.NotContains(t, source, grounding.Mark)
	require.Equal(t, "readHeader"+grounding.Mark+" and readHeaderTwice in src/main.go",
		marked("readHeader and readHeaderTwice in src/main.go", source))
	require.Equal(t, "No mark.", grounding.WithoutMarked("No mark."))
}

func TestAtMostSoManyMarks(t *testing.T) {
	t.Parallel()
	c := grounding.New("src/a_one.go, src/b_two.go, src/c_three.go")
	require.Equal(t, 3, c.Unsupported())
	require.Equal(t, "src/a_one.go"+grounding.Mark+", src/b_two.go, src/c_three.go", c.Marked(1))
	require.Equal(t, "src/a_one.go, src/b_two.go, src/c_three.go", c.Marked(0))
}

// All that a message says supports names, in any kind of part.
func TestMessageIsASource(t *testing.T) {
	t.Parallel()
	text := &compactordv1.TextPart{Text: "in_text"}
	m := &compactordv1.Message{Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: text}},
		{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "in_thinking"}}},
		{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
			Name: "call_name", Arguments: `{"key_of_it":"\u003cin_arguments\u003e\nafter_newline"}`,
		}}},
		{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			Name: "result_name", Files: []*compactordv1.FileTouch{{Path: "touched_file.go"}},
			Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "in_result"}}},
				{Kind: &compactordv1.ResultPart_Media{Media: &compactordv1.MediaPart{Name: "result_chart.png"}}},
				{Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{Json: `{"a":"in_result_item"}`}}},
			},
		}}},
		{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
			Name: "chart_name.png", Source: &compactordv1.MediaPart_Uri{Uri: "https://example.com/uri_of_it"},
		}}},
		{Kind: &compactordv1.Part_Opaque{Opaque: &compactordv1.OpaquePart{Json: `{"a":"in_opaque_item"}`}}},
	}}
	summary := "in_text in_thinking call_name key_of_it in_arguments after_newline result_name touched_file.go in_result " +
		"result_chart.png in_result_item chart_name.png https://example.com/uri_of_it in_opaque_item not_in_it"
	c := grounding.New(summary)
	c.ReadMessage(m)
	require.Equal(t, summary+grounding.Mark, c.Marked(c.Unsupported()))
}

// Of names that are drawn at random, those of the source are never marked and the others always, whatever stands around
// them.
func TestMarksOfDrawnNames(t *testing.T) {
	t.Parallel()
	words := strings.Fields("pager export limit token store session header cursor queue worker index shard")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 17))
		draw := func(suffix string) string {
			a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
			switch r.IntN(4) {
			case 0:
				return a + "_" + b + "_" + suffix
			case 1:
				return a + "/" + b + "/" + suffix + ".go"
			case 2:
				return "/srv/" + a + "/" + b + "_" + suffix + ".py"
			default:
				return a + "With" + strings.ToUpper(suffix[:1]) + suffix[1:]
			}
		}
		var source, summary, want strings.Builder
		seen := map[string]bool{}
		invented := 0
		for i := range 40 {
			known := r.IntN(3) > 0
			name := draw(fmt.Sprintf("%s%c", map[bool]string{true: "real", false: "fake"}[known], 'a'+rune(i%26)))
			if known {
				fmt.Fprintf(&source, "%s (%s)\t", strings.Repeat("x ", r.IntN(4)), name)
			}
			before := []string{"see ", "`", "- ", "(", "** "}[r.IntN(5)]
			after := map[string]string{"`": "` ", "(": ") "}[before]
			summary.WriteString(before + name + after + "\n")
			switch {
			case known || seen[name]:
				want.WriteString(before + name + after + "\n")
			case before == "`":
				want.WriteString(before + name + "`" + grounding.Mark + " \n")
				invented++
			default:
				want.WriteString(before + name + grounding.Mark + after + "\n")
				invented++
			}
			seen[name] = true
		}
		c := grounding.New(summary.String())
		c.Read(source.String())
		require.Equal(t, want.String(), c.Marked(c.Unsupported()), "seed %d", seed)
		require.Equal(t, invented, c.Unsupported(), "seed %d", seed)
	}
}

func FuzzMarked(f *testing.F) {
	f.Add("`src/a_b.go`: \"keep the old\" \\nfoo_bar", "src\\nfoo_bar")
	f.Add("readHeader (not in the conversation)", "")
	f.Add("## Fix a_one\n```\ncall_two()\n```\n[see](src/c_three.go) `d_four(e_five)`", "a_one")
	f.Fuzz(func(t *testing.T, summary, source string) {
		once := marked(summary, source)
		require.Equal(t, once, marked(once, source), "marking again changes nothing")
		plain := grounding.WithoutMarks(summary)
		if grounding.WithoutMarks(plain) == plain {
			require.Equal(t, plain, grounding.WithoutMarks(once), "only marks are added")
		}
		require.Equal(t, plain, marked(summary, source, plain), "its own text has all of it")
	})
}
