package strategies_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

type plan = compactordv1.CompactionPlan

func registry() *strategies.Registry {
	r, err := strategies.NewRegistry(strategies.Builtin()...)
	if err != nil {
		panic(err)
	}
	return r
}

// nesting are the strategies that only run others. They keep what those keep.
var nesting = []string{"first_effective", "ladder"}

// parametersOf draws a strategy with parameters. Each strategy has a generator, so that none is forgotten.
func parametersOf(t *rapid.T) *compactordv1.Strategy {
	names := slices.DeleteFunc(registry().Names(), func(name string) bool { return slices.Contains(nesting, name) })
	// A cut changes the input of the others, and its effect depends on more.
	names = append(names, "summarize", "summarize", "summarize")
	// It finds something to do less often than the others.
	names = append(names, "fold_subtasks", "fold_subtasks")
	return map[string]func(*rapid.T) *compactordv1.Strategy{
		"summarize":             summarizeOf,
		"hide_tool_results":     hideOf,
		"mask_observations":     maskOf,
		"prune_tool_outputs":    pruneOf,
		"clear_tool_uses":       clearOf,
		"truncate_tool_outputs": truncateOf,
		"offload":               offloadOf,
		"strip_media":           stripOf,
		"drop_thinking":         dropOf,
		"compress_observations": compressOf,
		"fold_subtasks":         foldSubtasksOf,
		"dialogue_only":         collapsingOf,
	}[names[dice(t, len(names))]](t)
}

func optional(t *rapid.T, label string, least, most uint32) *uint32 {
	if rapid.Bool().Draw(t, "no "+label) {
		return nil
	}
	return proto.Uint32(rapid.Uint32Range(least, most).Draw(t, label))
}

func summarizeOf(t *rapid.T) *compactordv1.Strategy {
	p := &compactordv1.SummarizeStrategy{
		RecentTokens: optional(t, "recent_tokens", 0, 3000),
		Budget:       new(rapid.SampledFrom([]compactordv1.BudgetRule{0, 1, 2}).Draw(t, "budget")),
		SplitTurn:    new(rapid.SampledFrom([]compactordv1.SplitTurn{0, 1, 2, 3}).Draw(t, "split_turn")),
	}
	if rapid.IntRange(0, 3).Draw(t, "other rules") == 0 {
		p.RecentTurns = optional(t, "recent_turns", 1, 5)
		p.RecentMessages = optional(t, "recent_messages", 1, 10)
		p.RecentToolGroups = optional(t, "recent_tool_groups", 1, 5)
	}
	return summarizing(p)
}

func hideOf(t *rapid.T) *compactordv1.Strategy {
	return hideTools(&compactordv1.HideToolResultsStrategy{
		KeepGroups: optional(t, "keep_groups", 0, 4), KeepMessages: optional(t, "keep_messages", 0, 8),
		MinimumTokens: minimumOf(t), MinChars: optional(t, "min_chars", 0, 900),
		ProtectedTools: protectedOf(t), ClearArguments: clearArgumentsOf(t), Placeholder: placeholderOf(t),
	})
}

func maskOf(t *rapid.T) *compactordv1.Strategy {
	p := &compactordv1.MaskObservationsStrategy{
		ActiveFileGroups: optional(t, "active_file_groups", 0, 3),
		MinimumTokens:    minimumOf(t), MinChars: optional(t, "min_chars", 0, 900),
		ProtectedTools: protectedOf(t), ClearArguments: clearArgumentsOf(t), Placeholder: placeholderOf(t),
	}
	if rapid.Bool().Draw(t, "by groups") {
		p.KeepGroups = optional(t, "keep_groups", 0, 4)
	} else {
		p.KeepTurns = optional(t, "keep_turns", 0, 4)
	}
	return mask(p)
}

