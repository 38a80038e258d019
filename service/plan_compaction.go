package service

import (
	"cmp"
	"context"
	"errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// defaultPromptTokens is the most that a prompt for a client's model may have where the client does not say.
const defaultPromptTokens = 500_000

// PlanCompaction implements CompactionService.
func (s *Service) PlanCompaction(
	ctx context.Context, req *compactordv1.PlanCompactionRequest,
) (*compactordv1.PlanCompactionResponse, error) {
	options := &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: req.GetSessionId()},
		Reason: req.GetReason(), Focus: req.GetFocus(), Policy: req.GetPolicy(), Replay: req.Replay,
	}
	if err := checkReplay(options); err != nil {
		return nil, err
	}
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	c := s.clientCompaction(row, options, req.GetClientPlan())
	answer := &compactordv1.PlanCompactionResponse{}
	err = c.prepare(ctx)
	var skipped *skip
	if errors.As(err, &skipped) {
		answer.Plan = &compactordv1.CompactionPlan{
			SkipReason: skipped.reason, TokensBefore: row.GetHead().GetViewTokens(),
		}
		answer.Message, answer.Report = skipped.message, c.currentReport(ctx)
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	list := &promptList{
		limit: cmp.Or(req.GetMaxPromptTokens(), defaultPromptTokens), from: int(req.GetFromPrompt()), answer: answer,
	}
	if err := list.fill(ctx, c); err != nil {
		return nil, err
	}
	answer.Plan = c.plan
	answer.Report = session.Report(c.snapshot.Head, row.GetResolvedPolicy())
	answer.PlanToken, err = c.planToken(list.cached)
	return answer, err
}

// clientCompaction is a compaction whose texts the client's model writes. Nobody listens to it.
func (s *Service) clientCompaction(
	row *storagev1.Session, options *compactordv1.CompactRequest, own *compactordv1.ClientPlan,
) *compaction {
	return &compaction{
		service: s, req: options, id: newID(), started: s.hooks.Now(), uid: row.GetUid(), own: own,
		client: &summaries.ClientTexts{},
	}
}

// planToken names the plan.
func (c *compaction) planToken(cached bool) (string, error) {
	t := &planToken{uid: c.uid, point: session.Point(c.snapshot.Head), req: c.req, cached: cached}
	var err error
	if t.plan, err = planDigest(c.req, c.plan, c.policy); err != nil {
		return "", err
	}
	if t.own, err = ownDigest(c.own); err != nil {
		return "", err
	}
	return t.encode()
}

// ask is one of the texts that a plan needs.
type ask struct {
	request *summarizers.Request
	// edit is where the text belongs; nil where that is the summary.
	edit *compactordv1.EditPlace
}

// asks are the texts that the plan needs, in the order in which shorten and summarize have them written.
func (c *compaction) asks() []ask {
	var all []ask
	for _, e := range toWrite(c.plan.GetEdits()) {
		all = append(all, ask{
			request: c.writer.ShortenRequest(e), edit: &compactordv1.EditPlace{Index: e.GetIndex(), Part: e.GetPart()},
		})
	}
	if c.plan.GetCut() == nil {
		return all
	}
	for _, req := range c.writer.WriteRequests(c.task()) {
		all = append(all, ask{request: req})
	}
	return all
}
