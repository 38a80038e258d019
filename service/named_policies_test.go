package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/policies"
)

// operators returns a set with the policies `ours`, due at 5,000 tokens, and `theirs`, due at 7,000.
func operators() policies.Set {
	due := func(preset string, tokens uint32) *compactordv1.Policy {
		return &compactordv1.Policy{Preset: &preset, Trigger: &compactordv1.Trigger{TriggerTokens: &tokens}}
	}
	return policies.Set{
		Named:       map[string]*compactordv1.Policy{"ours": due("pi", 5_000), "theirs": due("kimi", 7_000)},
		DefaultName: "ours", OfTenants: map[string]string{"b": "theirs"},
	}
}

// Sessions of each tenant begin with its default, which a policy that names another replaces.
func TestDefaultPolicyOfEachTenant(t *testing.T) {
	t.Parallel()
	d := startTenants(t, []string{"a", "b"}, func(o *service.ServerOptions) { o.Policies = operators() })
	for tenant, due := range map[string]uint32{"a": 5_000, "b": 7_000} {
		create := func(p *compactordv1.Policy) *compactordv1.Session {
			answer, err := d.sessions.CreateSession(d.as(t.Context(), tenant), &compactordv1.CreateSessionRequest{Policy: p})
			require.NoError(t, err)
			return answer.GetSession()
		}
		require.Equal(t, due, create(nil).GetResolvedPolicy().GetTrigger().GetTriggerTokens())
		partly := create(&compactordv1.Policy{ContextWindow: proto.Uint32(50_000)})
		require.Equal(t, due, partly.GetResolvedPolicy().GetTrigger().GetTriggerTokens())
		require.Equal(t, uint32(50_000), partly.GetResolvedPolicy().GetContextWindow())
		own := create(&compactordv1.Policy{Preset: proto.String("theirs"), Trigger: &compactordv1.Trigger{TargetTokens: proto.Uint32(900)}})
		require.Equal(t, "kimi", own.GetPolicy().GetPreset(), "the policy is written out")
		require.Equal(t, uint32(7_000), own.GetResolvedPolicy().GetTrigger().GetTriggerTokens())
		require.Equal(t, uint32(900), own.GetResolvedPolicy().GetTrigger().GetTargetTokens())
		changed := create(&compactordv1.Policy{Preset: proto.String("theirs"), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(8_000)}})
		require.Equal(t, uint32(8_000), changed.GetResolvedPolicy().GetTrigger().GetTriggerTokens(), "the caller changes the operator's policy")
		require.Zero(t, create(&compactordv1.Policy{Preset: proto.String("xbot")}).GetPolicy().GetTrigger().GetTriggerTokens())

		updated, err := d.sessions.UpdateSession(d.as(t.Context(), tenant), &compactordv1.UpdateSessionRequest{
			SessionId: own.GetSessionId(), UpdateMask: mask("policy"),
		})
		require.NoError(t, err)
		require.Equal(t, due, updated.GetSession().GetResolvedPolicy().GetTrigger().GetTriggerTokens())
	}
	answer, err := d.compactions.ListStrategies(d.as(t.Context(), "a"), &compactordv1.ListStrategiesRequest{ContextWindow: proto.Uint32(100_000)})
	require.NoError(t, err)
	listed := answer.GetPresets()[len(answer.GetPresets())-2:]
	require.Equal(t, "ours", listed[0].GetName())
	require.Equal(t, "theirs", listed[1].GetName())
	require.Contains(t, listed[1].GetDescription(), "based on the preset `kimi`")
	require.Equal(t, uint32(7_000), listed[1].GetPolicy().GetTrigger().GetTriggerTokens())
	require.Equal(t, uint32(100_000), listed[1].GetPolicy().GetContextWindow())
}

// Calls for one compaction take the names too, also those for histories that are not stored.
func TestNamedPolicyOfACall(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.Policies = operators() })
	d.create("s", &compactordv1.Policy{Preset: proto.String("pi")})
	d.append("s", working(30, 900)...)
	for name, due := range map[string]bool{"theirs": true, "pi": false} {
		plan, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{
			SessionId: "s", Reason: threshold, Policy: &compactordv1.Policy{
				Preset: proto.String(name), Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
					Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(1_000)},
				}},
			},
		})
		require.NoError(t, err)
		require.Equal(t, due, plan.GetPlanToken() != "", "%s: %s", name, plan.GetMessage())
	}
	_, err := d.compact(compactRequest("s", &compactordv1.Policy{Preset: proto.String("nobodys")}))
	info := requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	require.Contains(t, info.GetMetadata()["known"], "prose, ours, theirs")
	prune := &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_History{History: &compactordv1.InlineHistory{Messages: working(2, 100)}},
		Policy: &compactordv1.Policy{Preset: proto.String("ours")}, DryRun: true,
	}
	_, err = d.compactions.Prune(t.Context(), prune)
	require.NoError(t, err)
	_, err = d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_History{History: prune.GetHistory()}, Policy: prune.GetPolicy(),
	})
	require.NoError(t, err)
}

// Everybody may use the prompts of the policies that a reload brings, and sessions keep those of policies that it takes away.
func TestPromptsOfPoliciesThatAreReplaced(t *testing.T) {
	t.Parallel()
	allowances, err := allowance.New(allowance.Options{Profiles: map[string]allowance.Profile{"paid": {}}})
	require.NoError(t, err)
	o := optionsOf(t, withSummarizer(paid()), func(o *service.ServerOptions) { o.Allowances = allowances })
	s, err := service.New(o.Options)
	require.NoError(t, err)
	defer func() {
		s.Close()
		require.NoError(t, o.Store.Close())
	}()
	prompted := &compactordv1.SummaryPolicy{Summarizer: proto.String("paid"), PromptOverride: proto.String("Write a list.")}
	ctx := access.WithCaller(t.Context(), access.Caller{Tenant: "a", Role: access.Write})
	require.Error(t, allowances.Check(ctx, prompted))
	require.NoError(t, s.UsePolicies(policies.Set{Named: map[string]*compactordv1.Policy{
		"ours": {Preset: proto.String("pi"), Summary: prompted},
	}}))
	require.NoError(t, allowances.Check(ctx, prompted))
	require.NoError(t, s.UsePolicies(policies.Set{}))
	require.NoError(t, allowances.Check(ctx, prompted))
}
