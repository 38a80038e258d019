package compaction

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
)

// Run is a compaction that runs in a goroutine of its own.
type Run struct {
	job *job
	// err is what the call ends with. It may be read once the stream of the events is closed.
	err error
}

// Start starts a compaction of a session. findings are what was malformed in a history that was sent along; they are told
// with the first event. A request that was carried out before is not carried out again: then recorded is its last event,
// and there is no run.
func (c *Compactor) Start(
	ctx context.Context, req *compactordv1.CompactRequest, findings []*compactordv1.Finding,
) (run *Run, recorded *compactordv1.CompactionEvent, err error) {
	if err := checkReplay(req); err != nil {
		return nil, nil, err
	}
	row, err := c.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, nil, err
	}
	if recorded, err := c.recorded(ctx, row, req); recorded != nil || err != nil {
		return nil, recorded, err
	}
	// By the incarnation of the session, so that one which was created anew need not wait for the old one's.
	opCtx, op, err := c.Operations.Start(
		ctx, row.GetUid(), operations.Terms{Preempt: req.GetPreempt(), Detach: req.GetDetach()})
	if err != nil {
		return nil, nil, err
	}
	// The one that was waited for may have been this very request.
	if recorded, err := c.recorded(ctx, row, req); recorded != nil || err != nil {
		c.Operations.End(row.GetUid(), op, nil)
		return nil, recorded, err
	}
	r := &Run{job: &job{Compactor: c, req: req, id: op.ID, uid: row.GetUid(), started: c.Hooks.Now()}}
	r.job.events = r.job.newEvents(sessionlog.NameOf(ctx, req.GetSessionId()), findings)
	go r.carryOut(opCtx, op)
	return r, nil, nil
}

// recorded is the last event of a request that was carried out before; nil where it was not.
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
	ending, err := r.job.run(ctx)
	r.err = err
	r.job.events.seal(ending)
	// The session is free before the client hears of the end, so that its next call is not refused.
	r.job.Operations.End(r.job.uid, op, ending)
	r.job.events.end(ending)
}

// Events are the events of the compaction. The channel is closed after the last. Each that is received must be told by
// Received.
func (r *Run) Events() <-chan *compactordv1.CompactionEvent { return r.job.events.stream }

// Received makes room for another event.
func (r *Run) Received() { r.job.events.taken() }

// Beat tells by an event that the compaction still runs, where there is room for it.
func (r *Run) Beat() { r.job.events.beat() }

// Err is what the call ends with. It may be asked for once Events is closed.
func (r *Run) Err() error { return r.err }

// run carries a compaction out and returns its last event; nil where only an error tells the end. The error is the call's.
func (j *job) run(ctx context.Context) (*compactordv1.CompactionEvent, error) {
	return j.account(ctx, func(so *soFar) (*compactordv1.CompactionEvent, error) {
		plan, err := j.prepare(ctx)
		if err != nil {
			return nil, err
		}
		w, err := plan.writing(ctx, plan.operation())
		if err != nil {
			return nil, err
		}
		so.writing = w
		if err := w.estimate(ctx, j.req.GetDryRun()); err != nil {
			return nil, err
		}
		if j.req.GetDryRun() {
			return &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Planned{Planned: plan.plan}}, nil
		}
		if err := j.begin(ctx); err != nil {
			return nil, err
		}
		so.announced = true
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
