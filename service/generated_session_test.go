package service_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// world is a service whose every answer is compared with the naive model of the whole log.
type world struct {
	t        worldT
	store    storage.Store
	service  *service.Service
	recorder *scripted
	// fallback is extractive, which records what it is given where it stands in for another.
	fallback  *scripted
	generator *sessiontest.Generator
	counts    map[string]int
	draw      func(low, high int, label string) int

	// scale makes what strategies keep fit longer conversations.
	scale int
	// received are the indexes that the summarizer was given for each entry.
	received map[string][]uint32
	// duringCommit is run once, when the next compaction is about to commit.
	duringCommit func()
	// shown is the last view, and changes how many view-changing records the log held then.
	shown   []*compactordv1.ViewMessage
	changes int
	// late are the results that came late, by sequence: each changes views as a record does.
	late map[uint32]bool
	// followers are clients that follow the view in a dialect.
	followers map[compactordv1.Dialect]*follower
}

const worldSession = "s"

// worldT is what a world needs of a test, be it of testing or of rapid.
type worldT interface {
	require.TestingT
	Context() context.Context
}

// newWorld makes a world with an empty session. draw draws a number between two, both included.
func newWorld(t worldT, counts map[string]int, draw func(low, high int, label string) int) *world {
	w := &world{
		t: t, draw: draw, scale: 1, store: memory.New(), counts: counts, received: make(map[string][]uint32),
		followers: make(map[compactordv1.Dialect]*follower), late: make(map[uint32]bool),
		recorder: &scripted{name: "recorder", do: faithful},
		fallback: &scripted{name: "extractive", do: faithful},
	}
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(w.fallback, w.recorder)
	require.NoError(t, err)
	w.service, err = service.New(service.Options{
		Store: w.store, Strategies: registry, Summarizers: writers, Dialects: dialects.All(),
		Logger: slog.New(slog.DiscardHandler),
		Hooks: service.Hooks{BeforeCommit: func(context.Context) {
			if during := w.duringCommit; during != nil {
				w.duringCommit = nil
				during()
			}
		}},
	})
	require.NoError(t, err)
	_, err = w.service.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: worldSession,
		Policy: &compactordv1.Policy{
			Summary:       &compactordv1.SummaryPolicy{Summarizer: proto.String("recorder")},
			ContextWindow: proto.Uint32(8000),
		},
	})
	require.NoError(t, err)
	return w
}

// between draws evenly; rapid's own ranges prefer small numbers, so that most worlds would stay empty.
func between(t *rapid.T, low, high int, label string) int {
	return low + int(rapid.Uint64().Draw(t, label)%uint64(high-low+1))
}

func (w *world) row() *compactordv1.Session {
	answer, err := w.service.GetSession(w.t.Context(), &compactordv1.GetSessionRequest{SessionId: worldSession})
	require.NoError(w.t, err)
	return answer.GetSession()
}

