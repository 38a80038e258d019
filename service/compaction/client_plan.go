package compaction

import (
	"cmp"
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// defaultPromptTokens is the most tokens of a prompt for a client's model where the client sets no limit.
const defaultPromptTokens = 500_000

// Plan plans a compaction whose texts the client's model is to write, and returns the prompts for them.
func (c *Compactor) Plan(
	ctx context.Context, req *compactordv1.PlanCompactionRequest,
) (*compactordv1.PlanCompactionResponse, error) {
	// The plan token has the policy, and must mean the same when it comes back.
	policy, err := c.Policies.OfCall(ctx, req.GetPolicy())
	if err != nil {
		return nil, err
	}
	options := &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: req.GetSessionId()},
		Reason: req.GetReason(), Focus: req.GetFocus(), Policy: policy, Replay: req.Replay,
		Fold: req.GetFold(),
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if req.GetFold() != nil && req.GetClientPlan() != nil {
		return nil, apierror.InvalidField("fold", "is not allowed with client_plan")
	}
	row, err := c.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	j := c.clientJob(row, options, req.GetClientPlan())
	plan, working, permit, err := j.prepareAdmitted(ctx)
	switch skipped := asSkip(err); {
	case skipped != nil:
		return skipped.answer(row, j.currentReport(ctx)), nil
	case err != nil:
		return nil, err
	}
	defer permit.Leave()
	ctx = working
	w, err := plan.writing(ctx, plan.operation())
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.PlanCompactionResponse{
		Plan: plan.plan, Report: strategies.ReportAt(row, plan.snapshot.Head),
	}
	list := &promptList{
		limit: cmp.Or(req.GetMaxPromptTokens(), defaultPromptTokens), from: int(req.GetFromPrompt()), answer: answer,
	}
	if err := list.fill(ctx, w); err != nil {
		return nil, err
	}
	answer.PlanToken, err = plan.token(list.cached)
	return answer, err
}

// answer returns the response for a client where there is nothing to compact.
func (s *skip) answer(
	row *storagev1.Session, report *compactordv1.ContextReport,
) *compactordv1.PlanCompactionResponse {
	return &compactordv1.PlanCompactionResponse{
		Plan:    &compactordv1.CompactionPlan{SkipReason: s.reason, TokensBefore: row.GetHead().GetViewTokens()},
		Message: s.message, Report: report,
	}
}

// clientJob returns the job of a compaction whose texts the client's model writes. It sends no events.
func (c *Compactor) clientJob(
	row *storagev1.Session, options *compactordv1.CompactRequest, own *compactordv1.ClientPlan,
) *job {
	return &job{
		Compactor: c, req: options, policy: options.GetPolicy(), id: sessionlog.NewID(), uid: row.GetUid(), started: c.Hooks.Now(), own: own,
		client: &summaries.ClientTexts{},
	}
}

// token returns the plan token.
func (p *planned) token(cached bool) (string, error) {
	t := &planToken{uid: p.uid, point: session.Point(p.snapshot.Head), req: p.req, cached: cached}
	var err error
	if t.plan, err = planDigest(p.req, p.plan, p.policy); err != nil {
		return "", err
	}
	if t.own, err = ownDigest(p.own); err != nil {
		return "", err
	}
	return t.encode()
}

// wantedText is a text that a plan needs.
type wantedText struct {
	request *summarizers.Request
	// edit is the place of the edit that the text is for; nil where the text is for the summary.
	edit *compactordv1.EditPlace
}

// wantedTexts returns the texts that the plan needs, in the order in which write has them written.
func (w *writing) wantedTexts(ctx context.Context) ([]wantedText, error) {
	var all []wantedText
	for _, e := range toWrite(w.plan.GetEdits()) {
		req, err := w.writer.EditRequest(e)
		if err != nil {
			return nil, err
		}
		all = append(all, wantedText{
			request: req, edit: &compactordv1.EditPlace{Index: e.GetIndex(), Part: e.GetPart()},
		})
	}
	if w.plan.GetCut() == nil {
		return all, nil
	}
	task, err := w.task(ctx)
	if err != nil {
		return nil, err
	}
	for _, req := range w.writer.WriteRequests(task) {
		all = append(all, wantedText{request: req})
	}
	return all, nil
}
