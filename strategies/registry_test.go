package strategies_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// fake is a custom strategy.
type fake struct {
	name string
	plan func(parameters *compactordv1.Strategy) (*compactordv1.CompactionPlan, error)
}

func (f fake) Name() string { return f.name }

func (f fake) Plan(
	_ context.Context, _ *strategies.Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	return f.plan(parameters)
}

func custom(name string) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Custom{
		Custom: &compactordv1.CustomStrategy{Name: name, ParametersJson: `{"n":1}`},
	}}
}

func TestRegistryNames(t *testing.T) {
	t.Parallel()
	registry, err := strategies.NewRegistry(append(strategies.Builtin(), fake{name: "mine"})...)
	require.NoError(t, err)
	require.Len(t, registry.Names(), len(strategies.Builtin())+1)
	require.Contains(t, registry.Names(), "mine")
	require.IsIncreasing(t, registry.Names())
	for _, name := range registry.Names() {
		s, err := registry.Get(name)
		require.NoError(t, err)
		require.Equal(t, name, s.Name())
	}
	_, err = registry.Get("yours")
	require.ErrorIs(t, err, strategies.ErrUnknown)
	require.ErrorContains(t, err, `"yours"; there are `+strings.Join(registry.Names(), ", "))
}

func TestRegistryRefusesNames(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]strategies.Strategy{
		"two of one name":        {fake{name: "mine"}, fake{name: "mine"}},
		"one of a builtin's":     append(strategies.Builtin(), fake{name: "summarize"}),
		"no name":                {fake{}},
		"the name of the choice": {fake{name: "custom"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := strategies.NewRegistry(list...)
			require.Error(t, err)
		})
	}
}

func TestRegistryPicks(t *testing.T) {
	t.Parallel()
	answer := &compactordv1.CompactionPlan{Chunks: 7}
	answers := func(*compactordv1.Strategy) (*compactordv1.CompactionPlan, error) { return answer, nil }
	// A registry need not have our strategies: a daemon may register another one under a name of the contract.
	ladder := fake{name: "ladder", plan: answers}
	mine := fake{name: "mine", plan: func(p *compactordv1.Strategy) (*compactordv1.CompactionPlan, error) {
		require.JSONEq(t, `{"n":1}`, p.GetCustom().GetParametersJson())
		return answer, nil
	}}
	for _, c := range []struct {
		name       string
		parameters *compactordv1.Strategy
		want       error
		text       string
	}{
		{"one of ours", summarizing(nil), nil, ""},
		{"one that is registered", custom("mine"), nil, ""},
		{"one of the contract that is registered", &compactordv1.Strategy{
			Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{}},
		}, nil, ""},
		{"one that nobody registered", custom("yours"), strategies.ErrUnknown, `"yours"; there are ladder, mine`},
		{"one of ours by a detour", custom("summarize"), strategies.ErrUnknown, "by the field of that name"},
		{"one of the contract that is not built", &compactordv1.Strategy{
			Kind: &compactordv1.Strategy_MaskObservations{MaskObservations: &compactordv1.MaskObservationsStrategy{}},
		}, strategies.ErrNotImplemented, "strategy.mask_observations"},
		{"none", &compactordv1.Strategy{}, strategies.ErrUnknown, "no strategy is named"},
		{"nil", nil, strategies.ErrUnknown, "no strategy is named"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			registry, err := strategies.NewRegistry(strategies.Summarize{}, ladder, mine)
			require.NoError(t, err)
			l := newLog()
			plan, err := registry.Plan(t.Context(), &strategies.Input{State: l.state(), Policy: l.policy}, c.parameters)
			require.ErrorIs(t, registry.Supports(c.parameters), c.want)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.ErrorContains(t, err, c.text)
				require.Nil(t, plan)
				return
			}
			require.NotNil(t, plan)
		})
	}
}

