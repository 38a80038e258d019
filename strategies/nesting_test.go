package strategies_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

const (
	manual   = compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	overflow = compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
)

func ladder(rungs ...*compactordv1.LadderStrategy_Rung) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{Rungs: rungs}}}
}

func rung(s *compactordv1.Strategy) *compactordv1.LadderStrategy_Rung {
	return &compactordv1.LadderStrategy_Rung{Strategy: s}
}

func rungAt(ratio float64, s *compactordv1.Strategy) *compactordv1.LadderStrategy_Rung {
	return &compactordv1.LadderStrategy_Rung{Strategy: s, AtRatio: &ratio}
}

func firstEffective(list ...*compactordv1.Strategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FirstEffective{
		FirstEffective: &compactordv1.FirstEffectiveStrategy{Strategies: list},
	}}
}

// hiding returns a strategy that hides the results with these indexes, if they are not hidden yet.
func hiding(name string, indexes ...uint32) strategies.Strategy {
	return hider{name: name, indexes: indexes}
}

type hider struct {
	name    string
	indexes []uint32
}

func (h hider) Name() string { return h.name }

func (h hider) Plan(
	_ context.Context, in *strategies.Input, _ *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	made := &plan{TokensBefore: in.State.Head.GetViewTokens(), SkipReason: nothing}
	for _, index := range h.indexes {
		kept := slices.ContainsFunc(in.State.Kept, func(l *compactordv1.LoggedMessage) bool { return l.GetIndex() == index })
		if !kept || len(in.State.Edits[index]) > 0 {
			continue
		}
		made.SkipReason = 0
		made.Edits = append(made.Edits, &compactordv1.Edit{
			Index: index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "gone",
		})
	}
	return made, nil
}

// bench returns a registry with strategies that hide: `first` message 2, `second` 4, `third` 6, `both` 2 and 4.
func bench(t *testing.T) *strategies.Registry {
	t.Helper()
	r, err := strategies.NewRegistry(append(strategies.Builtin(),
		hiding("first", 2), hiding("second", 4), hiding("third", 6), hiding("both", 2, 4),
		fake{"panics", func(*compactordv1.Strategy) (*plan, error) { panic("a secret") }},
		fake{"fails", func(*compactordv1.Strategy) (*plan, error) { return nil, errBroken }},
	)...)
	require.NoError(t, err)
	return r
}

var errBroken = errors.New("broken")

// nestedPlan plans with a bench and checks the plan.
func nestedPlan(
	t *testing.T, l *testLog, reason compactordv1.CompactionReason, parameters *compactordv1.Strategy,
) *plan {
	t.Helper()
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: reason}
	made, err := bench(t).Plan(t.Context(), in, parameters)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, made))
	require.Equal(t, in.State.Head.GetViewTokens(), made.GetTokensBefore())
	return made
}

// Three results of 100 tokens. Hiding leaves one token of each.
const threeResults = "U10 T2 R100 T2 R100 T2 R100 A10"

