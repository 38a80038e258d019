package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session/wording"
)

const (
	tooLong    = compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	replayNote = "The request below made the conversation too long for the provider."
)

// named returns a picture with a name.
func named(name string) *compactordv1.Part {
	p := picture(1000)
	p.GetMedia().Name = name
	return p
}

// asking returns a request with parts beside its text.
func asking(text string, parts ...*compactordv1.Part) *compactordv1.Message {
	m := user(text)
	m.Parts = append(m.Parts, parts...)
	return m
}

// refused returns the message that an agent logs for a request that the provider refused.
func refused() *compactordv1.Message {
	m := assistant("")
	m.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
	m.ErrorText = "prompt is too long: 210000 tokens > 200000 maximum"
	return m
}

// overflown returns a conversation that ends with the provider's refusal. More follows its last request than is kept.
func overflown(request *compactordv1.Message) []*compactordv1.Message {
	return []*compactordv1.Message{
		user("Begin. " + long(400)), assistant(long(400)), request, assistant(long(400)), assistant("I go on."), refused(),
	}
}

// keepMessages returns a policy that summarizes all but the newest n messages.
func keepMessages(n uint32) *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(20_000),
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(n)},
		}},
	}
}

// overflowing returns the request for a compaction after an overflow.
func overflowing(replay *bool, policy *compactordv1.Policy) *compactordv1.CompactRequest {
	req := compactRequest("s", policy)
	req.Reason, req.Replay = tooLong, replay
	return req
}

// afterOverflow compacts after an overflow and returns the completed event.
func (d *daemon) afterOverflow(replay *bool, policy *compactordv1.Policy) *compactordv1.CompactionCompleted {
	d.t.Helper()
	events, err := d.compact(overflowing(replay, policy))
	require.NoError(d.t, err)
	requireGrammar(d.t, events)
	require.NotNil(d.t, last(d.t, events).GetCompleted(), "%v", last(d.t, events))
	return last(d.t, events).GetCompleted()
}

// texts returns the texts of a message in a view.
func texts(vm *compactordv1.ViewMessage) []string {
	var all []string
	for _, p := range vm.GetMessage().GetParts() {
		all = append(all, p.GetText().GetText())
	}
	return all
}

// requireChecked asserts that sessionlog.Check finds no problems.
func (d *daemon) requireChecked() {
	d.t.Helper()
	problems, err := sessionlog.Check(d.t.Context(), d.store, "")
	require.NoError(d.t, err)
	require.Empty(d.t, problems)
}

// opencode's overflow replay, as its documentation describes it: a request with large pictures, the provider's refusal,
// a compaction, and the same turn again.
func TestOverflowReplaysTheRequest(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	d.append("s", system("Be careful."), user("Look at the harbour. "+long(500)), assistant("It is full. "+long(500)),
		asking("And what is on these?", named("pier.png"), named(""), named("quay.png")),
		assistant("One after the other. "+long(300)), assistant("The pier first."))
	require.Equal(t, uint32(3*1200), d.report("s").GetMediaTokens())

	classified := d.classify(&compactordv1.ClassifyErrorRequest{
		ErrorText: refused().GetErrorText(), HttpStatus: 400, SessionId: "s",
	})
	require.True(t, classified.GetOverflow())
	d.append("s", refused())

	done := d.afterOverflow(proto.Bool(true), nil)
	entry := done.GetCompaction()
	require.Equal(t, uint32(5), entry.GetFirstKeptIndex())
	require.Equal(t, uint32(3), entry.GetReplayedIndex())
	require.Nil(t, entry.GetSlots().GetLastUserRequest(), "the view shows it")
	require.Nil(t, done.GetPrune(), "what the cut covers needs no edit")
	require.Nil(t, done.ContinueIndex)

	view := d.view("s")
	require.Len(t, view, 4)
	require.Equal(t, entry.GetId(), view[1].GetSummaryOf())
	require.Equal(t, uint32(3), view[2].GetIndex())
	require.True(t, view[2].GetOutOfPlace())
	require.Contains(t, texts(view[2])[0], replayNote)
	require.Equal(t, []string{
		"And what is on these?", "[Attached image/png: pier.png]", "[Attached image/png: file]", "[Attached image/png: quay.png]",
	}, texts(view[2])[1:])
	require.Zero(t, d.report("s").GetMediaTokens())

	// The replay appends nothing, and the pictures are not lost.
	require.Len(t, d.messages("s"), 7)
	require.True(t, proto.Equal(named("pier.png"), d.messages("s")[3].GetMessage().GetParts()[1]))

	// The same turn again. The next compaction ends the replay, and its request becomes a slot.
	d.append("s", assistant("A pier. "+long(300)), assistant("A quay."))
	next := d.completed(keepMessages(1))
	require.Nil(t, next.ReplayedIndex)
	require.Equal(t, uint32(3), next.GetSlots().GetLastUserRequest().GetIndex())
	require.Len(t, d.view("s"), 3)
	d.requireChecked()
}

