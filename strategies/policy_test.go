package strategies_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

func summarize(recent uint32) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTokens: &recent},
	}}
}

func textsOf(list ...string) *compactordv1.TextList { return &compactordv1.TextList{Texts: list} }

// Messages are merged field by field; repeated fields and oneofs are replaced as a whole; 0 and false are values.
func TestMergePolicy(t *testing.T) {
	base := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000),
		Trigger:       &compactordv1.Trigger{Enabled: proto.Bool(true), TriggerRatio: proto.Float64(0.5)},
		Strategy:      summarize(7),
		Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("a"), ExtraContext: textsOf("one", "two"), TryTimeout: durationpb.New(1500 * time.Millisecond),
		},
	}
	override := &compactordv1.Policy{
		Trigger:       &compactordv1.Trigger{Enabled: proto.Bool(false), ReserveTokens: proto.Uint32(0)},
		Strategy:      &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}},
		Summary:       &compactordv1.SummaryPolicy{ExtraContext: textsOf("three"), TryTimeout: durationpb.New(2 * time.Second)},
		PruneStrategy: summarize(9),
	}
	want := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000),
		Trigger: &compactordv1.Trigger{
			Enabled: proto.Bool(false), TriggerRatio: proto.Float64(0.5), ReserveTokens: proto.Uint32(0),
		},
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}},
		Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("a"), ExtraContext: textsOf("three"), TryTimeout: durationpb.New(2 * time.Second),
		},
		PruneStrategy: summarize(9),
	}
	baseBefore, overrideBefore := proto.CloneOf(base), proto.CloneOf(override)
	merged := strategies.MergePolicy(base, override)
	requireEqual(t, want, merged)
	merged.GetTrigger().Enabled, merged.GetSummary().GetExtraContext().Texts[0] = nil, "changed"
	merged.GetPruneStrategy().Kind = nil
	requireEqual(t, baseBefore, base)
	requireEqual(t, overrideBefore, override)
}

func TestMergePolicyWithNone(t *testing.T) {
	p := &compactordv1.Policy{ContextWindow: proto.Uint32(5)}
	requireEqual(t, p, strategies.MergePolicy(nil, p))
	requireEqual(t, p, strategies.MergePolicy(p, nil))
	requireEqual(t, &compactordv1.Policy{}, strategies.MergePolicy(nil, nil))
}

func TestReserveLeavesAWindow(t *testing.T) {
	p := &compactordv1.Policy{
		ContextWindow: proto.Uint32(100), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(100)},
	}
	err := strategies.CheckPolicy(p)
	require.ErrorIs(t, err, strategies.ErrPolicy)
	var named *strategies.PolicyError
	require.ErrorAs(t, err, &named)
	require.Equal(t, "policy.trigger.reserve_tokens", named.Field)
	p.Trigger.ReserveTokens = proto.Uint32(99)
	require.NoError(t, strategies.CheckPolicy(p))
}

// An empty list replaces an earlier one: `on_append: []` once left the preset's list in effect. So every list that is
// merged is in a message of its own.
func TestEmptyListReplacesTheOneBefore(t *testing.T) {
	lists := listsOf((&compactordv1.Policy{}).ProtoReflect().Descriptor())
	require.ElementsMatch(t, []string{
		"file_tools.tools", "on_append.strategies", "on_user_message.strategies", "summary.extra_context.texts",
		"summary.sections.sections",
	}, slices.Collect(maps.Keys(lists)))
	for name, path := range lists {
		require.Greater(t, len(path), 1, "%s: whether it is given cannot be told", name)
		base, override := &compactordv1.Policy{}, &compactordv1.Policy{}
		list := messageAt(base, path).Mutable(path[len(path)-1]).List()
		if path[len(path)-1].Message() == nil {
			list.Append(protoreflect.ValueOfString("one"))
		} else {
			list.AppendMutable()
		}
		messageAt(override, path)
		merged := strategies.MergePolicy(base, override)
		require.True(t, messageAt(merged, path[:len(path)-1]).Has(path[len(path)-2]), "%s is given", name)
		require.Zero(t, messageAt(merged, path).Get(path[len(path)-1]).List().Len(), "%s is empty", name)
		kept := strategies.MergePolicy(base, &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{}})
		require.Equal(t, 1, messageAt(kept, path).Get(path[len(path)-1]).List().Len(), "%s is not given", name)
	}
}

// listsOf returns the lists of a message that are merged, each with the path of fields to it. A oneof is replaced as a
// whole, so its lists are not included.
func listsOf(m protoreflect.MessageDescriptor) map[string][]protoreflect.FieldDescriptor {
	lists := make(map[string][]protoreflect.FieldDescriptor)
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		switch choice := f.ContainingOneof(); {
		case choice != nil && !choice.IsSynthetic():
		case f.IsList():
			lists[string(f.Name())] = []protoreflect.FieldDescriptor{f}
		case f.Message() != nil:
			for name, path := range listsOf(f.Message()) {
				lists[string(f.Name())+"."+name] = append([]protoreflect.FieldDescriptor{f}, path...)
			}
		}
	}
	return lists
}

// messageAt returns the message that contains the last field of a path. It sets the messages on the way.
func messageAt(p *compactordv1.Policy, path []protoreflect.FieldDescriptor) protoreflect.Message {
	m := p.ProtoReflect()
	for _, f := range path[:len(path)-1] {
		m = m.Mutable(f).Message()
	}
	return m
}
