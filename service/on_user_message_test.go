package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/strategies"
)

const userMessage = compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE

func listOf(list ...*compactordv1.Strategy) *compactordv1.StrategyList {
	return &compactordv1.StrategyList{Strategies: list}
}

// hideOld returns a strategy that hides the results of all turns but the newest, however little that frees.
func hideOld() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
		PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
			KeepTurns: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
			Placeholder: proto.String("[hidden]"),
		},
	}}
}

// hiding returns a policy that hides the results of finished turns.
func hiding() *compactordv1.Policy {
	return &compactordv1.Policy{OnUserMessage: listOf(hideOld())}
}

// userMessagePrunes returns the entries of policy.on_user_message.
func (d *daemon) userMessagePrunes(id string) []*compactordv1.PruneEntry {
	d.t.Helper()
	var found []*compactordv1.PruneEntry
	for _, r := range d.records(id) {
		if r.GetPrune().GetProvenance().GetReason() == userMessage {
			found = append(found, r.GetPrune())
		}
	}
	return found
}

// The message that starts a turn and its prune are one transaction, and one response has both.
func TestOnUserMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	created := d.create("s", hiding())
	d.append("s", reads("a", 4000)...)
	running := d.append("s", assistant("More.", call("b", "read", "{}")), toolResult("b", strings.Repeat("y", 4000)))
	require.Empty(t, d.userMessagePrunes("s"), "the running turn has all of it")
	unpruned := d.view("s")
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})

	answer := d.append("s", user("Thanks. And now?"), assistant("I read again.", call("c", "read", "{}")))
	require.Equal(t, uint32(6), answer.GetFirstIndex())
	require.Equal(t, uint32(8), answer.GetNextIndex())
	require.Equal(t, running.GetPoint()+3, answer.GetPoint(), "two messages and a record")
	prunes := d.userMessagePrunes("s")
	require.Len(t, prunes, 1)
	prune := prunes[0]
	require.Equal(t, answer.GetPoint(), prune.GetSequence())
	require.Len(t, prune.GetEdits(), 2)
	require.Equal(t, []uint32{2, 5}, []uint32{prune.GetEdits()[0].GetIndex(), prune.GetEdits()[1].GetIndex()})
	require.Equal(t, uint32(1), prune.GetProvenance().GetStrategy().GetPruneToolOutputs().GetKeepTurns())
	view := d.view("s")
	require.Equal(t, "[hidden]", resultTextOf(view[2].GetMessage()))
	require.Equal(t, tokensOf(view), prune.GetTokensAfter())
	require.Equal(t, tokensOf(d.asOf(answer.GetPoint()-1)), prune.GetTokensBefore())
	require.Equal(t, tokensOf(view), answer.GetReport().GetTokens())
	require.True(t, proto.Equal(d.session("s").GetReport(), answer.GetReport()))
	require.Equal(t, created.GetUid(), d.session("s").GetSession().GetUid())

	// Watchers get messages and record, in the order of the log.
	require.Equal(t, uint32(6), w.next().GetMessage().GetIndex())
	require.Equal(t, uint32(7), w.next().GetMessage().GetIndex())
	require.Equal(t, userMessage, w.next().GetRecord().GetPrune().GetProvenance().GetReason())

	// The prune is like any other change: for views at a point, reverts, forks and recalls.
	requireSameBytes(t, unpruned, d.asOf(running.GetPoint()))
	d.fork(&compactordv1.ForkSessionRequest{
		SessionId: "s", NewSessionId: "f", At: &compactordv1.ForkSessionRequest_Point{Point: answer.GetPoint() - 1},
	})
	requireSameBytes(t, d.asOf(answer.GetPoint()-1), d.view("f"))
	require.Equal(t, strings.Repeat("x", 4000), d.recall(recallOf(2)).GetText())
	d.revert(turnsBack(1))
	requireSameBytes(t, unpruned, d.view("s"))
	d.append("s", user("Again."))
	require.Len(t, d.userMessagePrunes("s"), 2, "what was put aside is done again")
	d.requireSound(t)
}