// Seed case 159: there is a replay only where the summary still stands for an earlier request.
func TestCase159ReplayNeedsAnEarlierRequest(t *testing.T) {
	t.Parallel()
	steps := []*compactordv1.Message{assistant("I look. " + long(800)), assistant("I see."), refused()}
	for name, of := range map[string]struct {
		requests []*compactordv1.Message
		replayed *uint32
	}{
		"u1 and u2":  {[]*compactordv1.Message{user("u1"), user("u2")}, proto.Uint32(1)},
		"u1 alone":   {[]*compactordv1.Message{user("u1")}, nil},
		"no request": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", keepMessages(1))
			d.append("s", append(of.requests, steps...)...)
			entry := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
			require.Equal(t, of.replayed, entry.ReplayedIndex)
			require.Equal(t, uint32(len(of.requests)+1), entry.GetFirstKeptIndex(), "all before is summarized")
		})
	}
}

// The earlier request may have been covered long ago, and so may the replayed one.
func TestReplayOfARequestThatWasCoveredBefore(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(2))
	d.append("s", user(long(400)), assistant(long(400)), user("The one that matters."), assistant(long(400)), assistant(long(400)))
	require.Equal(t, uint32(3), d.completed(nil).GetFirstKeptIndex())
	d.append("s", assistant(long(400)), assistant(long(400)))
	first := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Equal(t, uint32(2), first.GetReplayedIndex())
	require.Contains(t, texts(d.view("s")[1]), "The one that matters.")

	// Again, where no slot has the request.
	d.append("s", assistant(long(400)), assistant(long(400)))
	second := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Equal(t, uint32(2), second.GetReplayedIndex())
	require.Nil(t, second.GetSlots().GetLastUserRequest())

	// Without a replay the slot has it again, even if it has been pinned since.
	d.append("s", assistant(long(400)), assistant(long(400)))
	d.pin("s", 2)
	third := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Nil(t, third.ReplayedIndex, "a pinned message is shown anyway")
	require.Equal(t, uint32(2), third.GetSlots().GetLastUserRequest().GetIndex())
	d.requireChecked()
}

// A replayed message that was covered long ago is read from the log. The edits of the same compaction are not stored
// yet, but apply anyway: the entry's figures are those of the view.
func TestReplayOfWhatWasCoveredKeepsTheEditsBesideIt(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(2))
	d.append("s", user(long(400)), assistant(long(400)), user("The one that matters."), assistant(long(400)), assistant(long(400)))
	require.Equal(t, uint32(3), d.completed(nil).GetFirstKeptIndex())
	pictured := assistant("A pier.")
	pictured.Parts = append(pictured.Parts, named("pier.png"))
	d.append("s", pictured)

	done := d.afterOverflow(proto.Bool(true), nil)
	entry := done.GetCompaction()
	require.Equal(t, uint32(2), entry.GetReplayedIndex())
	require.True(t, done.GetPrune().GetWithCut())
	require.Len(t, done.GetPrune().GetEdits(), 1)
	view := d.view("s")
	require.Equal(t, []string{"A pier.", "[Attached image/png: pier.png]"}, texts(view[len(view)-1]))
	require.Equal(t, tokensOf(view), entry.GetTokensAfter())
	require.Equal(t, tokensOf(view), done.GetReport().GetTokens())
	require.Zero(t, d.report("s").GetMediaTokens())
	d.requireChecked()
}