func clearOf(t *rapid.T) *compactordv1.Strategy {
	return clearUses(&compactordv1.ClearToolUsesStrategy{
		KeepCalls: optional(t, "keep_calls", 0, 4), TriggerTokens: proto.Uint32(rapid.SampledFrom([]uint32{0, 100, 2000}).Draw(t, "trigger")),
		MinimumTokens: minimumOf(t), MinChars: optional(t, "min_chars", 0, 900),
		ProtectedTools: protectedOf(t), ClearArguments: clearArgumentsOf(t), Placeholder: placeholderOf(t),
	})
}

// minimums are the minimum_tokens that are drawn: some are often reached, and some are not.
var minimums = []uint32{0, 30, 200, 1000, 5000}

func minimumOf(t *rapid.T) *uint32 {
	if rapid.Bool().Draw(t, "no minimum") {
		return nil
	}
	return proto.Uint32(rapid.SampledFrom(minimums).Draw(t, "minimum"))
}

func clearArgumentsOf(t *rapid.T) *bool { return new(rapid.Bool().Draw(t, "clear_arguments")) }

func placeholderOf(t *rapid.T) *string {
	return rapid.SampledFrom([]*string{nil, proto.String("[gone]"), proto.String("{tool} {index}")}).Draw(t, "placeholder")
}

func protectedOf(t *rapid.T) []string {
	if rapid.Bool().Draw(t, "protects a tool") {
		return []string{"read"}
	}
	return nil
}

func pruneOf(t *rapid.T) *compactordv1.Strategy {
	p := &compactordv1.PruneToolOutputsStrategy{
		KeepTokens:     proto.Uint32(rapid.SampledFrom([]uint32{0, 1, 30, 200, 1000}).Draw(t, "keep_tokens")),
		MinimumTokens:  proto.Uint32(rapid.SampledFrom(minimums).Draw(t, "minimum_tokens")),
		MinChars:       optional(t, "min_chars", 0, 900),
		ProtectedTools: protectedOf(t), ClearArguments: clearArgumentsOf(t), Placeholder: placeholderOf(t),
	}
	if rapid.Bool().Draw(t, "by groups") {
		p.KeepGroups = proto.Uint32(rapid.Uint32Range(0, 3).Draw(t, "keep_groups"))
	} else {
		p.KeepTurns = proto.Uint32(rapid.Uint32Range(0, 3).Draw(t, "keep_turns"))
	}
	return pruneTools(p)
}

// seen counts what the plans of a test did, so that a strategy which never did anything does not pass.
type seen map[string]int

func (s seen) count(what string, yes bool) {
	if yes {
		s[what]++
	}
}

func (s seen) require(t *testing.T, least int, all ...string) {
	t.Helper()
	for _, what := range all {
		require.GreaterOrEqual(t, s[what], least, what)
	}
}

// checkRounds checks a rule often enough for rare cases to occur with any seed. Short rounds, which have a fifth of the
// checks, are checked more often.
func checkRounds(t *testing.T, rule func(*rapid.T)) {
	t.Helper()
	rounds := 5
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		rapid.Check(t, rule)
	}
}

func TestEveryPlanKeepsTheRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l := generate(t)
		for range 10 {
			requireRules(t, l, parametersOf(t), did)
			for range dice(t, 4) {
				step(t, l)
			}
		}
	})
	did.require(t, 10, "cut", "split", "edits", nothing.String(), already.String(), tooFew.String())
	did.require(t, 3, "folds")
}

