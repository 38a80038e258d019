package service_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
	"github.com/compactord/compactord/summarizers/grounding"
)

const linesOfQuotes = `(?:^(?:- |> )\[#\d+(?: to #\d+)?\] .*(?:\n(?:  |> ).*)*\n?)+`

var (
	// quotes are lines of a summary that quote messages.
	quotes = regexp.MustCompile(`(?m)` + linesOfQuotes)
	// quotesAlone are quotes with the heading of a section that has nothing else.
	quotesAlone = regexp.MustCompile(`(?m)(?:\n\n)?^#+ .*\n` + linesOfQuotes)
)

// unquoted returns a summary whose section for quotes has nothing else, without that section.
func unquoted(summary string) string {
	return quotesAlone.ReplaceAllStringFunc(summary, func(section string) string {
		return section[len(strings.TrimRight(section, "\n")):]
	})
}

// exporting returns a turn of work on one module of an export, whose names only this turn has.
func exporting(i int) []*compactordv1.Message {
	id := fmt.Sprintf("call-%d", i)
	return []*compactordv1.Message{
		user(fmt.Sprintf("Now the export of module %d, please.", i)),
		assistant("I will read it.", call(id, "read", fmt.Sprintf(`{"path":"export/module%d.go"}`, i))),
		toolResult(id, fmt.Sprintf("func exportRows%d(w io.Writer) error {\n\treturn write(w, maxRowsOf%d)\n}\n", i, i)+strings.Repeat("// more\n", 300)),
		assistant(fmt.Sprintf("exportRows%d is fine.", i)),
	}
}

// A model's summary gets quotes and marks in each round. The next model is not sent the quotes, which compete anew; a name
// that was marked stays so until the conversation has it.
func TestQuotesAndMarksOverRounds(t *testing.T) {
	t.Parallel()
	const invented = "ghostOfTheModel"
	model := &scripted{name: "writer", do: func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		text := "## Goal\nExport the modules with " + invented + ".\n\n## Critical Context\n- [#2] The first module is read by " + invented + "."
		p.Text(text)
		return &summarizers.Summary{Text: text, Calls: 1}, nil
	}}
	d := start(t, withSummarizer(model))
	policy := by("writer", noFallback, keepTurns(1))
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(600)
	d.create("s", policy)
	var said strings.Builder
	for round := range 4 {
		for i := range 4 {
			turn := exporting(4*round + i)
			for _, m := range turn {
				said.WriteString(m.String())
			}
			d.append("s", turn...)
		}
		if round == 3 {
			d.append("s", user("What about "+invented+"?"), assistant("It is fine."))
		}
		d.append("s", user("Go on."))
		entry := d.completed(nil)
		summary := entry.GetSummary()
		req := model.seen()[round]

		require.LessOrEqual(t, req.Count(summary), req.MaxTokens)
		require.Less(t, req.MaxTokens, uint32(600), "the frame, slots and files are in the budget, too")
		require.Equal(t, uint32(400), req.ModelBudget())
		require.NotContains(t, req.PreviousSummary, "- [#", "the model is not sent quotes")
		if round > 0 {
			require.Contains(t, req.PreviousSummary, "## Goal\nExport the modules with "+invented+grounding.Mark+".")
		}

		marks := uint32(1)
		if round == 3 {
			marks = 0
		}
		require.Equal(t, int(marks), strings.Count(summary, grounding.Mark), summary)
		require.Equal(t, marks, entry.GetProvenance().GetUnsupportedNames())
		require.Contains(t, summary, "\n- The first module is read by "+invented+". [#2]\n", "this is no quote")

		lines := strings.Split(strings.TrimSpace(strings.Join(quotes.FindAllString(summary, -1), "")), "\n")
		require.Greater(t, len(lines), 2, summary)
		for _, line := range lines {
			evidence.Names(line, func(n evidence.Name, _ int) { require.Contains(t, said.String(), n.Text) })
		}
		require.Contains(t, summary, fmt.Sprintf("maxRowsOf%d", 4*round+3), "the newest names are quoted")
		if round == 1 {
			require.Contains(t, summary, "maxRowsOf2", "and older ones while they fit")
		}
		for _, cited := range summarizers.Citations(strings.Join(lines, "\n")) {
			require.Contains(t, entry.GetCitedIndexes(), cited)
		}
		d.requireSound(t)
	}
}

// A client's answers get quotes and marks as a model's text does. Its whole summary is its own.
func TestQuotesAndMarksForAClient(t *testing.T) {
	t.Parallel()
	text := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "Mind ghostOfTheModel and pkg/module2/file.go.")
	for name, whole := range map[string]bool{"answers": false, "the whole summary": true} {
		d, plan := withPlan(t)
		req := commitment(plan)
		if whole {
			req.Summary = text
		} else {
			req.Answers = []string{text}
		}
		entry := d.commitPlan(req).GetCompaction()
		require.Equal(t, whole, entry.GetSummary() == text, name)
		require.Equal(t, !whole, strings.Contains(entry.GetSummary(), "ghostOfTheModel"+grounding.Mark+" and pkg/module2/file.go."), name)
		require.Equal(t, !whole, entry.GetProvenance().GetUnsupportedNames() == 1, name)
		require.Equal(t, !whole, len(quotes.FindString(entry.GetSummary())) > 0, name)
		d.requireSound(t)
	}
}

// Quotes hold no secrets, and what the model's prompt had is not counted again.
func TestSecretsBesideAModelsSummary(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8"
	const text = "## Goal\nExport the modules."
	d := start(t, withSummarizer(&scripted{name: "writer", do: func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		for _, m := range req.Messages {
			req.Redact(textOf(m.GetMessage()))
		}
		p.Text(text)
		return &summarizers.Summary{Text: text, Calls: 1}, nil
	}}))
	d.create("s", by("writer", noFallback, keepTurns(1)))
	d.append("s", exporting(0)...)
	d.append("s", user("Use tokenOfExport = "+secret+" for it."), assistant("Done."))
	d.append("s", exporting(1)...)
	entry := d.completed(nil)
	require.Contains(t, entry.GetSummary(), "tokenOfExport")
	require.NotContains(t, entry.GetSummary(), secret[4:20])
	require.Equal(t, uint32(1), entry.GetProvenance().GetRedactions())
}

// A commit redacts no messages but to choose quotes, and these redactions do not count.
func TestQuotesBesideAnAnswerCountNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8"
	d := start(t)
	d.create("s", keepTurns(3))
	d.append("s", user("Use tokenOfExport = "+secret+" for it."), assistant("Done."))
	d.append("s", working(10, 2000)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	entry := d.commitPlan(commitment(plan, answersTo(plan)...)).GetCompaction()
	require.Contains(t, entry.GetSummary(), "tokenOfExport")
	require.NotContains(t, entry.GetSummary(), secret[4:20])
	require.Zero(t, entry.GetProvenance().GetRedactions())
}
