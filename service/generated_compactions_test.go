package service_test

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// compact runs a compaction, and calls meanwhile when it is about to commit.
func (w *checkedService) compact(meanwhile func()) {
	policy := w.compactPolicy()
	before := w.view()
	if w.draw(0, 3, "append meanwhile") == 0 {
		w.counts["append during compaction"]++
		w.duringCommit = func() {
			meanwhile()
			before = w.view()
		}
	}
	w.recorder.requests, w.fallback.requests = nil, nil
	stream := newMemoryStream(w.t.Context())
	err := w.service.Compact(w.compactRequest(policy), stream)
	w.duringCommit = nil
	if err != nil {
		// Only automatic compactions are blocked.
		require.Contains(w.t, []codes.Code{codes.FailedPrecondition}, status.Code(err))
		w.counts["compaction held up"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	end := stream.events[len(stream.events)-1]
	done := end.GetCompleted()
	if done == nil {
		require.NotNil(w.t, end.GetSkipped())
		w.counts["compaction skipped: "+end.GetSkipped().GetReason().String()]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	if done.GetCompaction() != nil {
		w.checkOnce(w.recorder, done.GetCompaction())
		w.checkOnce(w.fallback, done.GetCompaction())
		if policy.GetPreset() != "pi" && !strategies.BudgetsTextAlone(w.row().GetPolicy()) {
			w.checkBudget(stream.events, done.GetCompaction())
		}
	}
	w.completed(done, before)
}

// compactRequest draws a request with a reason and options.
func (w *checkedService) compactRequest(policy *compactordv1.Policy) *compactordv1.CompactRequest {
	if w.draw(0, 3, "ladder") == 0 {
		policy.Strategy = rungs(hideAllBut(uint32(w.draw(0, 2, "hide"))).GetPruneStrategy(), policy.GetStrategy()).GetStrategy()
		if policy.Preset != nil {
			policy.Strategy.GetLadder().Rungs = policy.GetStrategy().GetLadder().GetRungs()[:1]
		}
	}
	req := compactRequest(checkedSession, policy)
	switch w.draw(0, 5, "reason") {
	case 0:
		req.Reason = threshold
		policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(uint32(w.draw(1, 2000, "trigger")))}
	case 1, 2, 3, 4:
		req.Reason = tooLong
		if w.draw(0, 1, "next to nothing") == 0 {
			// Otherwise the last request is mostly kept.
			policy.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
				Summarize: &compactordv1.SummarizeStrategy{
					RecentMessages: proto.Uint32(1), MaxSummaryTokens: proto.Uint32(uint32(w.scale * 64)),
				},
			}}
		}
		policy.Overflow = &compactordv1.OverflowPolicy{Replay: proto.Bool(w.draw(0, 2, "replay") > 0)}
	default:
		return req
	}
	if policy.GetOverflow() == nil {
		policy.Overflow = &compactordv1.OverflowPolicy{}
	}
	policy.Overflow.AutoContinue = proto.Bool(w.draw(0, 4, "go on") > 0)
	return req
}

// completed compares what a compaction has done with its entry, and notes it. before is the view before it.
func (w *checkedService) completed(done *compactordv1.CompactionCompleted, before []*compactordv1.ViewMessage) {
	// I5, by the tokens of the view itself. The message that tells the agent to go on is not included.
	after := w.view()
	if done.ContinueIndex != nil {
		w.counts["told to go on"]++
		require.Equal(w.t, done.GetContinueIndex(), after[len(after)-1].GetIndex())
		require.Nil(w.t, done.GetCompaction().ReplayedIndex)
		after = after[:len(after)-1]
	}
	byBytes := w.row().GetPolicy().GetTrigger().GetMaxViewBytes() > 0 && bytesOf(after) < bytesOf(before)
	require.True(w.t, tokensOf(after) < tokensOf(before) || byBytes, "the view shrinks")
	prune, entry := done.GetPrune(), done.GetCompaction()
	tokens := tokensOf(before)
	if prune != nil {
		w.counts["edits by a compaction"]++
		require.Equal(w.t, tokens, prune.GetTokensBefore())
		require.Equal(w.t, entry != nil, prune.GetWithCut())
		tokens = prune.GetTokensAfter()
	}
	if entry == nil {
		require.Equal(w.t, tokensOf(after), tokens)
		return
	}
	w.counts["compaction"]++
	if prune != nil {
		w.counts["edits beside a cut"]++
	}
	if entry.SplitTurnStart != nil {
		w.counts["compaction that splits a turn"]++
	}
	if entry.GetFileTags() {
		w.counts["summary that ends in file tags"]++
	}
	w.remember(entry)
	require.Equal(w.t, tokens, entry.GetTokensBefore())
	require.Equal(w.t, tokensOf(after), entry.GetTokensAfter())
	if entry.ReplayedIndex != nil {
		w.checkReplay(entry, after)
	}
}