func triggerAt(tokens, target uint32) *compactordv1.Policy {
	return &compactordv1.Policy{
		OverheadTokens: proto.Uint32(0),
		Trigger:        &compactordv1.Trigger{TriggerTokens: &tokens, TargetTokens: &target},
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	windowed := func(window uint32) *compactordv1.Policy {
		p := triggerAt(window, 1)
		p.ContextWindow = &window
		return p
	}
	all := ladder(rung(custom("first")), rung(custom("second")), rung(custom("third")))
	cut := summarizing(keepTokens(10))
	for _, c := range []struct {
		name     string
		policy   *compactordv1.Policy
		reason   compactordv1.CompactionReason
		strategy *compactordv1.Strategy
		// edited are the messages with edits, and cut is the first kept index; or none.
		edited []uint32
		cut    int
	}{
		// The view has 326 tokens, 227 with one result hidden, and 128 with two.
		{"stops at the target", triggerAt(300, 227), due, all, []uint32{2}, none},
		{"one token under the target", triggerAt(300, 226), due, all, []uint32{2, 4}, none},
		{"the target is not enough where compaction is still due", triggerAt(227, 227), due, all, []uint32{2, 4}, none},
		{"is at rest where it stands at the target", triggerAt(400, 326), due, all, nil, none},
		{"by hand all rungs run", triggerAt(400, 326), manual, all, []uint32{2, 4, 6}, none},
		{"without a target all rungs run", &compactordv1.Policy{}, due, all, []uint32{2, 4, 6}, none},
		{
			"a rung that does nothing is passed", triggerAt(300, 10), due,
			ladder(rung(custom("first")), rung(custom("first")), rung(custom("second"))),
			[]uint32{2, 4},
			none,
		},
		{
			"what the cut covers is not edited", triggerAt(300, 10), due,
			ladder(rung(custom("first")), rung(custom("both")), rung(cut)), nil, 7,
		},
		{
			"an edit behind the cut stays", triggerAt(300, 1), due,
			ladder(rung(custom("both")), rung(custom("third")), rung(summarizing(keepTokens(112)))),
			[]uint32{6},
			5,
		},
		{
			"a cut before edits", triggerAt(300, 1), manual,
			ladder(rung(summarizing(keepTokens(150))), rung(custom("both")), rung(custom("third"))),
			[]uint32{6},
			5,
		},

		// The view is 0.815 of the window; 0.5675 with one result hidden.
		{"full enough", windowed(400), due, ladder(rungAt(0.815, custom("first"))), []uint32{2}, none},
		{"not full enough", windowed(400), due, ladder(rungAt(0.816, custom("first"))), nil, none},
		{
			"as full as earlier rungs leave it", windowed(400), due,
			ladder(rung(custom("first")), rungAt(0.57, custom("second")), rungAt(0.56, custom("third"))),
			[]uint32{2, 6},
			none,
		},
		{
			"by hand rungs do not wait for their ratio", windowed(400), manual,
			ladder(rung(custom("first")), rungAt(0.57, custom("second"))),
			[]uint32{2, 4},
			none,
		},
		{
			"after an overflow the window counts as full", windowed(400), overflow,
			ladder(rungAt(1, custom("first")), rungAt(0.7, custom("second")), rungAt(0.69, custom("third"))),
			[]uint32{2, 6},
			none,
		},
		{
			"with an unknown window no ratio is reached", triggerAt(300, 1), due,
			ladder(rungAt(0, custom("first")), rung(custom("second"))),
			[]uint32{4},
			none,
		},

		{
			"ladders in ladders", triggerAt(300, 128), due,
			ladder(rung(ladder(rung(ladder(rung(custom("first")))), rung(custom("second")))), rung(custom("third"))),
			[]uint32{2, 4},
			none,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(threeResults)
			l.policy = c.policy
			requirePlan(t, nestedPlan(t, l, c.reason, c.strategy), c.edited, c.cut)
		})
	}
}

func requirePlan(t *testing.T, made *plan, edited []uint32, cut int) {
	t.Helper()
	var indexes []uint32
	for _, e := range made.GetEdits() {
		indexes = append(indexes, e.GetIndex())
	}
	require.Equal(t, edited, indexes)
	if cut == none {
		require.Nil(t, made.GetCut())
		require.Equal(t, len(edited) == 0, made.GetSkipReason() != 0)
		return
	}
	require.NotNil(t, made.GetCut())
	require.Equal(t, uint32(cut), made.GetCut().GetFirstKeptIndex())
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED, made.GetSkipReason())
}

func TestLadderThatDoesNothingTellsWhyItsLastRungDid(t *testing.T) {
	t.Parallel()
	l := newLog().script("U A")
	s := ladder(rung(summarizing(keepTokens(100))), rung(pruneTools(nil)))
	require.Equal(t, nothing, nestedPlan(t, l, manual, s).GetSkipReason())
	l = newLog().script("U T2 R100 T2 R100 U U U")
	s = ladder(rung(summarizing(keepTokens(1000))), rung(pruneTools(&compactordv1.PruneToolOutputsStrategy{
		KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(200),
	})))
	require.Equal(t, tooFew, nestedPlan(t, l, manual, s).GetSkipReason())
}