// A client with the view before is told how much of it is unchanged.
func TestDeltasAfterOnUserMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hiding())
	d.append("s", append(reads("a", 4000), reads("b", 4000)...)...)
	token := d.tokenOf("s")
	d.append("s", user("And now?"))
	view := d.view("s")
	delta, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: token,
	})
	require.NoError(t, err)
	require.Equal(t, uint32(5), delta.GetUnchangedPrefix(), "the first turn's result was hidden with the second's message")
	requireSameBytes(t, view[5:], delta.GetMessages())
}

// A state that is kept from turn to turn is planned and shown like one that is read anew: a record of another kind, here a
// checkpoint, ends what is kept.
func TestOnUserMessageOnKeptStates(t *testing.T) {
	t.Parallel()
	d := start(t)
	lives := 0
	rapid.Check(t, func(r *rapid.T) {
		lives++
		kept, anew := fmt.Sprint("kept", lives), fmt.Sprint("anew", lives)
		hide := hideOld()
		hide.GetPruneToolOutputs().KeepTurns = proto.Uint32(rapid.Uint32Range(1, 3).Draw(r, "kept turns"))
		// Results are shortened first, and hidden some turns later.
		policy := &compactordv1.Policy{OnUserMessage: listOf(&compactordv1.Strategy{
			Kind: &compactordv1.Strategy_TruncateToolOutputs{TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{
				MaxChars: proto.Uint32(1000), KeepGroups: proto.Uint32(1),
			}},
		}, hide)}
		d.create(kept, policy)
		d.create(anew, policy)
		for turn := range rapid.IntRange(3, 12).Draw(r, "turns") {
			if turn > 0 && rapid.IntRange(0, 3).Draw(r, "pins") == 0 {
				index := rapid.Uint32Range(0, uint32(4*turn-1)).Draw(r, "pinned")
				d.pin(kept, index)
				d.pin(anew, index)
			}
			messages := reads(fmt.Sprint(turn), rapid.IntRange(1, 6000).Draw(r, "size"))
			d.append(kept, messages...)
			d.append(anew, messages...)
			d.checkpoint(anew, false)
			requireSameBytes(t, d.view(anew), d.view(kept))
		}
		prunes, expected := d.userMessagePrunes(kept), d.userMessagePrunes(anew)
		require.Len(t, prunes, len(expected))
		for i, prune := range prunes {
			prune.Id, prune.CreatedAt, prune.Sequence = expected[i].GetId(), expected[i].GetCreatedAt(), expected[i].GetSequence()
			prune.Provenance.Duration = expected[i].GetProvenance().GetDuration()
			require.Empty(t, cmp.Diff(expected[i], prune, protocmp.Transform()))
		}
	})
	d.requireSound(t)
}

// Nothing is written where the view would not become smaller, and where no message starts a turn.
func TestOnUserMessageWithNothingToDo(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hiding())
	d.append("s", user("u"), assistant("a"), user("u"))
	d.append("s", assistant("I read.", call("a", "read", "{}")), toolResult("a", "x"), assistant("Short."))
	d.append("s", user("The placeholder is longer than the result."))
	d.append("s", assistant("I read.", call("b", "read", "{}")), toolResult("b", strings.Repeat("x", 4000)))
	goOn := user("Go on.")
	goOn.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	d.append("s", goOn, assistant("I do."))
	require.Len(t, d.records("s"), 1)
	d.append("s", user("This starts a turn."))
	require.Len(t, d.userMessagePrunes("s"), 1)
}

// A request has one plan, at its end, however many of its messages start turns; also where records come with them.
func TestOnUserMessageOnceARequest(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hiding())
	d.create("imported", hiding())
	messages := append(reads("a", 4000), append(reads("b", 4000), reads("c", 4000)...)...)
	d.append("s", messages...)
	require.Len(t, d.userMessagePrunes("s"), 1)
	require.Len(t, d.userMessagePrunes("s")[0].GetEdits(), 2)
	answer, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "imported", Messages: messages,
		ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(8, 4, "All of the first is told here.")},
	})
	require.NoError(t, err)
	require.Len(t, d.userMessagePrunes("imported"), 1)
	require.Len(t, d.userMessagePrunes("imported")[0].GetEdits(), 1, "the compaction covers the first")
	require.Equal(t, tokensOf(d.view("imported")), answer.GetReport().GetTokens())
	d.requireSound(t)
}

