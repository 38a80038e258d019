package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// compaction is one run of Compact: plan, summarize, check, commit.
type compaction struct {
	service *Service
	req     *compactordv1.CompactRequest
	id      string
	started time.Time
	// findings are what was malformed in a history that was sent along.
	findings []*compactordv1.InputFinding
	events   *telling
	// err is what the RPC ends with. It may be read once the stream of the events is closed.
	err error

	policy   *compactordv1.Policy
	snapshot *session.State
	plan     *compactordv1.CompactionPlan
	// ending is the last event; nil where only an error tells the end.
	ending *compactordv1.CompactionEvent
	// texts are what was written for the plan's edits.
	texts map[place]*summaries.Written
	// noCut is why the plan's cut is not made; nil where it is.
	noCut *skip
	// writer has the texts written; nil as long as there is no plan.
	writer *summaries.Writer
	// uid is the life of the session that it is for.
	uid string
	// own is the client's own plan, and client writes in place of the policy's summarizer; nil where it is as the policy
	// says.
	own    *compactordv1.ClientPlan
	client summarizers.Summarizer
	// whole says that one summary is written of all that the cut covers, also where it splits a turn.
	whole bool
	// block is the provider's own compaction item beside the summary; nil where there is none.
	block *compactordv1.OpaquePart
	// announced says that it is to be recorded how the compaction ends, also where it fails.
	announced bool
	// byBytes says that the size of the view in bytes made the compaction due, and its tokens did not.
	byBytes bool
}

// skip ends a compaction that does nothing. It is an answer, carried as an error to where it is given.
type skip struct {
	reason  compactordv1.SkipReason
	message string
}

func (s *skip) Error() string { return s.message }

// run carries the compaction out and tells how it ended. The error is the RPC's.
func (c *compaction) run(ctx context.Context) error {
	return c.counted(ctx, func() error {
		if err := c.prepare(ctx); err != nil {
			return err
		}
		if err := c.foresee(ctx, c.req.GetDryRun()); err != nil {
			return err
		}
		if c.req.GetDryRun() {
			c.conclude(&compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Planned{
				Planned: &compactordv1.CompactionPlanned{Plan: c.plan},
			}})
			return nil
		}
		if err := c.begin(ctx); err != nil {
			return err
		}
		c.announced = true
		c.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Started{
			Started: &compactordv1.CompactionStarted{Reason: c.reason(), Plan: c.plan},
		}})
		c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_PLAN, 1, 1)
		summary, err := c.texted(ctx)
		if err != nil {
			return err
		}
		completed, err := c.commit(ctx, summary)
		if err != nil {
			return err
		}
		c.conclude(completed)
		return nil
	})
}

// counted does what makes up the compaction. It records how that ended, and counts it.
func (c *compaction) counted(ctx context.Context, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, c.service.logger, "compaction", c.id, r)
		}
		err = c.conclusion(ctx, err)
		c.service.metrics.running.Dec()
		c.service.metrics.ended(c.reason(), c.ending, err, c.service.hooks.Now().Sub(c.started))
		if c.writer != nil {
			c.writer.Finish()
		}
	}()
	c.service.metrics.running.Inc()
	return do()
}

// prepare takes the snapshot and makes the plan.
func (c *compaction) prepare(ctx context.Context) error {
	s := c.service
	row, err := s.logs.Row(ctx, c.req.GetSessionId())
	if err != nil {
		return err
	}
	if row.GetUid() != c.uid {
		return c.overtaken()
	}
	if c.policy, err = s.resolvePolicy(row.GetPolicy(), c.req.GetPolicy()); err != nil {
		return err
	}
	if err := compactionDue(c.reason(), row.GetHead(), c.policy); err != nil {
		return err
	}
	if c.snapshot, err = s.logs.State(ctx, row, row.GetHead()); err != nil {
		return err
	}
	if s.hooks.BeforePlan != nil {
		s.hooks.BeforePlan(ctx)
	}
	return c.makePlan(ctx)
}

// makePlan makes the plan of the snapshot.
func (c *compaction) makePlan(ctx context.Context) error {
	c.byBytes = session.DueByBytesAlone(c.policy, session.Report(c.snapshot.Head, c.policy))
	in := &strategies.Input{State: c.snapshot, Policy: c.policy, Reason: c.reason()}
	var err error
	if c.own != nil {
		c.plan, err = strategies.OfClient(in, c.own)
	} else {
		c.plan, err = c.service.plan(ctx, in, c.policy.GetStrategy())
	}
	if err != nil {
		return err
	}
	if len(c.plan.GetEdits()) == 0 && c.plan.GetCut() == nil {
		return &skip{c.plan.GetSkipReason(), skipMessage(c.plan.GetSkipReason(), c.plan.GetTokensBefore())}
	}
	if err := strategies.Check(in, c.plan); err != nil {
		return err
	}
	c.writer, err = summaries.NewWriter(ctx, c.service.summaries, c.operation())
	return err
}

// goWithoutCut says whether the compaction can go on where no summary is smaller than what it would replace: with edits
// alone. Else it returns that as its end.
func (c *compaction) goWithoutCut(ctx context.Context) error {
	edits, err := c.editsAlone(ctx, c.snapshot)
	if err != nil {
		return err
	}
	if len(strategies.Fitting(c.snapshot, edits, nil)) == 0 {
		return c.noCut
	}
	return nil
}