func TestEveryKindOfTheContractIsKnownOrNotImplemented(t *testing.T) {
	t.Parallel()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	var parameters compactordv1.Strategy
	kinds := parameters.ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	built := 0
	for i := range kinds.Len() {
		m := (&compactordv1.Strategy{}).ProtoReflect()
		m.Set(kinds.Get(i), m.NewField(kinds.Get(i)))
		s, ok := m.Interface().(*compactordv1.Strategy)
		require.True(t, ok)
		switch err := registry.Supports(s); {
		case err == nil:
			built++
		case kinds.Get(i).Name() == "custom":
			require.ErrorIs(t, err, strategies.ErrUnknown)
		default:
			require.ErrorIs(t, err, strategies.ErrNotImplemented)
			require.ErrorContains(t, err, "strategy."+string(kinds.Get(i).Name())+":")
		}
	}
	require.Equal(t, len(strategies.Builtin()), built)
}

func TestRegistryGuards(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	registry, err := strategies.NewRegistry(
		fake{"panics", func(*compactordv1.Strategy) (*compactordv1.CompactionPlan, error) { panic("a secret") }},
		fake{"fails", func(*compactordv1.Strategy) (*compactordv1.CompactionPlan, error) {
			return &compactordv1.CompactionPlan{}, broken
		}},
		fake{"says_nothing", func(*compactordv1.Strategy) (*compactordv1.CompactionPlan, error) { return nil, nil }},
	)
	require.NoError(t, err)
	run := func(name string) error {
		plan, err := registry.Plan(t.Context(), &strategies.Input{State: newLog().state()}, custom(name))
		require.Nil(t, plan)
		return err
	}

	var panicked *strategies.PanicError
	err = run("panics")
	require.ErrorAs(t, err, &panicked)
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, "a secret", panicked.Value)
	require.Contains(t, string(panicked.Stack), "TestRegistryGuards")

	err = run("fails")
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, `"fails"`)

	require.ErrorContains(t, run("says_nothing"), "neither a plan nor an error")
}

func TestPlanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	l := newLog().script("U T2 R100 T2 R100")
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	why := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, parameters := range []*compactordv1.Strategy{
		summarizing(keepTokens(100)), pruneTools(pruneAll()), hideTools(keepGroups(0)), mask(masking(1)),
		clearUses(clearing(0)),
	} {
		plan, err := registry.Plan(ctx, in, parameters)
		require.ErrorIs(t, err, why)
		require.Nil(t, plan)
	}
}

// countdown is a context that ends after it was asked a number of times.
type countdown struct {
	// value is Value of an ended context, which holds its cause.
	value func(key any) any
	left  int
}

func (*countdown) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

func (*countdown) Done() <-chan struct{} { return nil }

func (c *countdown) Value(key any) any { return c.value(key) }

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestPlanStopsWithinOneMessage(t *testing.T) {
	t.Parallel()
	l := newLog().script("U")
	for range 100 {
		l.script("T2 R100")
	}
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	for _, c := range []struct {
		strategy   strategies.Strategy
		parameters *compactordv1.Strategy
		// asked is how often a whole run asks at least.
		asked int
	}{
		{strategies.Summarize{}, summarizing(keepTokens(1_000_000)), 201},
		{strategies.PruneToolOutputs{}, pruneTools(pruneAll()), 301},
		{strategies.HideToolResults{}, hideTools(keepGroups(0)), 201},
		{strategies.MaskObservations{}, mask(&compactordv1.MaskObservationsStrategy{
			KeepGroups: proto.Uint32(1), ActiveFileGroups: proto.Uint32(100),
		}), 400},
		{strategies.ClearToolUses{}, clearUses(clearing(0)), 100},
	} {
		t.Run(c.strategy.Name(), func(t *testing.T) {
			t.Parallel()
			for left := range c.asked {
				parent, cancel := context.WithCancel(t.Context())
				cancel()
				ctx := &countdown{value: parent.Value, left: left}
				plan, err := c.strategy.Plan(ctx, in, c.parameters)
				require.ErrorIs(t, err, context.Canceled, "asked %d times", left)
				require.Nil(t, plan)
				// Once to see that it has ended, once more for its cause.
				require.GreaterOrEqual(t, ctx.left, -2, "it went on after the context had ended")
			}
		})
	}
}