// A kept message is not replayed: its media are replaced in place.
func TestNoReplayOfWhatIsKept(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	d.append("s", user(long(400)), assistant(long(400)), asking("These?", named("a.png")))
	done := d.afterOverflow(proto.Bool(true), nil)
	require.Nil(t, done.GetCompaction().ReplayedIndex)
	require.True(t, done.GetPrune().GetWithCut())
	require.Equal(t, tooLong, done.GetPrune().GetProvenance().GetReason())
	require.Equal(t, done.GetPrune().GetTokensAfter(), done.GetCompaction().GetTokensBefore())
	view := d.view("s")
	require.Equal(t, []string{"These?", "[Attached image/png: a.png]\n" + wording.MediaTooLargeNote}, texts(view[len(view)-1]))
}

// opencode tells the model that attached media were too large. Where the refused request is the last message of the
// log, nothing is replayed and nothing appended, so the text in place of the media says it.
func TestMediaOfARefusedLastRequestSayWhyTheyAreGone(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{
		Preset: proto.String("opencode"), ContextWindow: proto.Uint32(20_000), MaxOutputTokens: proto.Uint32(2_000),
	})
	d.append("s", user("Begin. "+long(4_000)), assistant(long(4_000)),
		asking("What is on these?", named("pier.png"), named("quay.png")), refused())
	done := d.afterOverflow(nil, nil)
	require.Nil(t, done.ContinueIndex)
	require.Nil(t, done.GetCompaction().ReplayedIndex)
	require.Len(t, d.messages("s"), 4, "nothing is appended")
	view := d.view("s")
	require.Equal(t, []string{
		"What is on these?", "[Attached image/png: pier.png]",
		"[Attached image/png: quay.png]\n[The provider refused the conversation as too long, so attached media were taken out. " +
			"Where the work needs them, tell the user that they were too large.]",
	}, texts(view[len(view)-1]))
	requireSameView(t, view, d.view("s"))
	d.append("s", assistant("I cannot see them."))
	requireSameView(t, view, d.view("s")[:len(view)])
	d.requireChecked()
}

// The model was not told where the user or the harness had added a message after the media: after a USER message
// nothing is appended, and the note was put only into the last message.
func TestMediaBeforeTheLastWordOfARefusedRequestSayWhyTheyAreGone(t *testing.T) {
	t.Parallel()
	goOn := user("Go on.")
	goOn.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	shot := &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: named("shot.png").GetMedia()}}
	for name, request := range map[string][]*compactordv1.Message{
		"two messages of the user": {asking("What is on this?", named("pier.png")), user("Be quick.")},
		"a word of the harness":    {asking("What is on this?", named("pier.png")), goOn},
		"a result, and the user": {
			user("Look."), assistant("I look.", call("a", "screenshot", "{}")), {Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
				Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
					CallId: "a", Parts: []*compactordv1.ResultPart{shot},
				}},
			}}}, user("Be quick."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", &compactordv1.Policy{
				Preset: proto.String("opencode"), ContextWindow: proto.Uint32(20_000), MaxOutputTokens: proto.Uint32(2_000),
			})
			d.append("s", user("Begin. "+long(4_000)), assistant(long(4_000)))
			d.append("s", append(request, refused())...)
			d.afterOverflow(nil, nil)
			told := 0
			for _, vm := range d.view("s") {
				told += strings.Count(vm.GetMessage().String(), wording.MediaTooLargeNote)
			}
			require.Equal(t, 1, told)
			d.requireChecked()
		})
	}
}