// editsAlone are the plan's edits where it has no cut. Where that is not made they are planned anew: those of what it
// would have covered are not in the plan.
func (c *compaction) editsAlone(ctx context.Context, state *session.State) ([]*compactordv1.Edit, error) {
	if c.plan.GetCut() == nil || c.own != nil {
		return c.withTexts(c.plan.GetEdits()), nil
	}
	in := &strategies.Input{State: state, Policy: c.policy, Reason: c.reason(), EditsOnly: true}
	plan, err := c.service.plan(ctx, in, c.policy.GetStrategy())
	if err != nil {
		return nil, err
	}
	return c.withTexts(plan.GetEdits()), nil
}

// plan has a strategy plan for a reason.
func (s *Service) plan(
	ctx context.Context, in *strategies.Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return s.strategies.PlanOverflow(ctx, in, parameters)
	}
	return s.strategies.Plan(ctx, in, parameters)
}

func (c *compaction) reason() compactordv1.CompactionReason { return reasonOf(c.req.GetReason()) }

func reasonOf(r compactordv1.CompactionReason) compactordv1.CompactionReason {
	if r == compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED {
		return compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	}
	return r
}

func skipMessage(reason compactordv1.SkipReason, tokens uint32) string {
	switch reason {
	case compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED:
		return "nothing was appended since the last compaction"
	case compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM:
		return belowMinimum
	case compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD:
		return belowStrategysTrigger
	default:
		return fmt.Sprintf("nothing to compact: the view's %d tokens are all to be kept", tokens)
	}
}

// conclusion tells how a compaction ended that did not complete, and turns its error into that of the RPC.
func (c *compaction) conclusion(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var skipped *skip
	if errors.As(err, &skipped) {
		if c.announced {
			c.recordAttempt(ctx, &compactordv1.CompactionAttempt{
				Outcome:    compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_SKIPPED,
				SkipReason: skipped.reason, Message: skipped.message,
			})
		}
		c.conclude(&compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Skipped{
			Skipped: &compactordv1.CompactionSkipped{
				Reason: skipped.reason, Message: skipped.message, Report: c.currentReport(ctx),
			},
		}})
		return nil
	}
	e := c.service.endError(ctx, c.id, "compaction", err)
	if !c.announced {
		return e
	}
	attempt := &compactordv1.CompactionAttempt{
		Outcome:    compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
		StatusCode: int32(e.Code()), ErrorReason: e.Reason, Message: e.Message,
	}
	event := &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Failed{
		Failed: &compactordv1.CompactionFailed{
			StatusCode: int32(e.Code()), Reason: e.Reason, Message: e.Message, RetryAfter: retryAfter(e),
		},
	}}
	if e.Code() == codes.Canceled {
		attempt.Outcome = compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED
		event.Event = &compactordv1.CompactionEvent_Cancelled{
			Cancelled: &compactordv1.CompactionCancelled{Message: e.Message},
		}
	}
	c.recordAttempt(ctx, attempt)
	c.conclude(event)
	return e
}

// endError makes the RPC's error of an operation that failed. Who ended its context is asked first: what fails after that
// fails because of it. It logs what only the daemon's side can mend, since the call may be gone by now.
func (s *Service) endError(ctx context.Context, id, what string, err error) *apierror.Error {
	cause := apierror.EndOf(ctx)
	if cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_CANCELLED,
			map[string]string{"operation_id": id}, "the %s was cancelled: %s", what, cancelledBy(cause))
		e.Cause = err
		return e
	}
	if cause != nil {
		err = cause
	}
	e := apierror.From(err, id)
	if cause != nil {
		e.Metadata["operation_id"] = id
	}
	apierror.LogBug(ctx, s.logger, id, what, e)
	return e
}

func cancelledBy(cause error) string {
	for _, known := range []error{apierror.ErrPreempted, apierror.ErrCancelled, apierror.ErrDeleted, apierror.ErrShuttingDown} {
		if errors.Is(cause, known) {
			return known.Error()
		}
	}
	return "the client ended the call"
}

func retryAfter(e *apierror.Error) *durationpb.Duration {
	if e.RetryAfter == 0 {
		return nil
	}
	return durationpb.New(e.RetryAfter)
}

// recordAttempt writes down a compaction that left no entry. It outlives the cancel that it reports; where it fails, all
// that is lost is the note.
func (c *compaction) recordAttempt(ctx context.Context, attempt *compactordv1.CompactionAttempt) {
	s := c.service
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	attempt.OperationId, attempt.Reason = c.id, c.reason()
	attempt.Duration = durationpb.New(s.hooks.Now().Sub(c.started))
	spent := c.writer.Spent()
	attempt.SummarizerCalls, attempt.Usage, attempt.CostUsd = spent.Calls, spent.Usage, spent.CostUSD
	attempt.Summarizer = c.writer.Asked()
	err := s.logs.Update(ctx, c.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != c.uid {
			return nil, nil
		}
		p := s.logs.Begin(row)
		p.EndsCompaction(c.id)
		_, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}}, nil)
		return p, err
	})
	if err != nil && !apierror.IsSessionNotFound(err) {
		s.logger.WarnContext(ctx, "compaction attempt not recorded", "operation_id", c.id, "error", err)
	}
}

func (c *compaction) currentReport(ctx context.Context) *compactordv1.ContextReport {
	row, err := c.service.logs.Row(ctx, c.req.GetSessionId())
	if err != nil {
		return nil
	}
	return session.Report(row.GetHead(), row.GetResolvedPolicy())
}

func (c *compaction) progress(ctx context.Context, stage compactordv1.CompactionStage, done, total uint32) {
	c.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Progress{
		Progress: &compactordv1.CompactionProgress{Stage: stage, Done: done, Total: total},
	}})
}
