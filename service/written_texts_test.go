package service_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

// codeSections returns a policy with a section for code.
func codeSections(name string) *compactordv1.Policy {
	policy := by(name, noFallback, keepTurns(3))
	policy.Summary.Sections = &compactordv1.SectionList{Sections: sessiontest.CodeSections()}
	return policy
}

// Sections in tags are recognized whoever wrote the text, and stored in one form.
func TestTagsAreStoredAsSections(t *testing.T) {
	t.Parallel()
	const tags = "<environment>\n- Go 1.26 [#2]\n</environment>\n<Current_Focus>Look into the modules [#1]</Current_Focus>\n<active_issues/>"
	const stored = "## Current Focus\nLook into the modules [#1]\n\n## Environment\n- Go 1.26 [#2]"
	t.Run("by a summarizer", func(t *testing.T) {
		d := start(t, withSummarizer(&scripted{name: "writer", do: func(
			_ context.Context, _ *summarizers.Request, p summarizers.Progress,
		) (*summarizers.Summary, error) {
			p.Text(tags)
			return &summarizers.Summary{Text: tags, Calls: 1}, nil
		}}))
		d.create("s", codeSections("writer"))
		d.append("s", working(10, 2000)...)
		events, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
		entry := last(t, events).GetCompleted().GetCompaction()
		require.Equal(t, stored, unquoted(entry.GetSummary()))
		require.Equal(t, []uint32{1, 2, 26}, entry.GetCitedIndexes())
		require.Equal(t, entry.GetSummary(), lastAttemptText(events), "what was shown is what is stored")
		d.requireSound(t)
	})
	for name, send := range map[string]func(*compactordv1.CommitCompactionRequest){
		"an answer":         func(r *compactordv1.CommitCompactionRequest) { r.Answers = []string{tags} },
		"the whole summary": func(r *compactordv1.CommitCompactionRequest) { r.Summary = tags },
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", codeSections("extractive"))
			d.append("s", working(10, 2000)...)
			req := commitment(d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"}))
			send(req)
			summary := d.commitPlan(req).GetCompaction().GetSummary()
			require.Equal(t, stored, unquoted(summary))
			require.Equal(t, name == "an answer", summary != stored, "only answers get quotes")
			d.requireSound(t)
		})
	}
}

// Both parts of a split turn's summary may have tags, and each has its own sections.
func TestTagsInBothHalvesOfASplitTurn(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(20))
	d.append("s", working(4, 2000)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Len(t, plan.GetPrompts(), 2)
	summary := unquoted(d.commitPlan(commitment(plan,
		"**Done:** the modules [#1]", "<early_progress>read it [#14]</early_progress>",
	)).GetCompaction().GetSummary())
	require.True(t, strings.HasPrefix(summary, "## Progress\n\n### Done\nthe modules [#1]\n\n"), summary)
	require.True(t, strings.HasSuffix(summary, "\n\n## Early Progress\nread it [#14]"), summary)
}

// concurrent is a summarizer that writes several texts at a time.
type concurrent struct {
	*persistent
	atATime int
}

func (c *concurrent) Concurrency() int { return c.atATime }

// vicious is an error that panics when it is examined, outside of the code that guards a summarizer.
type vicious struct{}

func (vicious) Error() string { return "vicious" }

func (vicious) Unwrap() error { panic("looked into") }

// A panic in one of the goroutines for the texts fails the compaction, and not the daemon.
func TestPanicWhileSeveralAreWrittenIsAnError(t *testing.T) {
	t.Parallel()
	var together sync.WaitGroup
	together.Add(3)
	model := &concurrent{atATime: 3, persistent: persisting(func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		// All three are running.
		together.Done()
		together.Wait()
		return nil, vicious{}
	})}
	model.name = "writer"
	d := start(t, withSummarizer(model), withStrategy(&shortener{results: []uint32{3, 7, 11}}))
	d.create("s", shortening(fallingBack))
	d.append("s", working(3, 3000)...)
	before := d.view("s")
	_, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Internal, "INTERNAL")
	requireSameBytes(t, before, d.view("s"))
	require.Len(t, d.attempts(), 1)
	d.requireSound(t)
}