// Each rung alone may fill a plan, but not all together.
func TestLadderBoundsThePlan(t *testing.T) {
	t.Parallel()
	hide := func(groups uint32) *compactordv1.Strategy {
		return pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups: &groups, KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
			Placeholder: proto.String(strings.Repeat("gone", 500)),
		})
	}
	l := newLog().script("U" + strings.Repeat(" T2 R600", 900))
	half := nestedPlan(t, l, manual, hide(450))
	require.Len(t, half.GetEdits(), 450)
	all := nestedPlan(t, l, manual, ladder(rung(hide(450)), rung(hide(0)), rung(hide(0))))
	// 2,000 bytes of placeholder, 32 for the rest, and one edit past the mebibyte.
	require.Len(t, all.GetEdits(), 1<<20/2032+1)
}

func TestFirstEffective(t *testing.T) {
	t.Parallel()
	groups := &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerToolGroups: proto.Uint32(3)}}
	for _, c := range []struct {
		name     string
		policy   *compactordv1.Policy
		reason   compactordv1.CompactionReason
		strategy *compactordv1.Strategy
		edited   []uint32
		cut      int
	}{
		{
			"the first that brings it under the trigger", triggerAt(228, 1), due,
			firstEffective(custom("first"), custom("both")),
			[]uint32{2},
			none,
		},
		{
			"not the first that brings it to the trigger", triggerAt(227, 1), due,
			firstEffective(custom("first"), custom("both")),
			[]uint32{2, 4},
			none,
		},
		{
			"the last, whatever it does", triggerAt(100, 1), due,
			firstEffective(custom("both"), custom("first")),
			[]uint32{2},
			none,
		},
		{
			"what does little, where the last does nothing", triggerAt(100, 1), due,
			firstEffective(custom("both"), summarizing(&compactordv1.SummarizeStrategy{
				RecentTurns: proto.Uint32(1), SplitTurn: compactordv1.SplitTurn_SPLIT_TURN_OFF.Enum(),
			})),
			[]uint32{2, 4},
			none,
		},
		{
			"each plans on what there is, not on what others would leave", triggerAt(150, 1), due,
			firstEffective(custom("first"), custom("both")),
			[]uint32{2, 4},
			none,
		},
		{
			"hiding takes out no tool group", groups, due,
			firstEffective(custom("both"), summarizing(&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(2)})), nil, 3,
		},
		{
			"without a trigger the first that does something", &compactordv1.Policy{}, due,
			firstEffective(summarizing(keepTokens(1000)), custom("second"), custom("first")),
			[]uint32{4},
			none,
		},
		{
			"in a ladder", triggerAt(300, 128), due,
			ladder(rung(firstEffective(custom("first"), custom("both"))), rung(custom("second")), rung(custom("third"))),
			[]uint32{2, 4},
			none,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(threeResults)
			l.policy = c.policy
			requirePlan(t, nestedPlan(t, l, c.reason, c.strategy), c.edited, c.cut)
		})
	}
}

func TestNestedFailures(t *testing.T) {
	t.Parallel()
	l := newLog().script(threeResults)
	for _, nest := range []func(*compactordv1.Strategy) *compactordv1.Strategy{
		func(s *compactordv1.Strategy) *compactordv1.Strategy { return ladder(rung(custom("first")), rung(s)) },
		func(s *compactordv1.Strategy) *compactordv1.Strategy { return firstEffective(ladder(rung(s))) },
	} {
		in := &strategies.Input{State: l.state(), Policy: l.policy}
		made, err := bench(t).Plan(t.Context(), in, nest(custom("panics")))
		require.Nil(t, made)
		var panicked *strategies.PanicError
		require.ErrorAs(t, err, &panicked)
		require.Equal(t, "panics", panicked.Strategy)
		require.NotContains(t, err.Error(), "secret")
		_, err = bench(t).Plan(t.Context(), in, nest(custom("fails")))
		require.ErrorIs(t, err, errBroken)
	}
}