// requireRules plans, and carries out the plan.
func requireRules(t *rapid.T, l *testLog, parameters *compactordv1.Strategy, did seen) {
	in := l.input()
	before, asked := snapshot(in.State), proto.CloneOf(parameters)
	made, err := registry().Plan(t.Context(), in, parameters)
	require.NoError(t, err)

	require.NoError(t, strategies.Check(in, made))
	require.Equal(t, before, snapshot(in.State), "the input was changed")
	require.True(t, proto.Equal(asked, parameters), "the parameters were changed")
	unknown := l.input()
	unknown.State.Known = nil
	again, err := registry().Plan(t.Context(), unknown, parameters)
	require.NoError(t, err)
	require.True(t, proto.Equal(made, again), "the same state gave another plan where nothing is remembered of its messages")

	outlines := l.input()
	outlines.State = sessiontest.OutlinedWith(outlines.State, strategies.OutlineFacts)
	outlined, err := registry().Plan(t.Context(), outlines, parameters)
	require.NoError(t, err)
	require.True(t, proto.Equal(made, outlined), "outlines gave another plan: %v, not %v", outlined, made)

	does := made.GetCut() != nil || len(made.GetEdits()) > 0
	require.Equal(t, does, made.GetSkipReason() == 0)
	require.Equal(t, in.State.Head.GetViewTokens(), made.GetTokensBefore())
	requireWhole(t, in.State, made)

	l.commit(made, "")
	rest, err := registry().Plan(t.Context(), l.input(), parameters)
	require.NoError(t, err)
	require.Nil(t, rest.GetCut(), "cut again")
	require.Empty(t, rest.GetEdits(), "edited again")
	require.NotZero(t, rest.GetSkipReason())

	did.count("cut", made.GetCut() != nil)
	did.count("split", made.GetCut() != nil && made.GetCut().SplitTurnStart != nil)
	did.count("edits", len(made.GetEdits()) > 0)
	did.count("folds", len(made.GetEdits()) > 0 && made.GetEdits()[0].GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD)
	did.count(made.GetSkipReason().String(), true)
}

// requireWhole checks each result alone: its call is on the same side of the cut, and is closed if it is before the
// cut.
func requireWhole(t *rapid.T, s *session.State, made *plan) {
	c := made.GetCut()
	if c == nil {
		return
	}
	first := c.GetFirstKeptIndex()
	for _, l := range s.Kept {
		if l.GetIndex() == first {
			require.Contains(t, []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT},
				l.GetMessage().GetRole())
		}
		if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && l.GetIndex() >= first {
			require.GreaterOrEqual(t, l.GetAnswers().GetIndex(), first)
		}
		for _, call := range l.GetCloses() {
			require.True(t, l.GetIndex() <= first || call.GetIndex() >= first, "a missing result stands alone")
		}
	}
	for _, open := range s.Head.GetOpenCalls() {
		require.GreaterOrEqual(t, open.GetIndex(), first)
	}
}

// snapshot returns a whole state as bytes.
func snapshot(s *session.State) [][]byte {
	var all [][]byte
	add := func(m proto.Message) {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			panic(err)
		}
		all = append(all, b)
	}
	add(s.Head)
	add(s.Policy)
	for _, l := range slices.Concat(s.Lead, s.OutOfPlace, s.Kept) {
		add(l)
		for _, e := range s.Edits[l.GetIndex()] {
			add(e)
		}
	}
	return all
}

// The budget, computed independently of the code: by what is kept from each place on.
func TestBudgetRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l := generate(t)
		s := l.state()
		budget := []uint64{0, 1, 10, 100, 500, 2000}[dice(t, 6)]
		atMost := dice(t, 2) == 0
		p := keepTokens(uint32(budget))
		if atMost {
			p = keepAtMost(uint32(budget))
		}
		made, err := strategies.Summarize{}.Plan(t.Context(), &strategies.Input{State: s, Policy: l.policy}, summarizing(p))
		require.NoError(t, err)

		keptFrom := func(pos int) uint64 {
			var sum uint64
			for _, m := range s.Kept[pos:] {
				sum += uint64(m.GetTokens())
			}
			return sum
		}
		places := s.CutPlaces()
		late := slices.DeleteFunc(slices.Clone(places), func(pos int) bool {
			if atMost {
				return keptFrom(pos) > budget
			}
			// The place is too early if the budget is reached without the message there, unless it is the last message.
			return pos < len(s.Kept)-1 && keptFrom(pos+1) >= budget
		})
		want := 0
		switch {
		case len(places) == 0:
		case len(late) == 0:
			want = places[len(places)-1]
		default:
			want = late[0]
		}
		if made.GetCut() == nil {
			did.count("nothing", true)
			return
		}
		require.Equal(t, s.Kept[want].GetIndex(), made.GetCut().GetFirstKeptIndex())
		did.count("at most", atMost)
		did.count("at least", !atMost)
		did.count("no place behind", len(late) == 0)
	})
	did.require(t, 2, "nothing", "at most", "at least", "no place behind")
}

func TestPruneRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	rule := func(t *rapid.T) {
		l, parameters := generate(t), pruneOf(t)
		s, p := l.state(), parameters.GetPruneToolOutputs()
		made, err := strategies.PruneToolOutputs{}.Plan(t.Context(), &strategies.Input{State: s, Policy: l.policy}, parameters)
		require.NoError(t, err)
		o, hidden := observe(s), hiddenIn(made)
		if len(made.GetEdits()) == 0 {
			return
		}

		var of, newer uint64
		var freed uint32
		for _, m := range slices.Backward(s.Kept) {
			if !slices.Contains(hidden, m.GetIndex()) {
				continue
			}
			of += uint64(o.tokens(m))
			require.Equal(t, compactordv1.ResultPlace_RESULT_PLACE_ANSWER, m.GetResultPlace())
			require.False(t, session.Pinned(s.Head, m.GetIndex()))
			require.True(t, o.mayBeHidden(m, nil))
			require.NotContains(t, p.GetProtectedTools(), m.GetAnswers().GetName())
			for _, open := range s.Head.GetOpenCalls() {
				require.NotEqual(t, open.GetIndex(), m.GetAnswers().GetIndex(), "the group is open")
			}
			if newer == 0 {
				newer = 1
				require.Greater(t, resultTokensFrom(s, m.GetIndex()), uint64(p.GetKeepTokens()))
			}
		}
		require.Greater(t, of+argumentTokens(s, made), uint64(p.GetMinimumTokens()))

		for _, e := range made.GetEdits() {
			freed += e.GetTokensFreed()
		}
		l.commit(made, "")
		require.Equal(t, made.GetTokensBefore()-freed, l.state().View(session.ViewOptions{}).Tokens)
		did.count("hidden", true)
		did.count("cleared", len(made.GetEdits()) > len(hidden))
	}
	checkRounds(t, rule)
	did.require(t, 3, "hidden", "cleared")
}

// argumentTokens sums the arguments that a plan clears.
func argumentTokens(s *session.State, plan *compactordv1.CompactionPlan) uint64 {
	var sum uint64
	for _, e := range plan.GetEdits() {
		if e.GetKind() != compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS {
			continue
		}
		for _, l := range s.Kept {
			if l.GetIndex() == e.GetIndex() {
				arguments := l.GetMessage().GetParts()[e.GetPart()].GetToolCall().GetArguments()
				sum += uint64(session.TextTokens(s.Counter, arguments))
			}
		}
	}
	return sum
}

// resultTokensFrom sums all results from an index on, protected or not.
func resultTokensFrom(s *session.State, index uint32) uint64 {
	var sum uint64
	for _, m := range s.Kept {
		if m.GetIndex() >= index && m.GetMessage().GetRole() == compactordv1.Role_ROLE_TOOL {
			sum += uint64(m.GetTokens())
		}
	}
	return sum
}

func TestCancelledPlansReturnTheCause(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	rapid.Check(t, func(t *rapid.T) {
		l := generate(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		made, err := registry().Plan(ctx, &strategies.Input{State: l.state(), Policy: l.policy}, parametersOf(t))
		require.ErrorIs(t, err, why)
		require.Nil(t, made)
	})
}

// Whatever plan comes from outside, nothing panics, and a plan that passes does what it says.
func TestCheckOfArbitraryPlans(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l := generate(t)
		for range 30 {
			requireVerdictOf(t, l, arbitraryPlan(t, l), did)
		}
	})
	did.require(t, 5, "refused", "cut accepted",
		compactordv1.EditKind_EDIT_KIND_HIDE_RESULT.String(),
		compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS.String(),
		compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP.String())
}

