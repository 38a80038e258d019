package service

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/compaction"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage/memory"
)

// maxInlineBytes is the size limit for the view of an inline history where the request sets none. It is the highest
// that a request can set.
const maxInlineBytes = 64 << 20

// inlineSession is the id of the session that an inline history becomes.
const inlineSession = "inline"

// inline is an inline history as the log of a session in memory. So it is treated exactly like a session, and nothing
// of it is stored.
type inline struct {
	logs      *sessionlog.Logs
	compactor *compaction.Compactor
	// findings are what was malformed in it.
	findings []*compactordv1.Finding
}

// inline builds the log of a history.
func (s *Service) inline(
	ctx context.Context, h *compactordv1.InlineHistory, policy *compactordv1.Policy,
) (*inline, error) {
	logs := sessionlog.New(sessionlog.Options{
		Store: memory.New(), Strategies: s.strategies, Logger: s.logger, Now: s.hooks.Now,
	})
	given, err := s.policies.OfSession(ctx, policy)
	if err != nil {
		return nil, err
	}
	resolved, err := s.policies.ResolveGiven(ctx, given)
	if err != nil {
		return nil, err
	}
	w, err := logs.BeginSession(ctx, inlineSession, h.GetEstimator(), given, resolved)
	if err != nil {
		return nil, err
	}
	if err := logs.Create(ctx, w); err != nil {
		return nil, err
	}
	findings, err := s.intake.AppendHistory(ctx, logs, inlineSession, h)
	if err != nil {
		return nil, apierror.Within("history", err)
	}
	return &inline{
		logs: logs, compactor: compaction.New(s.compactor.Config, logs, nil), findings: findings,
	}, nil
}

// refuseWithHistory refuses fields that are set but make no sense with an inline history.
func refuseWithHistory(set map[string]bool) error {
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if set[field] {
			return apierror.InvalidField(field, "is allowed only with session_id: an inline history is not stored")
		}
	}
	return nil
}

// viewInline is GetLLMView of a history.
func (s *Service) viewInline(
	ctx context.Context, req *compactordv1.GetLLMViewRequest,
) (*compactordv1.GetLLMViewResponse, error) {
	err := refuseWithHistory(map[string]bool{"view_token": req.GetViewToken() != "", "as_of": req.AsOf != nil})
	if err != nil {
		return nil, err
	}
	ctx, permit, err := s.admission.Views.Enter(ctx, admission.WeightOf(proto.Size(req)), nil)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	inlined, err := s.inline(ctx, req.GetHistory(), req.GetPolicy())
	if err != nil {
		return nil, err
	}
	answer, err := s.viewOf(ctx, inlined, req)
	if err != nil {
		return nil, err
	}
	answer.Findings = inlined.findings
	return answer, nil
}

// viewOf returns the view of an inline history, as a request says. It is whole: there is no token to ask for a next page.
func (s *Service) viewOf(
	ctx context.Context, inlined *inline, req *compactordv1.GetLLMViewRequest,
) (*compactordv1.GetLLMViewResponse, error) {
	limit := req.GetMaxBytes()
	if limit == 0 {
		limit = maxInlineBytes
	}
	answer, err := s.view(ctx, inlined.logs, &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: inlineSession},
		Dialect: req.GetDialect(), Thinking: req.Thinking, MaxBytes: limit,
		MarkCacheBreakpoints: req.GetMarkCacheBreakpoints(), ExtraBlocks: req.GetExtraBlocks(), WithSources: req.GetWithSources(),
	})
	switch {
	case err != nil:
		return nil, err
	case answer.GetHasMore():
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_bytes", "value": strconv.FormatUint(uint64(limit), 10)},
			"the view is larger than max_bytes, %d: the view of an inline history has no next page", limit)
	}
	answer.ViewToken = ""
	return answer, nil
}

// pruneInline is Prune of a history.
func (s *Service) pruneInline(
	ctx context.Context, req *compactordv1.PruneRequest,
) (*compactordv1.PruneResponse, error) {
	if err := refuseWithHistory(map[string]bool{"request_id": req.GetRequestId() != ""}); err != nil {
		return nil, err
	}
	ctx, permit, err := s.admission.Views.Enter(ctx, admission.WeightOf(proto.Size(req)), nil)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	inlined, err := s.inline(ctx, req.GetHistory(), req.GetPolicy())
	if err != nil {
		return nil, err
	}
	answer, err := inlined.compactor.Prune(ctx, &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: inlineSession},
		Reason: req.GetReason(), DryRun: req.GetDryRun(),
	})
	if err != nil {
		return nil, err
	}
	answer.Findings = inlined.findings
	return answer, nil
}