// Each of several strategies plans on what those before it leave, and all edits are one entry.
func TestOnUserMessageInOrder(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := hiding()
	twice := hideOld()
	twice.GetPruneToolOutputs().ClearArguments = proto.Bool(true)
	policy.OnUserMessage = listOf(hideOld(), twice, hideOld())
	d.create("s", policy)
	long := reads("a", 4000)
	long[1] = assistant("I write.", call("a", "write", `{"text":"`+strings.Repeat("z", 4000)+`"}`))
	d.append("s", long...)
	d.append("s", user("u"))
	prunes := d.userMessagePrunes("s")
	require.Len(t, prunes, 1)
	require.Len(t, prunes[0].GetProvenance().GetStrategy().GetLadder().GetRungs(), 3)
	edits := prunes[0].GetEdits()
	require.Len(t, edits, 2, "the third finds nothing left to do")
	require.Equal(t, compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, edits[0].GetKind())
	require.Equal(t, compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, edits[1].GetKind(), "the second clears the arguments of the call whose result is hidden")
}

// A request that is sent again gets the recorded response, and does nothing twice.
func TestOnUserMessageIsIdempotent(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hiding())
	d.append("s", reads("a", 4000)...)
	req := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("u")}, RequestId: "r", ExpectedNextIndex: proto.Uint32(4),
	}
	first, err := d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
	d.append("s", user("later"))
	again, err := d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
	require.Len(t, d.userMessagePrunes("s"), 1)
	req.RequestId = "other"
	_, err = d.sessions.AppendMessages(t.Context(), req)
	require.Equal(t, "6", requireReason(t, err, codes.Aborted, "WRONG_NEXT_INDEX").GetMetadata()["next_index"])
}

// Undo skips the prunes of on_user_message, since each turn would make them again.
func TestUndoSkipsOnUserMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hiding())
	d.append("s", reads("a", 4000)...)
	before := d.view("s")
	_, err := d.sessions.RevertToCheckpoint(t.Context(), undo())
	requireReason(t, err, codes.FailedPrecondition, "NOTHING_TO_REVERT")
	_, err = d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(0),
	})
	require.NoError(t, err)
	require.NotEqual(t, tokensOf(before), tokensOf(d.view("s")))
	d.append("s", reads("b", 4000)...)
	d.append("s", user("u"))
	require.Len(t, d.userMessagePrunes("s"), 1)
	d.revert(undo())
	requireSameBytes(t, before, d.view("s"))
	d.requireSound(t)
}

// planner is a strategy whose plan a test writes.
type planner func(ctx context.Context, in *strategies.Input) (*compactordv1.CompactionPlan, error)

func (planner) Name() string { return "planner" }

func (p planner) Plan(
	ctx context.Context, in *strategies.Input, _ *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	return p(ctx, in)
}

func (p planner) option() option {
	return func(o *service.ServerOptions) {
		registry, err := strategies.NewRegistry(append(strategies.Builtin(), p)...)
		if err != nil {
			panic(err)
		}
		o.Strategies = registry
	}
}

// planned returns a policy that calls a planner at each message of the user.
func planned() *compactordv1.Policy {
	return &compactordv1.Policy{OnUserMessage: listOf(&compactordv1.Strategy{
		Kind: &compactordv1.Strategy_Custom{Custom: &compactordv1.CustomStrategy{Name: "planner"}},
	})}
}

// Messages are appended even where the strategies fail. The failure is logged, without the messages.
func TestMessagesAreAppendedWhereOnUserMessageFails(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]planner{
		"panic": func(_ context.Context, in *strategies.Input) (*compactordv1.CompactionPlan, error) {
			panic(textOf(in.State.Kept[0].GetMessage()))
		},
		"error": func(context.Context, *strategies.Input) (*compactordv1.CompactionPlan, error) {
			return nil, errors.New("a bug")
		},
		"cut": func(_ context.Context, in *strategies.Input) (*compactordv1.CompactionPlan, error) {
			return &compactordv1.CompactionPlan{Cut: &compactordv1.Cut{
				FirstKeptIndex: 1, MaxSummaryTokens: 100, Summarized: &compactordv1.IndexRange{End: 1},
			}}, nil
		},
		"invalid plan": func(_ context.Context, in *strategies.Input) (*compactordv1.CompactionPlan, error) {
			return &compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{{Index: 99}}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := &kept{}
			d := start(t, fails.option(), log.option())
			d.create("s", planned())
			answer := d.append("s", user("the secret word"), assistant("a"))
			require.Equal(t, uint32(2), answer.GetNextIndex())
			require.Len(t, d.view("s"), 2)
			require.Empty(t, d.userMessagePrunes("s"))
			require.Len(t, log.lines(t, "messages were appended without policy.on_user_message"), 1)
			require.NotContains(t, log.all(), "secret")
			d.requireSound(t)
		})
	}
}