// checkBudget checks that the view shows no more as an entry's summary than the plan's budget. The smallest text, its
// frame, and the share of slots and files may be more than a small budget.
func (w *checkedService) checkBudget(events []*compactordv1.CompactionEvent, entry *compactordv1.CompactionEntry) {
	const smallestText, frame, factsShare = 128, 70, 4
	var budget uint32
	for _, e := range events {
		if started := e.GetStarted(); started != nil {
			budget = started.GetPlan().GetCut().GetMaxSummaryTokens()
		}
	}
	if entry.MaxFactsBytes != nil {
		w.counts["summary whose facts are bounded"]++
	}
	shown := ""
	for _, vm := range w.view() {
		if vm.GetSummaryOf() == entry.GetId() {
			shown += textOf(vm.GetMessage())
		}
	}
	count := slices.Concat(w.recorder.seen(), w.fallback.seen())[0].Count
	least := smallestText + frame + budget/factsShare
	if entry.GetFileTags() {
		least += budget / 2
	}
	require.LessOrEqual(w.t, count(shown), max(budget, least))
}

// checkReplay checks a replay against the whole log: it is the last of several requests, and neither kept nor pinned.
func (w *checkedService) checkReplay(entry *compactordv1.CompactionEntry, view []*compactordv1.ViewMessage) {
	w.counts["replay"]++
	log := w.log()
	model := sessiontest.NewModel(log, entry.GetSequence(), log.PolicyAt(entry.GetSequence()))
	var requests []uint32
	for _, a := range model.Messages {
		if session.StartsTurn(a.Message) && !a.LeftOut() {
			requests = append(requests, a.Index)
		}
	}
	require.Greater(w.t, len(requests), 1)
	require.Equal(w.t, requests[len(requests)-1], entry.GetReplayedIndex())
	require.Less(w.t, entry.GetReplayedIndex(), entry.GetFirstKeptIndex())
	require.False(w.t, model.Pinned(entry.GetReplayedIndex()))
	require.Nil(w.t, entry.GetSlots().GetLastUserRequest())
	shown := 0
	for _, vm := range view {
		if vm.GetOutOfPlace() && vm.GetIndex() == entry.GetReplayedIndex() {
			shown++
			require.Contains(w.t, vm.GetMessage().GetParts()[0].GetText().GetText(), replayNote)
		}
	}
	require.Equal(w.t, 1, shown)
}

// remember notes what the summarizer got for an entry, and checks that the summary before was not lost.
func (w *checkedService) remember(entry *compactordv1.CompactionEntry) {
	var indexes []uint32
	carried := entry.GetPreviousEntryId() == ""
	previous := w.entry(entry.GetPreviousEntryId()).GetSummary()
	if w.entry(entry.GetPreviousEntryId()).GetFileTags() {
		previous = summarizers.WithoutFileTags(previous)
	}
	// A model is not sent the quotes, which compete anew.
	unquoted := extractive.WithoutQuotes(previous, w.entry(entry.GetPreviousEntryId()).GetSections())
	for _, req := range slices.Concat(w.recorder.seen(), w.fallback.seen()) {
		if req.Refusal != "" {
			continue // Asked again: where extractive finds nothing, a model writes nothing either.
		}
		for _, l := range req.Messages {
			indexes = append(indexes, l.GetIndex())
		}
		carried = carried || req.PreviousSummary == previous || req.PreviousSummary == unquoted
	}
	if !carried {
		require.Contains(w.t, entry.GetSummary(), previous, "the previous summary is neither given on nor carried over")
		w.counts["previous summary carried over"]++
	}
	w.received[entry.GetId()] = indexes
}