func TestSupportsLooksIntoWhatIsNested(t *testing.T) {
	t.Parallel()
	deep := firstEffective(ladder(rung(custom("first")), rungAt(1, custom("yours"))))
	err := bench(t).Supports(deep)
	require.ErrorIs(t, err, strategies.ErrUnknown)
	var nested *strategies.NestedError
	require.ErrorAs(t, err, &nested)
	require.Equal(t, "first_effective.strategies[0].ladder.rungs[1].strategy", nested.Path)
	require.ErrorContains(t, err, nested.Path+`: unknown name: strategy "yours"; there are both, `)
	require.NoError(t, bench(t).Supports(firstEffective(ladder(rung(custom("first"))), custom("second"))))
}

func TestPoliciesNestFourDeep(t *testing.T) {
	t.Parallel()
	within := func(n int) *compactordv1.Strategy {
		s := summarizing(nil)
		for i := range n {
			if s = ladder(rung(pruneTools(nil)), rung(s)); i%2 == 0 {
				s = firstEffective(s.GetLadder().GetRungs()[1].GetStrategy())
			}
		}
		return s
	}
	_, err := strategies.Resolve(&compactordv1.Policy{Strategy: within(3), PruneStrategy: within(3)})
	require.NoError(t, err)
	for path, p := range map[string]*compactordv1.Policy{
		"policy.strategy":                      {Strategy: within(4)},
		"policy.prune_strategy":                {PruneStrategy: within(4)},
		"policy.on_append.strategies[1]":       {OnAppend: listOf(within(0), within(4))},
		"policy.on_user_message.strategies[0]": {OnUserMessage: listOf(within(4))},
	} {
		_, err := strategies.Resolve(p)
		var wrong *strategies.PolicyError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, path+".ladder.rungs[1].strategy.first_effective.strategies[0]."+
			"ladder.rungs[1].strategy.first_effective.strategies[0]", wrong.Field)
	}
}

func TestResolvedFillsInWhatIsNested(t *testing.T) {
	t.Parallel()
	policy := &compactordv1.Policy{ContextWindow: proto.Uint32(20_000)}
	given := ladder(rungAt(0.5, firstEffective(custom("first"), summarizing(nil))), rung(pruneTools(nil)))
	asked := proto.CloneOf(given)
	want := ladder(
		rungAt(0.5, firstEffective(custom("first"), registry().Resolved(policy, summarizing(nil)))),
		rung(registry().Resolved(policy, pruneTools(nil))))
	requireEqual(t, want, bench(t).Resolved(policy, given))
	require.Equal(t, uint32(4_000), want.GetLadder().GetRungs()[0].GetStrategy().GetFirstEffective().
		GetStrategies()[1].GetSummarize().GetRecentTokens())
	requireEqual(t, asked, given)
}

func TestSummaryBudgetOfANestedSummary(t *testing.T) {
	t.Parallel()
	cut := summarizing(&compactordv1.SummarizeStrategy{MaxSummaryTokens: proto.Uint32(777)})
	for _, s := range []*compactordv1.Strategy{
		cut, ladder(rung(pruneTools(nil)), rung(cut)), firstEffective(pruneTools(nil), ladder(rung(cut))),
	} {
		require.Equal(t, uint32(777), strategies.SummaryBudget(&compactordv1.Policy{Strategy: s}))
	}
	require.Equal(t, uint32(13_107), strategies.SummaryBudget(&compactordv1.Policy{Strategy: ladder(rung(pruneTools(nil)))}))
}

