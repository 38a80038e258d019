package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func summarize(recent uint32) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTokens: &recent},
	}}
}

// Messages merge by field; repeated fields and oneofs replace whole; 0 and false are values.
func TestMergePolicy(t *testing.T) {
	base := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000),
		Trigger:       &compactordv1.Trigger{Enabled: proto.Bool(true), TriggerRatio: proto.Float64(0.5)},
		Strategy:      summarize(7),
		Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("a"), ExtraContext: []string{"one", "two"}, TryTimeout: durationpb.New(1500 * time.Millisecond),
		},
	}
	override := &compactordv1.Policy{
		Trigger:       &compactordv1.Trigger{Enabled: proto.Bool(false), ReserveTokens: proto.Uint32(0)},
		Strategy:      &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}},
		Summary:       &compactordv1.SummaryPolicy{ExtraContext: []string{"three"}, TryTimeout: durationpb.New(2 * time.Second)},
		PruneStrategy: summarize(9),
	}
	want := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000),
		Trigger: &compactordv1.Trigger{
			Enabled: proto.Bool(false), TriggerRatio: proto.Float64(0.5), ReserveTokens: proto.Uint32(0),
		},
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}},
		Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String("a"), ExtraContext: []string{"three"}, TryTimeout: durationpb.New(2 * time.Second),
		},
		PruneStrategy: summarize(9),
	}
	baseBefore, overrideBefore := proto.CloneOf(base), proto.CloneOf(override)
	merged := session.MergePolicy(base, override)
	sameMessage(t, want, merged, "merged")
	merged.GetTrigger().Enabled, merged.GetSummary().ExtraContext[0] = nil, "changed"
	merged.GetPruneStrategy().Kind = nil
	sameMessage(t, baseBefore, base, "base stays as it is")
	sameMessage(t, overrideBefore, override, "override stays as it is")
}

func TestMergePolicyWithNone(t *testing.T) {
	p := &compactordv1.Policy{ContextWindow: proto.Uint32(5)}
	sameMessage(t, p, session.MergePolicy(nil, p), "over none")
	sameMessage(t, p, session.MergePolicy(p, nil), "none over it")
	sameMessage(t, &compactordv1.Policy{}, session.MergePolicy(nil, nil), "none over none")
}

func TestReserveLeavesAWindow(t *testing.T) {
	p := &compactordv1.Policy{
		ContextWindow: proto.Uint32(100), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(100)},
	}
	err := session.CheckPolicy(p)
	require.ErrorIs(t, err, session.ErrPolicy)
	var named *session.PolicyError
	require.ErrorAs(t, err, &named)
	require.Equal(t, "policy.trigger.reserve_tokens", named.Field)
	p.Trigger.ReserveTokens = proto.Uint32(99)
	require.NoError(t, session.CheckPolicy(p))
}
