package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/compaction"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
)

// maxInlineBytes is the most that a view of a history holds where the request sets no limit: the most that one can set.
const maxInlineBytes = 64 << 20

// inlineSession is the id of the one session that a history sent along becomes.
const inlineSession = "inline"

// inline is a history that was sent along, as the log of a session in memory. So it is treated exactly as a session is, and
// nothing of it is stored.
type inline struct {
	logs      *sessionlog.Logs
	compactor *compaction.Compactor
	// findings are what was malformed in it.
	findings []*compactordv1.InputFinding
}

// inline makes the log of a history.
func (s *Service) inline(
	ctx context.Context, h *compactordv1.InlineHistory, policy *compactordv1.Policy,
) (*inline, error) {
	logs := sessionlog.New(sessionlog.Options{Store: memory.New(), Logger: s.logger, Now: s.hooks.Now})
	resolved, err := s.policies.Resolve(policy)
	if err != nil {
		return nil, err
	}
	w, err := logs.BeginSession(ctx, inlineSession, h.GetEstimator(), policy, resolved)
	if err != nil {
		return nil, err
	}
	if err := logs.Create(ctx, w); err != nil {
		return nil, err
	}
	in, err := s.appendHistory(ctx, logs, h)
	if err != nil {
		return nil, apierror.Within("history", err)
	}
	return &inline{
		logs: logs, compactor: compaction.New(s.compactor.Config, logs, nil), findings: in.report(),
	}, nil
}

// appendHistory appends the messages of a history, and puts its entries in force again.
func (s *Service) appendHistory(
	ctx context.Context, logs *sessionlog.Logs, h *compactordv1.InlineHistory,
) (*input, error) {
	in, err := s.historyInput(h)
	if err != nil {
		return nil, err
	}
	entries, err := restored(h, len(in.messages))
	if err != nil {
		return nil, err
	}
	if block := h.GetCompaction().GetProviderBlock(); block != nil {
		if err := s.compactor.CheckProviderBlock(block, "compaction.provider_block"); err != nil {
			return nil, err
		}
	}
	err = logs.Update(ctx, inlineSession, func(row *storagev1.Session) (*sessionlog.Write, error) {
		w, left := logs.Begin(row), entries
		in = in.fresh()
		err := in.appendTo(ctx, w, nil, func(i int) error {
			for ; len(left) > 0 && left[0].after == i; left = left[1:] {
				if err := left[0].write(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
		return w, errors.Join(err, in.verdict())
	})
	return in, err
}

func (s *Service) historyInput(h *compactordv1.InlineHistory) (*input, error) {
	if h.GetProviderJson() != nil {
		return s.providerInput(h.GetProviderJson(), h.GetStrict())
	}
	return neutralInput(h.GetMessages(), h.GetStrict())
}

// entry is a record that an earlier answer gave, and that is put in force again.
type entry struct {
	field  string
	after  int
	plan   *compactordv1.CompactionPlan
	record *compactordv1.Record
}

// restored are the entries of a history, in the order in which they were made.
func restored(h *compactordv1.InlineHistory, messages int) ([]entry, error) {
	var entries []entry
	for i, prune := range h.GetPrunes() {
		entries = append(entries, entry{
			field: fmt.Sprintf("prunes[%d]", i), after: int(prune.GetViewChange().GetNextIndex()),
			plan:   &compactordv1.CompactionPlan{Edits: prune.GetEdits()},
			record: &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: prune}},
		})
	}
	if c := h.GetCompaction(); c != nil {
		if c.GetSummary() == "" {
			return nil, apierror.InvalidField("compaction.summary", "is empty")
		}
		entries = append(entries, entry{
			field: "compaction", after: int(c.GetViewChange().GetNextIndex()),
			plan: &compactordv1.CompactionPlan{Cut: &compactordv1.Cut{
				FirstKeptIndex: c.GetFirstKeptIndex(), MaxSummaryTokens: 1,
			}},
			record: &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: c}},
		})
	}
	for _, e := range entries {
		if e.after > messages {
			return nil, apierror.InvalidField(e.field+".view_change.next_index",
				fmt.Sprintf("was made when there were %d messages, and the history has %d", e.after, messages))
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.after - b.after })
	return entries, nil
}

// write adds the entry to what is to be written, if it fits the messages.
func (e entry) write(ctx context.Context, p *sessionlog.Write) error {
	state, err := p.State(ctx)
	if err != nil {
		return err
	}
	if cut := e.plan.GetCut(); cut != nil {
		// Earlier compactions are not sent along: this one covers what they covered.
		cut.Summarized = &compactordv1.IndexRange{Start: session.KeptFrom(state.Head), End: cut.GetFirstKeptIndex()}
	}
	e = e.underOnAppend(state)
	if len(e.plan.GetEdits()) == 0 && e.plan.GetCut() == nil {
		return nil
	}
	in := &strategies.Input{State: state, Policy: state.Policy}
	if err := strategies.Check(in, e.plan); err != nil {
		return apierror.InvalidField(e.field, "does not fit the messages: "+err.Error())
	}
	if err := checkReplayed(state, e.record.GetCompaction()); err != nil {
		return err
	}
	written, err := sessionlog.Try(state, e.record)
	if err != nil {
		return err
	}
	p.Take(written)
	return nil
}