// composedOf draws a strategy that nests others to this depth.
func composedOf(t *rapid.T, depth int) *compactordv1.Strategy {
	inner := func() *compactordv1.Strategy {
		if depth <= 1 || dice(t, 3) == 0 {
			return parametersOf(t)
		}
		return composedOf(t, depth-1)
	}
	var list []*compactordv1.Strategy
	for range 1 + dice(t, 3) {
		list = append(list, inner())
	}
	if dice(t, 2) == 0 {
		return firstEffective(list...)
	}
	var rungs []*compactordv1.LadderStrategy_Rung
	for _, s := range list {
		r := rung(s)
		if dice(t, 3) == 0 {
			r.AtRatio = proto.Float64(float64(dice(t, 11)) / 10)
		}
		rungs = append(rungs, r)
	}
	return ladder(rungs...)
}

func TestComposedPlansKeepTheRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	reasons := []compactordv1.CompactionReason{0, manual, due, overflow}
	rounds := 2
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			l := generate(t)
			l.policy = triggerAt(uint32(1+dice(t, 5000)), uint32(1+dice(t, 3000)))
			if dice(t, 2) == 0 {
				l.policy.ContextWindow = proto.Uint32(uint32(1 + dice(t, 6000)))
			}
			in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: reasons[dice(t, len(reasons))]}
			parameters := composedOf(t, 3)
			before, asked := snapshot(in.State), proto.CloneOf(parameters)
			made, err := registry().Plan(t.Context(), in, parameters)
			require.NoError(t, err)
			require.NoError(t, strategies.Check(in, made))
			require.Equal(t, before, snapshot(in.State), "the input was changed")
			require.True(t, proto.Equal(asked, parameters), "the parameters were changed")
			require.Equal(t, in.State.Head.GetViewTokens(), made.GetTokensBefore())
			does := made.GetCut() != nil || len(made.GetEdits()) > 0
			require.Equal(t, does, made.GetSkipReason() == 0)
			requireWhole(t, in.State, made)
			again, err := registry().Plan(t.Context(), in, parameters)
			require.NoError(t, err)
			require.True(t, proto.Equal(made, again), "the same state gave another plan")
			did.count("cut", made.GetCut() != nil)
			did.count("edits", len(made.GetEdits()) > 0)
			did.count("both", made.GetCut() != nil && len(made.GetEdits()) > 0)
			did.count("neither", !does)
		})
	}
	did.require(t, 1, "cut", "edits", "both", "neither")
}

// A ladder, computed independently of the code: its rungs are carried out one after the other. The reason is MANUAL,
// since a separate rung would otherwise depend on the size of the context before it, and might wait after the one
// before.
func TestLadderIsItsRungsInOrder(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l := generate(t)
		l.policy = triggerAt(uint32(1+dice(t, 5000)), uint32(1+dice(t, 3000)))
		s := ladder(rung(pruneOf(t)), rung(pruneOf(t)), rung(summarizeOf(t)))
		made, err := registry().Plan(t.Context(), &strategies.Input{
			State: l.state(), Policy: l.policy, Reason: manual,
		}, s)
		require.NoError(t, err)

		stepwise := l.copy()
		for _, r := range s.GetLadder().GetRungs() {
			step, err := registry().Plan(t.Context(), &strategies.Input{
				State: stepwise.state(), Policy: l.policy, Reason: manual,
			}, r.GetStrategy())
			require.NoError(t, err)
			stepwise.commit(step, textOf(10))
			did.count("step", step.GetSkipReason() == 0)
		}
		l.commit(made, textOf(10))
		requireViews(t, stepwise.state().View(session.ViewOptions{}), l.state().View(session.ViewOptions{}))
		did.count("cut", made.GetCut() != nil)
	})
	did.require(t, 5, "step", "cut")
}

func requireViews(t *rapid.T, want, got *session.View) {
	require.Len(t, got.Messages, len(want.Messages))
	for i, m := range want.Messages {
		require.True(t, proto.Equal(m.GetMessage(), got.Messages[i].GetMessage()), "message %d", i)
	}
}

// copy returns an independent copy of the log.
func (l *testLog) copy() *testLog {
	c := *l
	c.records = maps.Clone(l.records)
	c.messages, c.heads = slices.Clone(l.messages), slices.Clone(l.heads)
	return &c
}
