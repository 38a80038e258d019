package compaction

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/tracing"
)

// prepareAdmitted waits until the compaction may work, unless it is not due, and prepares it. It returns the context for
// all further work, and a permit that the caller must leave. A client with an event stream gets a heartbeat when the
// waiting begins.
func (j *job) prepareAdmitted(ctx context.Context) (*planned, context.Context, *admission.Permit, error) {
	row, _, err := j.due(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	var onWait func()
	if j.events != nil {
		onWait = j.events.heartbeat
	}
	_, span := tracing.Begin(ctx, "wait for the pool")
	working, permit, err := j.Pool.Enter(ctx, weightOf(row), onWait)
	span.EndWith(err)
	if err != nil {
		return nil, nil, nil, err
	}
	plan, err := j.prepare(working)
	if err != nil {
		permit.Leave()
		return nil, nil, nil, err
	}
	return plan, working, permit, nil
}

// admittedPrune waits until a prune by a policy may work. One that is not due enters no pool, since it does no work.
func (c *Compactor) admittedPrune(
	ctx context.Context, req *compactordv1.PruneRequest, asked *compactordv1.Policy,
) (context.Context, *admission.Permit, error) {
	row, err := c.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, nil, err
	}
	policy, err := c.Policies.Resolve(ctx, row.GetPolicy(), asked)
	if err != nil {
		return nil, nil, err
	}
	due := pruneDue(reasonOf(req.GetReason()), row.GetHead(), policy) == nil
	if !due {
		return ctx, &admission.Permit{}, nil
	}
	_, span := tracing.Begin(ctx, "wait for the pool")
	working, permit, err := c.Pool.Enter(ctx, weightOf(row), nil)
	span.EndWith(err)
	return working, permit, err
}

// weightOf returns the weight of planning on a session's view.
func weightOf(row *storagev1.Session) int {
	return admission.WeightOf(int(row.GetHead().GetViewBytes()))
}

// due returns the session's row and its policy, or an error where no compaction is due.
func (j *job) due(ctx context.Context) (*storagev1.Session, *compactordv1.Policy, error) {
	row, err := j.logs.Row(ctx, j.req.GetSessionId())
	if err != nil {
		return nil, nil, err
	}
	if row.GetUid() != j.uid {
		return nil, nil, j.stateChanged()
	}
	policy, err := j.Policies.Resolve(ctx, row.GetPolicy(), j.policy)
	if err != nil {
		return nil, nil, err
	}
	return row, policy, compactionDue(j.reason(), row.GetHead(), policy)
}
