package compaction

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/tracing"
)

// Run is a compaction that runs in its own goroutine.
type Run struct {
	job *job
	// err is the error of the call. It may be read after the event stream is closed.
	err error
}

// Start starts a compaction of a session. findings are those of an inline history; the first event has them. Where the
// request was carried out before, Start returns the recorded last event and no run.
func (c *Compactor) Start(
	ctx context.Context, req *compactordv1.CompactRequest, findings []*compactordv1.Finding,
) (run *Run, recorded *compactordv1.CompactionEvent, err error) {
	if err := checkOptions(req); err != nil {
		return nil, nil, err
	}
	row, err := c.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, nil, err
	}
	if recorded, err := c.recorded(ctx, row, req); recorded != nil || err != nil {
		return nil, recorded, err
	}
	policy, err := c.Policies.OfCall(ctx, req.GetPolicy())
	if err != nil {
		return nil, nil, err
	}
	// Operations are known by the incarnation's uid: a session that was created again need not wait for the old one's.
	opCtx, op, err := c.Operations.Start(
		ctx, row.GetUid(), operations.StartOptions{Preempt: req.GetPreempt(), Detach: req.GetDetach()})
	if err != nil {
		return nil, nil, err
	}
	// The compaction that was waited for may have been another copy of this request.
	if recorded, err := c.recorded(ctx, row, req); recorded != nil || err != nil {
		c.Operations.End(row.GetUid(), op, nil)
		return nil, recorded, err
	}
	r := &Run{job: &job{Compactor: c, req: req, policy: policy, id: op.ID, uid: row.GetUid(), started: c.Hooks.Now()}}
	r.job.events = r.job.newEvents(sessionlog.NameOf(ctx, req.GetSessionId()), findings)
	r.job.cancel = op.Cancel
	go r.carryOut(opCtx, op)
	return r, nil, nil
}

// recorded returns the last event of a request that was carried out before; nil where it was not.
func (c *Compactor) recorded(
	ctx context.Context, row *storagev1.Session, req *compactordv1.CompactRequest,
) (*compactordv1.CompactionEvent, error) {
	before := &compactordv1.CompactResponse{}
	known, err := c.logs.Recorded(ctx, row, req, before)
	if !known || err != nil {
		return nil, err
	}
	before.GetEvent().Number = 1
	return before.GetEvent(), nil
}

func (r *Run) carryOut(ctx context.Context, op *operations.Operation) {
	ctx, span := tracing.Begin(ctx, "compaction", attribute.String("compactord.operation_id", r.job.id))
	ending, err := r.job.run(ctx)
	r.err = err
	endSpan(span, ending, err)
	r.job.events.seal(ending)
	// The session is free before the client gets the last event, so that its next call is not refused.
	r.job.Operations.End(r.job.uid, op, ending)
	r.job.events.end(ending)
}

// Events returns the channel of the events, which is closed after the last. The caller calls Received after each.
func (r *Run) Events() <-chan *compactordv1.CompactionEvent { return r.job.events.stream }

// Received says that an event was received from Events.
func (r *Run) Received() { r.job.events.received() }

// Heartbeat sends a heartbeat, unless events are waiting for the client.
func (r *Run) Heartbeat() { r.job.events.heartbeat() }

// Err returns the error of the call. It may be called after Events is closed.
func (r *Run) Err() error { return r.err }

// run runs a compaction. It returns its last event, or nil where the call returns only an error, and the error of the
// call.
func (j *job) run(ctx context.Context) (*compactordv1.CompactionEvent, error) {
	return j.runRecorded(ctx, func(rs *runState) (*compactordv1.CompactionEvent, error) {
		if err := j.refuseElsewhere(ctx); err != nil {
			return nil, err
		}
		plan, ctx, permit, err := j.prepareAdmitted(ctx)
		if err != nil {
			return nil, err
		}
		defer permit.Leave()
		w, err := plan.writing(ctx, plan.operation())
		if err != nil {
			return nil, err
		}
		rs.writing = w
		if err := w.estimate(ctx, j.req.GetDryRun()); err != nil {
			return nil, err
		}
		if j.req.GetDryRun() {
			return &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Planned{Planned: plan.plan}}, nil
		}
		if err := j.begin(ctx); err != nil {
			j.inRow().takeBack(ctx)
			return nil, err
		}
		rs.recordsEnd, j.named = true, true
		defer j.inRow().heed(ctx)()
		j.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Started{
			Started: &compactordv1.CompactionStarted{Reason: j.reason(), Plan: plan.plan},
		}})
		j.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_PLAN, 1, 1)
		texts, err := w.write(ctx)
		if err != nil {
			return nil, err
		}
		return texts.commit(ctx)
	})
}