// log reads the whole log through the API.
func (w *world) log() *sessiontest.Log {
	messages, err := w.service.ListMessages(w.t.Context(), &compactordv1.ListMessagesRequest{
		SessionId: worldSession, PageSize: 1000, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	require.Empty(w.t, messages.GetNextPageToken())
	records, err := w.service.ListRecords(w.t.Context(), &compactordv1.ListRecordsRequest{
		SessionId: worldSession, PageSize: 1000, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	require.Empty(w.t, records.GetNextPageToken())
	log := &sessiontest.Log{Items: make([]sessiontest.Item, len(messages.GetMessages())+len(records.GetRecords()))}
	for _, l := range messages.GetMessages() {
		item := sessiontest.Item{Message: l.GetMessage(), Arrival: l.GetArrivalEdits()}
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			item.MadeFrom = proto.Uint32(l.GetViewPoint())
		}
		log.Items[l.GetSequence()] = item
	}
	for _, r := range records.GetRecords() {
		log.Items[r.GetSequence()] = sessiontest.Item{Record: r}
	}
	return log
}

// message has the generator draw a message and appends it to the service's log.
func (w *world) message(t *rapid.T) {
	if w.generator == nil {
		w.generator = sessiontest.NewGenerator(t, make(sessiontest.Counts))
	}
	w.generator.W = sessiontest.Reopen(w.log())
	w.generator.Message(t)
	items := w.generator.W.Log.Items
	drawn := items[len(items)-1]
	m := proto.CloneOf(drawn.Message)
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_FUTURE || m.GetOrigin() == compactordv1.Origin_ORIGIN_MARKER {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	enlarge(m, w.draw(0, 60, "enlarge"))
	req := &compactordv1.AppendMessagesRequest{SessionId: worldSession, Messages: []*compactordv1.Message{m}}
	if drawn.MadeFrom != nil {
		req.ViewToken = session.ViewToken{UID: w.row().GetUid(), Point: *drawn.MadeFrom}.String()
	}
	w.counts["message"]++
	row := w.row()
	answer, err := w.service.AppendMessages(w.t.Context(), req)
	if err != nil {
		require.ErrorContains(w.t, err, "reverted")
		w.counts["stale view refused"]++
		return
	}
	log := w.log()
	require.Equal(w.t, log.Newest(), answer.GetPoint())
	w.checkAppended(row.GetResolvedPolicy(), row.GetPoint(), log)
}

// enlarge makes texts longer than what stands in for them: what is short already cannot be compacted.
func enlarge(m *compactordv1.Message, words int) {
	more := strings.Repeat(" and more words", words)
	for _, p := range m.GetParts() {
		if text := p.GetText(); text != nil {
			text.Text += more
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if text := rp.GetText(); text != nil {
				text.Text += more
			}
		}
	}
}

// compact runs a compaction; meanwhile is done while it is about to commit.
func (w *world) compact(meanwhile func()) {
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
	stream := &memoryStream{ctx: w.t.Context()}
	err := w.service.Compact(w.compactRequest(policy), stream)
	w.duringCommit = nil
	if err != nil {
		// Only what nobody asked for is held up.
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
	}
	w.completed(done, before)
}

// compactRequest draws why it is asked for, and what an automatic compaction does beside.
func (w *world) compactRequest(policy *compactordv1.Policy) *compactordv1.CompactRequest {
	if w.draw(0, 3, "ladder") == 0 {
		policy.Strategy = rungs(hideAllBut(uint32(w.draw(0, 2, "hide"))).GetPruneStrategy(), policy.GetStrategy()).GetStrategy()
		if policy.Preset != nil {
			policy.Strategy.GetLadder().Rungs = policy.GetStrategy().GetLadder().GetRungs()[:1]
		}
	}
	req := compactRequest(worldSession, policy)
	switch w.draw(0, 5, "reason") {
	case 0:
		req.Reason = threshold
		policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(uint32(w.draw(1, 2000, "trigger")))}
	case 1, 2, 3, 4:
		req.Reason = tooLong
		if w.draw(0, 1, "next to nothing") == 0 {
			// Else the last request is mostly kept.
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

// completed holds what a compaction has done to what it says, and notes it. before is the view before it.
func (w *world) completed(done *compactordv1.CompactionCompleted, before []*compactordv1.ViewMessage) {
	// I5, by what the view really holds: what tells the agent to go on comes on top.
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

// checkReplay holds a replay to the whole log: the last request, of several, that is neither kept nor pinned.
func (w *world) checkReplay(entry *compactordv1.CompactionEntry, view []*compactordv1.ViewMessage) {
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

// remember notes what the summarizer was given for an entry, and that what the entry before said was not dropped.
func (w *world) remember(entry *compactordv1.CompactionEntry) {
	var indexes []uint32
	carried := entry.GetPreviousEntryId() == ""
	previous := w.entry(entry.GetPreviousEntryId()).GetSummary()
	if w.entry(entry.GetPreviousEntryId()).GetFileTags() {
		previous = summarizers.WithoutFileTags(previous)
	}
	for _, req := range slices.Concat(w.recorder.seen(), w.fallback.seen()) {
		if req.Fault != "" {
			continue // The same once more: what extractive finds nothing in is no model's to say.
		}
		for _, l := range req.Messages {
			indexes = append(indexes, l.GetIndex())
		}
		carried = carried || req.PreviousSummary == previous
	}
	if !carried {
		require.Contains(w.t, entry.GetSummary(), previous, "the previous summary is neither given on nor carried over")
		w.counts["previous summary carried over"]++
	}
	w.received[entry.GetId()] = indexes
}

// checkOnce holds each message to the one text that it is for: that of the complete turns, or that of the turn which the
// cut splits. What is kept is for neither.
func (w *world) checkOnce(s *scripted, entry *compactordv1.CompactionEntry) {
	once := make(map[uint32]bool)
	for _, req := range s.seen() {
		if req.Fault != "" {
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

func (w *world) entry(id string) *compactordv1.CompactionEntry {
	if id == "" {
		return nil
	}
	answer, err := w.service.GetCompaction(w.t.Context(), &compactordv1.GetCompactionRequest{
		SessionId: worldSession, CompactionId: id,
	})
	require.NoError(w.t, err)
	return answer.GetCompaction()
}

func (w *world) compactPolicy() *compactordv1.Policy {
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

func (w *world) prune() {
	before := w.view()
	p := &compactordv1.PruneToolOutputsStrategy{
		ProtectTokens:  proto.Uint32(uint32(w.draw(0, 60, "protect tokens"))),
		MinimumTokens:  proto.Uint32(uint32(w.draw(0, 20, "minimum"))),
		ClearArguments: proto.Bool(w.draw(0, 1, "arguments") == 1),
		Placeholder:    proto.String("[hidden]"),
	}
	if w.draw(0, 1, "by groups") == 1 {
		p.ProtectGroups = proto.Uint32(uint32(w.draw(0, 2, "groups")))
	} else {
		p.ProtectTurns = proto.Uint32(uint32(w.draw(0, 2, "turns")))
	}
	reason := manual
	if w.draw(0, 3, "after an overflow") == 0 {
		reason = tooLong
	}
	answer, err := w.service.Prune(w.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: worldSession}, Reason: reason,
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

func (w *world) revert() {
	point := uint32(w.draw(0, int(w.row().GetPoint()), "point"))
	want := w.viewAt(point)
	items := w.log().Items
	_, err := w.service.RevertToCheckpoint(w.t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: worldSession, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	require.NoError(w.t, err)
	requireSameBytes(w.t, want, w.view())
	w.counts["revert"]++
	if slices.ContainsFunc(items[point+1:], func(i sessiontest.Item) bool { return i.Record.GetRevert() != nil }) {
		w.counts["revert of a revert"]++
	}
}

func (w *world) policy() {
	policy := w.row().GetPolicy()
	policy.Thinking = compactordv1.ThinkingPolicy(w.draw(1, 3, "thinking")).Enum()
	policy.Summary.Placement = compactordv1.SummaryPlacement(w.draw(1, 3, "placement")).Enum()
	w.drawArrival(policy)
	_, err := w.service.UpdateSession(w.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: worldSession, UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(w.t, err)
	w.counts["policy"]++
}

func (w *world) view() []*compactordv1.ViewMessage {
	return w.viewOf(&compactordv1.GetLLMViewRequest{})
}

func (w *world) viewAt(point uint32) []*compactordv1.ViewMessage {
	return w.viewOf(&compactordv1.GetLLMViewRequest{AsOf: &point})
}

func (w *world) viewOf(req *compactordv1.GetLLMViewRequest) []*compactordv1.ViewMessage {
	req.Target = &compactordv1.GetLLMViewRequest_SessionId{SessionId: worldSession}
	req.MaxBytes = 64 << 20
	answer, err := w.service.GetLLMView(w.t.Context(), req)
	require.NoError(w.t, err)
	require.False(w.t, answer.GetHasMore())
	require.Equal(w.t, tokensOf(answer.GetMessages()), answer.GetViewReport().GetTokens())
	return answer.GetMessages()
}

// check compares the service with the naive model.
func (w *world) check() {
	log := w.log()
	view := w.view()
	model := sessiontest.NewModel(log, log.Newest(), log.PolicyAt(log.Newest()))
	requireSameBytes(w.t, model.View(session.ViewOptions{}).Messages, view)
	w.checkCoverage(model, view)

	for _, a := range model.Messages {
		if a.Late {
			w.late[a.Sequence] = true
		}
	}
	changes := changesOf(log) + len(w.late)
	if changes == w.changes {
		// I8: nothing has changed views since the last one.
		require.GreaterOrEqual(w.t, len(view), len(w.shown))
		requireSameBytes(w.t, w.shown, view[:len(w.shown)])
	}
	w.shown, w.changes = view, changes
	w.checkRendered(model, view, changes)
}

// changesOf counts the view-changing records of a log.
func changesOf(log *sessiontest.Log) int {
	changes := 0
	for _, item := range log.Items {
		if item.ChangesViews() {
			changes++
		}
	}
	return changes
}

// checkCoverage is I1: each active message is shown, was given to a summarizer for the summary in the view, was collapsed
// with its group, is left out by mending, or was thinking alone that an edit dropped.
func (w *world) checkCoverage(model *sessiontest.Model, view []*compactordv1.ViewMessage) {
	accounted := make(map[uint32]bool)
	for _, vm := range view {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			accounted[o.Index] = true
		case *compactordv1.ViewMessage_Mend:
			accounted[o.Mend.GetIndex()] = true
		}
	}
	if model.Entry != nil {
		for entry := w.entry(model.Entry.GetId()); entry != nil; entry = w.entry(entry.GetPreviousEntryId()) {
			for _, index := range w.received[entry.GetId()] {
				accounted[index] = true
			}
		}
	}
	for _, a := range model.Messages {
		require.True(w.t, accounted[a.Index] || a.LeftOut() || model.Collapsed(a) || thoughtOnly(model, a), "message %d is lost", a.Index)
	}
}

// thoughtOnly says whether nothing but thinking is in a message, and edits dropped it.
func thoughtOnly(model *sessiontest.Model, a *sessiontest.Active) bool {
	for _, p := range a.Message.GetParts() {
		if p.GetThinking() == nil {
			return false
		}
	}
	return model.Emptied(a)
}

func tokensOf(view []*compactordv1.ViewMessage) uint32 {
	var tokens uint32
	for _, vm := range view {
		tokens += vm.GetTokens()
	}
	return tokens
}

func bytesOf(view []*compactordv1.ViewMessage) int {
	bytes := 0
	for _, vm := range view {
		bytes += proto.Size(vm.GetMessage())
	}
	return bytes
}

func requireSameBytes(t require.TestingT, want, got []*compactordv1.ViewMessage) {
	require.Len(t, got, len(want))
	for i := range want {
		if !slices.Equal(sessiontest.Bytes(want[i]), sessiontest.Bytes(got[i])) {
			require.Fail(t, fmt.Sprintf("message %d of the view differs", i), "want %v\ngot  %v", want[i], got[i])
		}
	}
}

// memoryStream takes the events of a Compact that is called without a network.
type memoryStream struct {
	grpc.ServerStreamingServer[compactordv1.CompactResponse]
	ctx    context.Context //nolint:containedctx // gRPC streams carry theirs
	events []*compactordv1.CompactionEvent
}

func (s *memoryStream) Context() context.Context { return s.ctx }

func (s *memoryStream) Send(answer *compactordv1.CompactResponse) error {
	s.events = append(s.events, answer.GetEvent())
	return nil
}

// I1 to I8 and I13 over whatever agents may do, with the strategies of this release.
func TestInvariantsOverGeneratedLogs(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.policy()
		for range between(t, 10, 80, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 70:
				w.message(t)
			case n < 82:
				w.compact(func() { w.message(t) })
			case n < 90:
				w.prune()
			case n < 96:
				w.revert()
			default:
				w.policy()
			}
			w.check()
		}
		problems, err := sessionlog.Check(t.Context(), w.store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, class := range []string{
		"compaction", "compaction that splits a turn", "prune", "revert", "revert of a revert", "policy",
		"append during compaction", "rendering refused while calls are open", "rendered in openai_chat",
		"rendered in openai_responses", "rendered in anthropic", "rendered in gemini", "repaired",
		"rendered view is a prefix of the next", "edited on arrival", "shortened on a user's message",
		"replay", "told to go on", "edits by a compaction", "edits beside a cut", "folded",
	} {
		require.GreaterOrEqual(t, counts[class], 5, "too rare to mean anything: %s", class)
	}
}

// fullRun says whether rapid makes as many checks as it does by default: a short run, or a replay of one failure, proves
// nothing about what is common.
func fullRun() bool {
	checks := flag.Lookup("rapid.checks")
	replay := flag.Lookup("rapid.failfile")
	return !testing.Short() && (checks == nil || checks.Value.String() == checks.DefValue) && (replay == nil || replay.Value.String() == "")
}

func describe(counts map[string]int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %d\n", name, counts[name])
	}
	return b.String()
}
