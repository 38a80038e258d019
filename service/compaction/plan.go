package compaction

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/tracing"
)

// planned is a job with its plan.
type planned struct {
	*job

	policy   *compactordv1.Policy
	snapshot *session.State
	plan     *compactordv1.CompactionPlan
	// byBytes says that only the view's size in bytes made the compaction due, not its tokens.
	byBytes bool
}

// prepare reads the snapshot and plans.
func (j *job) prepare(ctx context.Context) (p *planned, err error) {
	ctx, span := tracing.Begin(ctx, "plan")
	defer func() { endStep(span, err) }()
	// The session may have changed while the compaction waited to be admitted.
	row, policy, err := j.due(ctx)
	if err != nil {
		return nil, err
	}
	if err := j.findFold(ctx, row); err != nil {
		return nil, err
	}
	snapshot, err := j.logs.Outlines(ctx, row, row.GetHead())
	if err != nil {
		return nil, err
	}
	if err := j.findBounds(ctx, row, row.GetHead(), policy); err != nil {
		return nil, err
	}
	if j.Hooks.BeforePlan != nil {
		j.Hooks.BeforePlan(ctx)
	}
	return j.makePlan(ctx, policy, snapshot)
}

// findBounds finds what bounds sub-tasks at a head where the policy's strategy needs it: the checkpoints, and the to-do
// list that was in force before the kept part.
func (j *job) findBounds(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, policy *compactordv1.Policy,
) (err error) {
	if j.own == nil && strategies.FoldsByCheckpoints(policy.GetStrategy()) {
		if j.checkpoints, err = j.logs.CheckpointStarts(ctx, row, h); err != nil {
			return err
		}
	}
	if j.own == nil && strategies.FoldsByTodos(policy.GetStrategy()) {
		j.todosBefore, err = j.logs.TodosBefore(ctx, row, h)
	}
	return err
}

// makePlan plans on a snapshot.
func (j *job) makePlan(
	ctx context.Context, policy *compactordv1.Policy, snapshot *session.State,
) (*planned, error) {
	in := &strategies.Input{State: snapshot, Policy: policy, Reason: j.reason(), Checkpoints: j.checkpoints, TodosBefore: j.todosBefore}
	var plan *compactordv1.CompactionPlan
	var err error
	switch {
	case j.own != nil:
		plan, err = strategies.OfClient(ctx, in, j.own)
	case j.req.GetFold() != nil:
		plan, err = j.planFold(in)
	default:
		plan, err = j.planBy(ctx, in, policy.GetStrategy())
	}
	if err != nil {
		return nil, err
	}
	if len(plan.GetEdits()) == 0 && plan.GetCut() == nil {
		return nil, j.skips(plan)
	}
	if err := strategies.Check(in, plan); err != nil {
		return nil, err
	}
	return &planned{
		job: j, policy: policy, snapshot: snapshot, plan: plan,
		byBytes: strategies.DueByBytesAlone(policy, strategies.Report(snapshot.Head, policy)),
	}, nil
}

// stillFits returns an error where a plan of the snapshot can no longer be carried out: after a Revert or another
// compaction, or where the session was created anew. Messages may have been appended.
func (j *job) stillFits(snapshot *session.State, row *storagev1.Session) error {
	then, now := snapshot.Head, row.GetHead()
	if row.GetUid() == j.uid && then.GetLastRevert() == now.GetLastRevert() &&
		then.GetCompaction().GetSequence() == now.GetCompaction().GetSequence() {
		return nil
	}
	return j.stateChanged()
}

// editsAlone returns the edits to make without a cut. Where the plan has a cut, it plans the edits again, since the
// plan has none for the messages that the cut would have covered.
func (p *planned) editsAlone(ctx context.Context, state *session.State) ([]*compactordv1.Edit, error) {
	if p.plan.GetCut() == nil || p.own != nil {
		return p.plan.GetEdits(), nil
	}
	in := &strategies.Input{
		State: state, Policy: p.policy, Reason: p.reason(), EditsOnly: true, Checkpoints: p.checkpoints, TodosBefore: p.todosBefore,
	}
	plan, err := p.planBy(ctx, in, p.policy.GetStrategy())
	return plan.GetEdits(), err
}

// resolvedStrategy returns the strategy with its defaults; nil for a client plan, and where a range is folded.
func (p *planned) resolvedStrategy() *compactordv1.Strategy {
	if p.own != nil || p.req.GetFold() != nil {
		return nil
	}
	return p.Strategies.Resolved(p.policy, p.policy.GetStrategy())
}

// divide returns the covered messages: those that are summarized as complete turns, and the first part of the turn that
// the cut splits.
func (p *planned) divide() (history, prefix []*compactordv1.LoggedMessage) {
	kept, cut := p.snapshot.Kept, p.plan.GetCut()
	end := p.snapshot.Position(cut.GetFirstKeptIndex())
	if cut.SplitTurnStart == nil {
		return kept[:end], nil
	}
	start := p.snapshot.Position(cut.GetSplitTurnStart())
	return kept[:start], kept[start:end]
}

// toRead returns how much the summarizer has to read for all texts, in stored tokens: tool results, what is folded,
// and the conversation.
func (p *planned) toRead() uint32 {
	var total uint32
	for _, e := range toWrite(p.plan.GetEdits()) {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
			total += session.StoredTokens(strategies.Folded(p.snapshot, e))
			continue
		}
		total += p.snapshot.Kept[p.snapshot.Position(e.GetIndex())].GetTokens()
	}
	if p.plan.GetCut() != nil {
		history, prefix := p.divide()
		total += session.StoredTokens(history) + session.StoredTokens(prefix)
	}
	return total
}