// Where the strategy has nothing to do, the media are replaced anyway, except pinned ones.
func TestOverflowReplacesMediaAlone(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{Strategy: hideAllBut(0).GetPruneStrategy()})
	d.append("s", asking("These?", named("a.png")), assistant("Yes."), asking("And these?", named("b.png")))
	d.pin("s", 0)
	done := d.afterOverflow(nil, nil)
	require.Nil(t, done.GetCompaction())
	require.False(t, done.GetPrune().GetWithCut())
	require.Len(t, done.GetPrune().GetEdits(), 1)
	require.Equal(t, uint32(2), done.GetPrune().GetEdits()[0].GetIndex())
	require.Equal(t, uint32(1200), d.report("s").GetMediaTokens())

	// A second compaction has nothing to do, and its reason is not a threshold.
	events, err := d.compact(overflowing(nil, nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
}

func TestPruneAfterOverflow(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", working(3, 2000)...)
	d.append("s", asking("These?", named("a.png")))
	req := &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Reason: tooLong, Policy: hideAllBut(1),
	}
	answer, err := d.compactions.Prune(t.Context(), req)
	require.NoError(t, err)
	kinds := make(map[compactordv1.EditKind]int)
	for _, e := range answer.GetPrune().GetEdits() {
		kinds[e.GetKind()]++
	}
	require.Equal(t, map[compactordv1.EditKind]int{
		compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA: 1, compactordv1.EditKind_EDIT_KIND_HIDE_RESULT: 2,
	}, kinds)
	require.Equal(t, tooLong, answer.GetPrune().GetProvenance().GetReason())
	require.Zero(t, answer.GetReport().GetMediaTokens())
}

// The policy decides where the request does not say. Without an overflow nothing is replayed.
func TestReplayByPolicyOrRequest(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		policy, request *bool
		replayed        bool
	}{
		"nobody":              {nil, nil, false},
		"policy":              {proto.Bool(true), nil, true},
		"request":             {nil, proto.Bool(true), true},
		"request over policy": {proto.Bool(true), proto.Bool(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			policy := keepMessages(1)
			policy.Overflow = &compactordv1.OverflowPolicy{Replay: of.policy}
			d.create("s", policy)
			d.append("s", overflown(user("u2"))...)
			require.Equal(t, of.replayed, d.afterOverflow(of.request, nil).GetCompaction().ReplayedIndex != nil)
		})
	}
	d := start(t)
	policy := keepMessages(1)
	policy.Overflow = &compactordv1.OverflowPolicy{Replay: proto.Bool(true)}
	d.create("s", policy)
	d.append("s", overflown(user("u2"))...)
	req := compactRequest("s", nil)
	req.Replay = proto.Bool(true)
	_, err := d.compact(req)
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "replay")
	require.Nil(t, d.completed(nil).ReplayedIndex)
}

// A request that would fill the context again is shown shortened, as a slot.
func TestNoReplayThatWouldBeDueAgain(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	d.append("s", user("Begin."), assistant(long(9000)))
	d.append("s", overflown(user("Mind "+long(15_500)))...)
	entry := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Nil(t, entry.ReplayedIndex)
	require.True(t, entry.GetSlots().GetLastUserRequest().GetShortened())
	require.False(t, d.report("s").GetShouldCompact())
	require.NotContains(t, texts(d.view("s")[0])[0], replayNote)
	d.requireChecked()
}

// Where the view becomes smaller only without the replay, there is none.
func TestNoReplayThatWouldNotShrink(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := keepMessages(1)
	policy.Strategy.GetSummarize().MaxSummaryTokens = proto.Uint32(64)
	d.create("s", policy)
	d.append("s", user("u1"), user("u2"), assistant(long(140)), assistant("I see."))
	entry := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Nil(t, entry.ReplayedIndex)
	require.Less(t, entry.GetTokensAfter(), entry.GetTokensBefore())
	require.Equal(t, uint32(1), entry.GetSlots().GetLastUserRequest().GetIndex())
}

// I13: a message of the user during the compaction is kept, so the request before it is not the last one any more.
func TestRequestDuringAnOverflowCompaction(t *testing.T) {
	t.Parallel()
	var d *daemon
	speak := func() { d.append("s", user("Wait.")) }
	d = start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) { speak() }}))
	d.create("s", keepMessages(1))
	d.append("s", overflown(user("u2"))...)
	entry := d.afterOverflow(proto.Bool(true), nil).GetCompaction()
	require.Nil(t, entry.ReplayedIndex)
	view := d.view("s")
	require.Equal(t, []string{"Wait."}, texts(view[len(view)-1]))
}