// checkOnce checks that each covered message was in the request for exactly one text: that of the complete turns, or
// that of the split turn. Kept messages were in neither.
func (w *checkedService) checkOnce(s *scripted, entry *compactordv1.CompactionEntry) {
	once := make(map[uint32]bool)
	for _, req := range s.seen() {
		if req.Refusal != "" {
			continue
		}
		for _, l := range req.Messages {
			require.False(w.t, once[l.GetIndex()], "message %d is in two summaries", l.GetIndex())
			require.Less(w.t, l.GetIndex(), entry.GetFirstKeptIndex(), "it is kept")
			if req.Kind == summarizers.TurnPrefix {
				require.NotNil(w.t, entry.SplitTurnStart)
				require.GreaterOrEqual(w.t, l.GetIndex(), entry.GetSplitTurnStart())
			}
			once[l.GetIndex()] = true
		}
	}
}

func (w *checkedService) entry(id string) *compactordv1.CompactionEntry {
	if id == "" {
		return nil
	}
	answer, err := w.service.ListRecords(w.t.Context(), &compactordv1.ListRecordsRequest{
		SessionId: checkedSession, CompactionId: id,
	})
	require.NoError(w.t, err)
	require.Len(w.t, answer.GetRecords(), 1)
	return answer.GetRecords()[0].GetCompaction()
}

func (w *checkedService) compactPolicy() *compactordv1.Policy {
	s := &compactordv1.SummarizeStrategy{MaxSummaryTokens: proto.Uint32(uint32(w.scale * w.draw(64, 400, "max summary")))}
	switch w.draw(0, 5, "keep") {
	case 0:
		s.RecentTurns = proto.Uint32(uint32(w.draw(1, 3, "turns")))
	case 1:
		s.RecentMessages = proto.Uint32(uint32(w.draw(1, 6, "messages")))
	case 2:
		s.RecentToolGroups = proto.Uint32(uint32(w.draw(1, 3, "groups")))
	case 3:
		return &compactordv1.Policy{Preset: proto.String("pi")}
	default:
		s.RecentTokens = proto.Uint32(uint32(w.scale * w.draw(0, 400, "tokens")))
	}
	s.Budget = compactordv1.BudgetRule(w.draw(1, 2, "budget")).Enum()
	s.SplitTurn = compactordv1.SplitTurn(w.draw(1, 3, "split")).Enum()
	return &compactordv1.Policy{Strategy: &compactordv1.Strategy{
		Kind: &compactordv1.Strategy_Summarize{Summarize: s},
	}}
}

func (w *checkedService) prune() {
	before := w.view()
	p := &compactordv1.PruneToolOutputsStrategy{
		KeepTokens:     proto.Uint32(uint32(w.draw(0, 60, "protect tokens"))),
		MinimumTokens:  proto.Uint32(uint32(w.draw(0, 20, "minimum"))),
		ClearArguments: proto.Bool(w.draw(0, 1, "arguments") == 1),
		Placeholder:    proto.String("[hidden]"),
	}
	if w.draw(0, 1, "by groups") == 1 {
		p.KeepGroups = proto.Uint32(uint32(w.draw(0, 2, "groups")))
	} else {
		p.KeepTurns = proto.Uint32(uint32(w.draw(0, 2, "turns")))
	}
	reason := manual
	if w.draw(0, 3, "after an overflow") == 0 {
		reason = tooLong
	}
	answer, err := w.service.Prune(w.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: checkedSession}, Reason: reason,
		Policy: &compactordv1.Policy{PruneStrategy: &compactordv1.Strategy{
			Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: p},
		}},
	})
	require.NoError(w.t, err)
	if answer.GetPrune() == nil {
		w.counts["prune skipped"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	w.counts["prune"]++
	require.Less(w.t, tokensOf(w.view()), tokensOf(before), "the view shrinks")
}

// memoryStream receives the events of a Compact that is called without a network.
type memoryStream struct {
	grpc.ServerStreamingServer[compactordv1.CompactResponse]
	context func() context.Context
	events  []*compactordv1.CompactionEvent
}

func newMemoryStream(ctx context.Context) *memoryStream {
	return &memoryStream{context: func() context.Context { return ctx }}
}

func (s *memoryStream) Context() context.Context { return s.context() }

func (s *memoryStream) Send(answer *compactordv1.CompactResponse) error {
	s.events = append(s.events, answer.GetEvent())
	return nil
}
