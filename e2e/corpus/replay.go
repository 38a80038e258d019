package corpus

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// Replay is a recording that is lived again, message by message, by an agent that compacts when it is told to.
type Replay struct {
	Writer *sessiontest.Writer
	Policy *compactordv1.Policy
	// Rewrites are those that were made so far.
	Rewrites []Rewrite

	registry *strategies.Registry
}

// Rewrite is one compaction or prune that changed the view.
type Rewrite struct {
	// Length is how many messages the log held.
	Length int
	// Appended are the tokens appended until then.
	Appended uint32
	Plan     *compactordv1.CompactionPlan
	// Before and After are the view's tokens.
	Before, After uint32
}

// NewReplay begins the life of a session under a resolved policy.
func NewReplay(t testing.TB, policy *compactordv1.Policy) *Replay {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	return &Replay{Writer: sessiontest.NewWriter(policy), Policy: policy, registry: registry}
}

// Append appends a message. What its provider reported was for another view, so it is left out.
func (r *Replay) Append(m *compactordv1.Message) {
	if m.GetUsage() != nil {
		m = proto.CloneOf(m)
		m.Usage = nil
	}
	r.Writer.Append(m, nil)
}

// Due says whether the context report asks for a compaction.
func (r *Replay) Due() bool { return session.Report(r.Writer.Head, r.Policy).GetShouldCompact() }

// Run plans for a reason and carries the plan out; what is summarized becomes as long as it may. The plan is what was made.
func (r *Replay) Run(t testing.TB, reason compactordv1.CompactionReason, s *compactordv1.Strategy) *compactordv1.CompactionPlan {
	t.Helper()
	w := r.Writer
	in := &strategies.Input{State: w.State(), Policy: r.Policy, Reason: reason}
	plan, err := r.registry.Plan(t.Context(), in, s)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, plan))
	if plan.GetCut() == nil && len(plan.GetEdits()) == 0 {
		return plan
	}
	done := Rewrite{
		Length: len(w.Messages), Appended: w.Head.GetAppendedTokens(), Plan: plan, Before: w.Head.GetViewTokens(),
	}
	if edits := plan.GetEdits(); len(edits) > 0 {
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
			Edits: written(edits), Reason: reason, OperationId: "replay", WithCut: plan.GetCut() != nil,
		}}})
	}
	if plan.GetCut() != nil {
		r.cut(t, reason, plan)
	}
	done.After = w.Head.GetViewTokens()
	if done.After < done.Before {
		r.Rewrites = append(r.Rewrites, done)
	}
	return plan
}

// cut writes a plan's cut with a summary of half of what it stands for, unless the view does not become smaller by it.
func (r *Replay) cut(t testing.TB, reason compactordv1.CompactionReason, plan *compactordv1.CompactionPlan) {
	t.Helper()
	w, c := r.Writer, plan.GetCut()
	record := &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: fmt.Sprintf("cut-%d", w.Log.Newest()), FirstKeptIndex: c.GetFirstKeptIndex(), Reason: reason,
		Summary: strings.Repeat("said", int(min(c.GetMaxSummaryTokens(), plan.GetSummarizerInputTokens()/2))),
	}}}
	tried, err := session.Write(w.State(), record, nil, nil)
	require.NoError(t, err)
	if tried.State.Head.GetViewTokens() < w.Head.GetViewTokens() {
		w.Write(record)
	}
}

// written are edits with the text that a summarizer was to write.
func written(edits []*compactordv1.Edit) []*compactordv1.Edit {
	all := make([]*compactordv1.Edit, len(edits))
	for i, e := range edits {
		all[i] = proto.CloneOf(e)
		if e.GetBySummarizer() {
			all[i].BySummarizer, all[i].Replacement = false, "shorter"
		}
	}
	return all
}