// A request that is cancelled during the plan appends nothing.
func TestCancelledOnUserMessageAppendsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	log := &kept{}
	d := start(t, log.option(), planner(func(ctx context.Context, _ *strategies.Input) (*compactordv1.CompactionPlan, error) {
		cancel()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}).option())
	d.create("s", planned())
	_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("u")},
	})
	require.Equal(t, codes.Canceled, statusCode(err))
	d.shutdown()
	require.Empty(t, log.lines(t, "messages were appended without policy.on_user_message"), "it is no bug")
	row, err := d.store.Session(context.WithoutCancel(t.Context()), "", "s")
	require.NoError(t, err)
	require.Zero(t, row.GetHead().GetNextIndex())
}

// Concurrent writers lose nothing, and each of their finished turns is pruned.
func TestOnUserMessageOfManyWriters(t *testing.T) {
	t.Parallel()
	const writers, turns = 3, 4
	d := start(t)
	d.create("s", hiding())
	var all sync.WaitGroup
	failures := make([]error, writers)
	for w := range writers {
		all.Go(func() {
			for turn := range turns {
				_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
					SessionId: "s", Messages: reads(fmt.Sprintf("%d-%d", w, turn), 400), RequestId: fmt.Sprintf("%d-%d", w, turn),
				})
				failures[w] = errors.Join(failures[w], err)
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Len(t, d.messages("s"), writers*turns*4)
	require.Len(t, d.userMessagePrunes("s"), writers*turns-1, "each but the first found a turn that was finished")
	hidden := 0
	for _, vm := range d.view("s") {
		if len(vm.GetEdits()) > 0 {
			hidden++
		}
	}
	require.Equal(t, writers*turns-1, hidden)
	d.requireSound(t)
}

// on_user_message does not apply to inline histories: their clients call Prune.
func TestOnUserMessageIsNotForHistories(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.Policies.Default = hiding() })
	view, err := d.compactions.GetLLMView(t.Context(), historyTarget(&compactordv1.InlineHistory{
		Messages: append(reads("a", 4000), user("u")),
	}))
	require.NoError(t, err)
	require.Empty(t, view.GetMessages()[2].GetEdits())
}

// The freed tokens are counted. It is no compaction, so it does not open or close the breaker.
func TestOnUserMessageIsNoCompaction(t *testing.T) {
	t.Parallel()
	summarizer := &scripted{name: "broken", do: faults()[0].do}
	registry := prometheus.NewRegistry()
	d := start(t, withSummarizer(summarizer), func(o *service.ServerOptions) { o.Metrics = registry })
	policy := by("broken", compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL, small(100))
	policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(500)}
	policy.OnUserMessage = listOf(hideOld())
	d.create("s", policy)
	d.append("s", working(2, 4000)...)
	for range 3 {
		req := compactRequest("s", nil)
		req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
		_, err := d.compact(req)
		require.Error(t, err)
	}
	before := d.session("s").GetReport().GetBreakerClosesAfterTokens()
	require.Positive(t, before)
	freedBefore := freed(t, registry)
	answer := d.append("s", user("u"))
	prune := d.userMessagePrunes("s")[len(d.userMessagePrunes("s"))-1]
	require.Equal(t, freedBefore+prune.GetTokensBefore()-prune.GetTokensAfter(), freed(t, registry))
	require.Equal(t, before-1, answer.GetReport().GetBreakerClosesAfterTokens(), "by what was appended alone")
}

// freed returns the freed tokens from the metrics.
func freed(t *testing.T, registry *prometheus.Registry) uint32 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "compactord_freed_tokens_total" {
			return uint32(family.GetMetric()[0].GetCounter().GetValue())
		}
	}
	require.Fail(t, "no such metric")
	return 0
}