func requireVerdictOf(t *rapid.T, l *testLog, made *plan, did seen) {
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	if err := strategies.Check(in, made); err != nil {
		require.ErrorIs(t, err, strategies.ErrInvalidPlan)
		did.count("refused", true)
		return
	}
	requireWhole(t, in.State, made)
	did.count("cut accepted", made.GetCut() != nil)
	byOthers := slices.ContainsFunc(made.GetEdits(), (*compactordv1.Edit).GetBySummarizer)
	if made.GetCut() != nil || len(made.GetEdits()) == 0 || byOthers {
		return
	}
	l.commit(made, "")
	require.Less(t, l.head().GetViewTokens(), in.State.Head.GetViewTokens())
	for _, e := range made.GetEdits() {
		did.count(e.GetKind().String(), true)
	}
}

func arbitraryPlan(t *rapid.T, l *testLog) *plan {
	index := rapid.Custom(func(t *rapid.T) uint32 {
		if dice(t, 20) == 0 {
			return rapid.Uint32().Draw(t, "any")
		}
		if kept := l.state().Kept; len(kept) > 0 && dice(t, 4) > 0 {
			return kept[dice(t, len(kept))].GetIndex()
		}
		return uint32(dice(t, len(l.messages)+2))
	})
	made := &plan{}
	if dice(t, 3) == 0 {
		first := index.Draw(t, "first kept")
		made.Cut = &compactordv1.Cut{
			FirstKeptIndex:   first,
			Summarized:       &compactordv1.IndexRange{Start: session.KeptFrom(l.head()), End: first},
			MaxSummaryTokens: rapid.Uint32().Draw(t, "budget"),
		}
		switch dice(t, 10) {
		case 0:
			made.Cut.Summarized = nil
		case 1:
			made.Cut.Summarized.Start = index.Draw(t, "start")
		case 2:
			made.Cut.Summarized.End = index.Draw(t, "end")
		case 3, 4:
			made.Cut.SplitTurnStart = proto.Uint32(index.Draw(t, "split"))
		}
	}
	if dice(t, 20) == 0 {
		made.SkipReason = nothing
	}
	for range dice(t, 3) {
		made.Edits = append(made.Edits, arbitraryEdit(t, l, index))
	}
	return made
}

func arbitraryEdit(t *rapid.T, l *testLog, index *rapid.Generator[uint32]) *compactordv1.Edit {
	if dice(t, 20) == 0 {
		return nil
	}
	texts := []string{"", "gone", "{}", `{"gone":true}`, "null", textOf(500)}
	e := &compactordv1.Edit{
		Index:        index.Draw(t, "index"),
		Part:         rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32Range(0, 3), rapid.Uint32()).Draw(t, "part"),
		Kind:         compactordv1.EditKind(dice(t, 11) - 1),
		Replacement:  texts[dice(t, len(texts))],
		BySummarizer: dice(t, 10) == 0,
	}
	if dice(t, 2) == 0 && int64(e.GetIndex()) < int64(len(l.messages)) {
		// An edit that mostly fits.
		e.Part, e.BySummarizer, e.Replacement = 0, false, "{}"
		switch l.messages[e.GetIndex()].GetMessage().GetRole() {
		case compactordv1.Role_ROLE_TOOL:
			e.Kind = compactordv1.EditKind_EDIT_KIND_HIDE_RESULT
		case compactordv1.Role_ROLE_ASSISTANT:
			e.Kind = []compactordv1.EditKind{
				compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP,
			}[dice(t, 2)]
		default:
		}
	}
	return e
}
