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

// Replay replays a recording message by message, as by an agent that compacts when compaction is due.
type Replay struct {
	Writer *sessiontest.Writer
	Policy *compactordv1.Policy
	// Rewrites are the rewrites of Run so far.
	Rewrites []Rewrite
	// OnUserMessage are the rewrites of policy.on_user_message so far.
	OnUserMessage []Rewrite

	registry *strategies.Registry
}

// Rewrite is one compaction or prune that changed the view.
type Rewrite struct {
	// Length is the number of messages in the log.
	Length int
	// Appended is the number of tokens appended so far.
	Appended uint32
	Plan     *compactordv1.CompactionPlan
	// Before and After are the view's tokens.
	Before, After uint32
}

// NewReplay begins a session under a resolved policy.
func NewReplay(t testing.TB, policy *compactordv1.Policy) *Replay {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	return &Replay{Writer: sessiontest.NewWriter(policy), Policy: policy, registry: registry}
}

// Append appends a message, and applies policy.on_append and policy.on_user_message. It drops the usage report, which
// is about another view.
func (r *Replay) Append(t testing.TB, m *compactordv1.Message) *compactordv1.LoggedMessage {
	t.Helper()
	if m.GetUsage() != nil {
		m = proto.CloneOf(m)
		m.Usage = nil
	}
	logged := r.Writer.AppendEdited(m, r.arrivalEdits(t, m)...)
	if session.StartsTurn(logged.GetMessage()) && len(r.Policy.GetOnUserMessage().GetStrategies()) > 0 {
		r.userMessage(t)
	}
	return logged
}

// arrivalEdits returns the edits of policy.on_append.
func (r *Replay) arrivalEdits(t testing.TB, m *compactordv1.Message) []*compactordv1.Edit {
	t.Helper()
	if len(r.Policy.GetOnAppend().GetStrategies()) == 0 || m.GetRole() != compactordv1.Role_ROLE_TOOL {
		return nil
	}
	w := r.Writer
	counter, err := session.CounterFor(w.Head.GetEstimator())
	require.NoError(t, err)
	l := session.Link(w.Head, counter, m, nil)
	var call *compactordv1.ToolCall
	if a := l.GetAnswers(); a != nil {
		call = w.Messages[a.GetIndex()].GetMessage().GetParts()[a.GetPart()].GetToolCall()
	}
	return strategies.OnAppend(w.Head, counter, r.Policy, l, call)
}

// userMessage applies policy.on_user_message if that makes the view smaller.
func (r *Replay) userMessage(t testing.TB) {
	t.Helper()
	in := r.input(compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE)
	plan, err := r.registry.PlanAll(t.Context(), in, r.Policy.GetOnUserMessage().GetStrategies())
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, plan))
	if len(plan.GetEdits()) == 0 {
		return
	}
	done := r.rewriteOf(plan)
	if r.write(t, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
		Edits: plan.GetEdits(), Provenance: &compactordv1.Provenance{Reason: in.Reason, OperationId: "replay"},
	}}}) {
		done.After = r.Writer.Head.GetViewTokens()
		r.OnUserMessage = append(r.OnUserMessage, done)
	}
}

// Due says whether the context report asks for a compaction, as the service does.
func (r *Replay) Due(t testing.TB) bool {
	t.Helper()
	if !strategies.ReportPlanned(r.Writer.Head, r.Policy, true).GetShouldCompact() {
		return false
	}
	plan, err := r.registry.PlanDue(t.Context(), r.Writer.State(), r.Policy)
	require.NoError(t, err)
	return plan.GetShrinksView()
}

// Plan makes a plan for a reason, without carrying it out.
func (r *Replay) Plan(t testing.TB, reason compactordv1.CompactionReason, s *compactordv1.Strategy) *compactordv1.CompactionPlan {
	t.Helper()
	in := r.input(reason)
	plan, err := r.registry.Plan(t.Context(), in, s)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, plan))
	return plan
}

// Run makes a plan for a reason, carries it out and returns it. Summaries have the greatest length that the plan
// allows, but at most half of their input.
func (r *Replay) Run(t testing.TB, reason compactordv1.CompactionReason, s *compactordv1.Strategy) *compactordv1.CompactionPlan {
	t.Helper()
	plan := r.Plan(t, reason, s)
	if plan.GetCut() != nil || len(plan.GetEdits()) > 0 {
		r.Carry(t, reason, plan)
	}
	return plan
}

// Carry carries out a fresh plan.
func (r *Replay) Carry(t testing.TB, reason compactordv1.CompactionReason, plan *compactordv1.CompactionPlan) {
	t.Helper()
	done := r.rewriteOf(plan)
	if edits := plan.GetEdits(); len(edits) > 0 {
		r.Writer.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
			Edits: written(edits), Provenance: &compactordv1.Provenance{Reason: reason, OperationId: "replay"},
			WithCut: plan.GetCut() != nil,
		}}})
	}
	if plan.GetCut() != nil {
		r.cut(t, reason, plan)
	}
	done.After = r.Writer.Head.GetViewTokens()
	if done.After < done.Before {
		r.Rewrites = append(r.Rewrites, done)
	}
}

// Change changes the policy to another resolved one.
func (r *Replay) Change(policy *compactordv1.Policy) {
	r.Writer.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
	}})
	r.Policy = policy
}

func (r *Replay) input(reason compactordv1.CompactionReason) *strategies.Input {
	return &strategies.Input{State: r.Writer.State(), Policy: r.Policy, Reason: reason}
}

// rewriteOf begins a rewrite by a plan, before the plan is carried out.
func (r *Replay) rewriteOf(plan *compactordv1.CompactionPlan) Rewrite {
	h := r.Writer.Head
	return Rewrite{
		Length: len(r.Writer.Messages), Appended: h.GetAppendedTokens(), Plan: plan, Before: h.GetViewTokens(),
	}
}

// cut writes the cut of a plan if that makes the view smaller. The summary has half of the tokens of its input, or the
// most that are allowed.
func (r *Replay) cut(t testing.TB, reason compactordv1.CompactionReason, plan *compactordv1.CompactionPlan) {
	t.Helper()
	c := plan.GetCut()
	r.write(t, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: fmt.Sprintf("cut-%d", r.Writer.Log.Newest()), FirstKeptIndex: c.GetFirstKeptIndex(),
		Provenance: &compactordv1.Provenance{Reason: reason},
		Summary:    strings.Repeat("said", int(min(c.GetMaxSummaryTokens(), plan.GetSummarizerInputTokens()/2))),
	}}})
}

// write writes a record if that makes the view smaller.
func (r *Replay) write(t testing.TB, record *compactordv1.Record) bool {
	t.Helper()
	w := r.Writer
	tried, err := session.Write(w.State(), record, nil, nil)
	require.NoError(t, err)
	if tried.State.Head.GetViewTokens() >= w.Head.GetViewTokens() {
		return false
	}
	w.Write(record)
	return true
}

// written returns edits with the texts that a summarizer would write.
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