// A cancelled compaction after an overflow changes nothing, and a request that is sent again does nothing twice.
func TestOverflowCompactionCancelledAndRepeated(t *testing.T) {
	t.Parallel()
	s := newStops()
	d := start(t, s.option())
	policy := keepMessages(1)
	policy.Overflow = &compactordv1.OverflowPolicy{Replay: proto.Bool(true), AutoContinue: proto.Bool(true)}
	d.create("s", policy)
	d.append("s", overflown(asking("u2", named("a.png")))...)
	before := d.view("s")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-s.reached; cancel() }()
	_, err := d.compactCtx(ctx, overflowing(nil, nil))
	require.Error(t, err)
	requireSameView(t, before, d.view("s"))

	d.stop()
	d = start(t)
	d.create("s", policy)
	d.append("s", overflown(asking("u2", named("a.png")))...)
	req := overflowing(nil, nil)
	req.RequestId = "once"
	events, err := d.compact(req)
	require.NoError(t, err)
	view, records := d.view("s"), len(d.records("s"))
	again, err := d.compact(req)
	require.NoError(t, err)
	require.Len(t, again, 1)
	require.True(t, proto.Equal(last(t, events).GetCompleted(), again[0].GetCompleted()))
	require.NotNil(t, again[0].GetCompleted().GetCompaction().ReplayedIndex)
	requireSameView(t, view, d.view("s"))
	require.Len(t, d.records("s"), records)
}

// Forks, reverts, views at a point and deltas show the replay in the same way.
func TestReplayInForksRevertsAndDeltas(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	d.append("s", overflown(asking("u2", named("a.png")))...)
	token := func() string {
		answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
		})
		require.NoError(t, err)
		return answer.GetViewToken()
	}
	d.afterOverflow(proto.Bool(true), nil)
	replayed, point, held := d.view("s"), d.session("s").GetSession().GetPoint(), token()
	d.append("s", assistant("On it."))
	delta, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: held,
	})
	require.NoError(t, err)
	require.Equal(t, uint32(len(replayed)), delta.GetUnchangedPrefix())

	d.fork(&compactordv1.ForkSessionRequest{
		SessionId: "s", NewSessionId: "f", At: &compactordv1.ForkSessionRequest_Point{Point: point},
	})
	requireSameView(t, replayed, d.view("f"))
	d.append("s", assistant(long(300)), assistant("Done."))
	d.completed(keepMessages(1))
	requireSameView(t, replayed, d.asOf(point))
	d.revert(&compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	requireSameView(t, replayed, d.view("s"))
	d.requireChecked()
}

// An inline history can contain an entry with a replay.
func TestReplayOfAHistorySentAlong(t *testing.T) {
	t.Parallel()
	d := start(t)
	messages := overflown(asking("u2", named("a.png")))
	policy := keepMessages(1)
	policy.Overflow = &compactordv1.OverflowPolicy{AutoContinue: proto.Bool(true)}
	history := &compactordv1.InlineHistory{Messages: messages}
	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: history}, Policy: policy,
		Reason: tooLong, Replay: proto.Bool(true),
	})
	require.NoError(t, err)
	history.Compaction = last(t, events).GetCompleted().GetCompaction()
	require.Equal(t, uint32(2), history.GetCompaction().GetReplayedIndex())
	answer, err := d.compactions.GetLLMView(t.Context(), historyTarget(history))
	require.NoError(t, err)
	require.Equal(t, []string{"u2", "[Attached image/png: a.png]"}, texts(answer.GetMessages()[1])[1:])

	// Entries with a replay that no compaction makes are refused.
	for _, index := range []uint32{1, 4, 77} {
		history.Compaction.ReplayedIndex = proto.Uint32(index)
		_, err = d.compactions.GetLLMView(t.Context(), historyTarget(history))
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.ErrorContains(t, err, "history.compaction.replayed_index")
	}

	// Nothing is appended to an inline history.
	events, err = d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{
			Messages: append(messages, assistant("Done.")),
		}}, Policy: policy, Reason: tooLong,
	})
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted().GetCompaction())
	require.Nil(t, last(t, events).GetCompleted().ContinueIndex)
}
