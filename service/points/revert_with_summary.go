package points

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// summarizedRevert is one run of a revert with a summary.
type summarizedRevert struct {
	points  *Points
	req     *compactordv1.RevertToCheckpointRequest
	id      string
	started time.Time

	row    *storagev1.Session
	policy *compactordv1.Policy
	// future is the message with the summary; nil where no message is put aside.
	future *compactordv1.Message
	// provenance is that of the summary, and cited are the messages that its lines cite.
	provenance *compactordv1.Provenance
	cited      []uint32
}

// revertWithSummary has a summary written of what the revert puts aside, and then reverts, as one operation of the
// session.
func (p *Points) revertWithSummary(
	ctx context.Context, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.RevertToCheckpointResponse, error) {
	row, err := p.Logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.RevertToCheckpointResponse{}
	if known, err := p.Logs.Recorded(ctx, row, req, answer); known || err != nil {
		return answer, err
	}
	opCtx, op, err := p.Operations.Start(ctx, row.GetUid(), operations.StartOptions{})
	if err != nil {
		return nil, err
	}
	defer p.Operations.End(row.GetUid(), op, nil)
	opCtx, permit, err := p.Pool.Enter(opCtx, admission.WeightOf(int(row.GetHead().GetViewBytes())), nil)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	end, err := p.BeginRevert(opCtx, op, req, row.GetUid())
	if err != nil {
		return nil, err
	}
	defer end()
	r := &summarizedRevert{points: p, req: req, id: op.ID, started: p.Logs.Now().AsTime()}
	if err := r.run(opCtx, answer); err != nil {
		return nil, operations.EndError(opCtx, p.Logger, op.ID, "revert", err)
	}
	return answer, nil
}

func (r *summarizedRevert) run(ctx context.Context, answer *compactordv1.RevertToCheckpointResponse) error {
	p := r.points
	var err error
	// The operation that ran before may have been another copy of this request.
	if r.row, err = p.Logs.Row(ctx, r.req.GetSessionId()); err != nil {
		return err
	}
	if known, err := p.Logs.Recorded(ctx, r.row, r.req, answer); known || err != nil {
		return err
	}
	if r.policy, err = p.Policies.Resolve(ctx, r.row.GetPolicy()); err != nil {
		return err
	}
	back, err := p.reversal(ctx, r.row, r.req)
	if err != nil {
		return err
	}
	if back.toNewest(r.row) {
		answerUnchanged(r.row, answer)
		return nil
	}
	if len(back.aside) > 0 {
		if err := r.summarize(ctx, back); err != nil {
			return err
		}
	}
	if p.BeforeCommit != nil {
		p.BeforeCommit(ctx)
	}
	return r.commit(ctx, answer)
}

// summarize has a summary written of the messages that are put aside, as they are in the log.
func (r *summarizedRevert) summarize(ctx context.Context, back *reversal) error {
	p := r.points
	then, aside, err := p.Logs.OutlinesBeside(ctx, r.row, back.at, back.aside)
	if err != nil {
		return err
	}
	kept, err := shownAt(ctx, then)
	if err != nil {
		return err
	}
	writer, err := summaries.NewWriter(ctx, p.Summaries, &summaries.Operation{
		ID: r.id, SessionUID: r.row.GetUid(), State: then, Policy: r.policy, Focus: r.req.GetFocus(),
	})
	if err != nil {
		return err
	}
	files := summaries.RedactFiles(writer.Redact, strategies.FilesOf(then, strategies.FileTools(r.policy), aside))
	// The summary need not be smaller than these messages: they leave the view in any case.
	summary, err := writer.Write(ctx, &summaries.Task{
		History: aside, Kept: kept, MaxTokens: r.textBudget(then, files), Replaces: math.MaxUint32,
	})
	writer.Finish()
	if err != nil {
		return rejected(err)
	}
	r.future = session.FutureSummary(summary.Text, files)
	r.cited = summarizers.Citations(summary.Text)
	r.provenance = &compactordv1.Provenance{
		OperationId: r.id, Focus: writer.Redact(r.req.GetFocus()), Duration: durationpb.New(r.points.Logs.Now().AsTime().Sub(r.started)),
	}
	summary.SetWriterIn(r.provenance)
	writer.SetCostsIn(r.provenance)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// shownAt returns what the view shows when the revert is done: the destination's summary and its newest messages.
func shownAt(ctx context.Context, then *session.State) ([]*compactordv1.LoggedMessage, error) {
	shown, err := summaries.ShownNewest(ctx, then, then, slices.Concat(then.OutOfPlace, then.Kept))
	if err != nil {
		return nil, err
	}
	if summary := then.Entry.GetSummary(); summary != "" {
		shown = append(shown, &compactordv1.LoggedMessage{Message: &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart(summary)},
		}})
	}
	return shown, nil
}

// textBudget returns what the message's other sentences and its lists of files leave of the policy's budget for the
// summary's text, but at least half of it.
func (r *summarizedRevert) textBudget(then *session.State, files *compactordv1.FileLists) uint32 {
	budget := strategies.SummaryBudget(r.policy)
	if strategies.BudgetsTextAlone(r.policy) {
		return budget
	}
	around := session.TextTokens(then.ModelCounter(), wording.FutureSummary("", files))
	return max(budget-min(budget, around), budget/2, min(budget, minTextTokens))
}

// minTextTokens is the smallest budget of a text where the policy's is not smaller.
const minTextTokens = 128

// rejected turns a NoGainError into an error that makes sense for a revert, which does not ask for a gain. It comes
// only from the fallback, and here only from its check of the budget.
func rejected(err error) error {
	var noGain *summaries.NoGainError
	if !errors.As(err, &noGain) {
		return err
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED,
		map[string]string{"summarizer": summaries.Fallback, "check": summarizers.CheckBudget},
		"no summary of what is put aside fits the policy's budget for summaries")
}

// commit writes the Revert and the summary, if the log has not changed since it was summarized.
func (r *summarizedRevert) commit(ctx context.Context, answer *compactordv1.RevertToCheckpointResponse) error {
	p := r.points
	return p.Logs.Update(ctx, r.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := p.Logs.Recorded(ctx, row, r.req, answer); known || err != nil {
			return nil, err
		}
		if row.GetUid() != r.row.GetUid() || session.Point(row.GetHead()) != session.Point(r.row.GetHead()) {
			return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
				map[string]string{"operation_id": r.id},
				"the log grew, or the session was created anew, while what is to be put aside was summarized")
		}
		if p.Logs.Shared() && !sessionlog.Names(row, r.id) {
			return nil, apierror.ErrTakenForDead
		}
		back, err := p.reversal(ctx, row, r.req)
		if err != nil {
			return nil, err
		}
		back.revert.Provenance, back.revert.CitedIndexes = r.provenance, r.cited
		w := p.Logs.Begin(row)
		w.RemoveRunning(r.id)
		if err := p.revert(ctx, w, back, r.future, answer); err != nil {
			return nil, err
		}
		return w, w.Remember(r.req, answer)
	})
}
