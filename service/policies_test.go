package service_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// contradictory returns invalid policies by the field that is wrong.
func contradictory() map[string]*compactordv1.Policy {
	return map[string]*compactordv1.Policy{
		"policy.trigger.reserve_tokens": {
			ContextWindow: proto.Uint32(20_000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(20_000)},
		},
		"policy.trigger.target_tokens": {
			ContextWindow: proto.Uint32(20_000), Trigger: &compactordv1.Trigger{TargetTokens: proto.Uint32(15_000)},
		},
	}
}

// A policy that contradicts itself is refused in every request, and changes nothing.
func TestContradictoryPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	before := d.create("s", small(1000))
	d.append("s", working(3, 500)...)
	for field, policy := range contradictory() {
		_, create := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "new", Policy: policy})
		_, update := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", Policy: policy, UpdateMask: mask("policy"),
		})
		_, compact := d.compact(compactRequest("s", policy))
		_, prune := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: policy,
		})
		for _, err := range []error{create, update, compact, prune} {
			info := requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
			require.Equal(t, field, info.GetMetadata()["field"])
		}
	}
	after, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.True(t, proto.Equal(before.GetResolvedPolicy(), after.GetSession().GetResolvedPolicy()))
}

func TestCase037RatioOutOfRange(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, ratio := range []float64{0, -0.5, 1.01, 85, math.NaN(), math.Inf(1)} {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			SessionId: "s", Policy: &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerRatio: &ratio}},
		})
		requireInvalid(t, err, "policy.trigger.trigger_ratio", "trigger_ratio")
	}
	for _, ratio := range []float64{0.01, 0.49, 1} {
		taken := d.create("", &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerRatio: &ratio}})
		require.InDelta(t, ratio, taken.GetResolvedPolicy().GetTrigger().GetTriggerRatio(), 0)
	}
}

// Seed cases 32 and 41: a reserve that leaves nothing of the context window is refused, with the field.
func TestReserveAtOrAboveTheWindowIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(1000)},
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
	require.ErrorContains(t, err, "reserve_tokens")
	policy.Trigger.ReserveTokens = proto.Uint32(999)
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	require.NoError(t, err)
}

// Seed case 41: opencode's policy for a context window that the answer fills was accepted, and compaction never due.
func TestCase041OpencodeWithNothingUsableIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := &compactordv1.Policy{
		Preset: proto.String("opencode"), ContextWindow: proto.Uint32(8_000), MaxOutputTokens: proto.Uint32(8_000),
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: policy})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
	require.ErrorContains(t, err, "policy.max_output_tokens: of the 8000 tokens that a request can hold")
	policy.MaxOutputTokens = proto.Uint32(7_999)
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s", Policy: policy})
	require.NoError(t, err)
	policy.MaxOutputTokens = proto.Uint32(8_000)
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
}

// Where a policy is chosen, the answer says that it never compacts.
func TestPolicyThatNeverCompactsIsWarnedOf(t *testing.T) {
	t.Parallel()
	d := start(t)
	klaude := &compactordv1.Policy{
		Preset: proto.String("klaude"), ContextWindow: proto.Uint32(32_000), MaxOutputTokens: proto.Uint32(32_000),
	}
	created, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s", Policy: klaude})
	require.NoError(t, err)
	require.Equal(t, "policy.max_output_tokens", created.GetWarnings()[0].GetField())
	require.Contains(t, created.GetWarnings()[0].GetText(), "never compacts")

	klaude.MaxOutputTokens = nil
	updated, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Policy: klaude, UpdateMask: mask("policy"),
	})
	require.NoError(t, err)
	require.Empty(t, updated.GetWarnings())

	klaude.MaxOutputTokens = proto.Uint32(32_000)
	updated, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Policy: klaude, UpdateMask: mask("policy"),
	})
	require.NoError(t, err)
	require.Len(t, updated.GetWarnings(), 1)
	forked, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.Len(t, forked.GetWarnings(), 1)

	klaude.Trigger = &compactordv1.Trigger{Enabled: proto.Bool(false)}
	updated, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Policy: klaude, UpdateMask: mask("policy"),
	})
	require.NoError(t, err)
	require.Empty(t, updated.GetWarnings(), "the caller disabled it")
}

// A policy that is too large is refused before its rules are evaluated, wherever a request can have one.
func TestPolicyThatIsTooLarge(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", working(3, 100)...)
	tools := &compactordv1.FileTools{}
	for range 1000 {
		tools.Tools = append(tools.Tools, &compactordv1.FileTool{
			Names: []string{strings.Repeat("n", 240)}, PathArguments: []string{"p"},
		})
	}
	large := &compactordv1.Policy{FileTools: tools}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: large})
	requireInvalid(t, err, "policy.file_tools.tools", "more than 64 KiB")
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Policy: large, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
	})
	requireInvalid(t, err, "policy.file_tools.tools", "more than 64 KiB")
	_, err = d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: large,
	})
	requireInvalid(t, err, "policy.file_tools.tools", "more than 64 KiB")
	_, err = d.compact(compactRequest("s", large))
	requireInvalid(t, err, "policy.file_tools.tools", "more than 64 KiB")
	req := historyTarget(&compactordv1.InlineHistory{Messages: working(3, 100)})
	req.Policy = large
	_, err = d.compactions.GetLLMView(t.Context(), req)
	requireInvalid(t, err, "policy.file_tools.tools", "more than 64 KiB")
}