// underOnAppend leaves out the edits that policy.on_append makes needless. It may not have held when they were made, and
// who sends them cannot know.
func (e entry) underOnAppend(s *session.State) entry {
	prune := e.record.GetPrune()
	if prune == nil || len(s.Policy.GetOnAppend().GetStrategies()) == 0 {
		return e
	}
	prune = proto.CloneOf(prune)
	prune.Edits = strategies.Gaining(s, prune.GetEdits())
	e.plan = &compactordv1.CompactionPlan{Edits: prune.GetEdits()}
	e.record = &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: prune}}
	return e
}

// checkReplayed refuses an entry that replays what no compaction would: anything but a request that it covers.
func checkReplayed(s *session.State, e *compactordv1.CompactionEntry) error {
	if e == nil || e.ReplayedIndex == nil {
		return nil
	}
	at := s.Position(e.GetReplayedIndex())
	if at < s.Position(e.GetFirstKeptIndex()) && s.Kept[at].GetIndex() == e.GetReplayedIndex() && session.IsRequest(s.Kept[at]) {
		return nil
	}
	return apierror.InvalidField("compaction.replayed_index",
		fmt.Sprintf("message %d is no request of the user that the compaction covers", e.GetReplayedIndex()))
}

// refuseWithHistory refuses the fields that are set and make no sense with a history sent along.
func refuseWithHistory(set map[string]bool) error {
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if set[field] {
			return apierror.InvalidField(field, "goes with a session_id: nothing is kept of a history that is sent along")
		}
	}
	return nil
}

// viewInline answers GetLLMView of a history. There is no next page, since there is no token to ask for it.
func (s *Service) viewInline(
	ctx context.Context, req *compactordv1.GetLLMViewRequest,
) (*compactordv1.GetLLMViewResponse, error) {
	err := refuseWithHistory(map[string]bool{"view_token": req.GetViewToken() != "", "as_of": req.AsOf != nil})
	if err != nil {
		return nil, err
	}
	alone, err := s.inline(ctx, req.GetHistory(), req.GetPolicy())
	if err != nil {
		return nil, err
	}
	limit := req.GetMaxBytes()
	if limit == 0 {
		limit = maxInlineBytes
	}
	answer, err := s.view(ctx, alone.logs, &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: inlineSession},
		Dialect: req.GetDialect(), Thinking: req.Thinking, MaxBytes: limit,
		MarkCacheBreakpoints: req.GetMarkCacheBreakpoints(),
	})
	switch {
	case err != nil:
		return nil, err
	case answer.GetHasMore():
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_bytes", "value": strconv.FormatUint(uint64(limit), 10)},
			"the view is larger than max_bytes, %d: a history sent along has no next page", limit)
	}
	answer.ViewToken, answer.Findings = "", alone.findings
	return answer, nil
}

// pruneInline answers Prune of a history.
func (s *Service) pruneInline(
	ctx context.Context, req *compactordv1.PruneRequest,
) (*compactordv1.PruneResponse, error) {
	if err := refuseWithHistory(map[string]bool{"request_id": req.GetRequestId() != ""}); err != nil {
		return nil, err
	}
	alone, err := s.inline(ctx, req.GetHistory(), req.GetPolicy())
	if err != nil {
		return nil, err
	}
	answer, err := alone.compactor.Prune(ctx, &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: inlineSession},
		Reason: req.GetReason(), DryRun: req.GetDryRun(),
	})
	if err != nil {
		return nil, err
	}
	answer.Findings = alone.findings
	return answer, nil
}

// compactInline answers Compact of a history.
func (s *Service) compactInline(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
) error {
	err := refuseWithHistory(map[string]bool{
		"request_id": req.GetRequestId() != "", "detach": req.GetDetach(), "preempt": req.GetPreempt(),
	})
	if err != nil {
		return err
	}
	alone, err := s.inline(stream.Context(), req.GetHistory(), req.GetPolicy())
	if err != nil {
		return err
	}
	return s.compact(alone.compactor, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: inlineSession},
		Reason: req.GetReason(), Focus: req.GetFocus(), DryRun: req.GetDryRun(), Replay: req.Replay,
		WillRetry: req.GetWillRetry(),
		// The messages are the caller's: what is appended to them here would be lost.
		Policy: &compactordv1.Policy{Overflow: &compactordv1.OverflowPolicy{AutoContinue: proto.Bool(false)}},
	}, stream, alone.findings)
}
