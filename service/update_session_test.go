package service_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestUpdateOfOneFieldOfThePolicy(t *testing.T) {
	t.Parallel()
	d := start(t)
	prompt := &compactordv1.SummaryPolicy{PromptOverride: proto.String("Keep names.")}
	d.create("s", &compactordv1.Policy{Preset: proto.String("pi"), ContextWindow: proto.Uint32(100_000), Summary: prompt})
	answer, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy.context_window", "policy.summary", "title"), Title: "told",
		// The overhead is not in the mask. The summary is, and not set.
		Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(50_000), OverheadTokens: proto.Uint32(7)},
	})
	require.NoError(t, err)
	want := &compactordv1.Policy{Preset: proto.String("pi"), ContextWindow: proto.Uint32(50_000)}
	requireSamePolicy(t, want, answer.GetSession().GetPolicy())
	require.Equal(t, uint32(50_000), answer.GetSession().GetResolvedPolicy().GetContextWindow())
	require.Equal(t, "told", answer.GetSession().GetTitle())
	requireSamePolicy(t, want, d.lastRecord("s").GetPolicyChange().GetGiven())

	// The whole policy is what a warning is about.
	answer, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy.preset", "policy.max_output_tokens"),
		Policy: &compactordv1.Policy{Preset: proto.String("klaude"), MaxOutputTokens: proto.Uint32(50_000)},
	})
	require.NoError(t, err)
	require.Contains(t, answer.GetWarnings()[0].GetText(), "never compacts")
}

// Each changes a field of its own, and none is lost.
func TestUpdatesOfFieldsAtOnce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	fields := map[string]*compactordv1.Policy{
		"policy.context_window":    {ContextWindow: proto.Uint32(50_000)},
		"policy.max_output_tokens": {MaxOutputTokens: proto.Uint32(5_000)},
		"policy.max_input_tokens":  {MaxInputTokens: proto.Uint32(45_000)},
		"policy.overhead_tokens":   {OverheadTokens: proto.Uint32(500)},
	}
	var done sync.WaitGroup
	for field, policy := range fields {
		done.Go(func() {
			_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
				SessionId: "s", UpdateMask: mask(field), Policy: policy,
			})
			require.NoError(t, err)
		})
	}
	done.Wait()
	requireSamePolicy(t, &compactordv1.Policy{
		ContextWindow: proto.Uint32(50_000), MaxOutputTokens: proto.Uint32(5_000), MaxInputTokens: proto.Uint32(45_000),
		OverheadTokens: proto.Uint32(500),
	}, d.session("s").GetSession().GetPolicy())
}

func TestMasksOfUpdates(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for name, paths := range map[string][]string{
		"0":          {"uid"},
		"1":          {"policy", "policy.context_window"},
		"1: twice":   {"policy.thinking", "policy.thinking"},
		"0: unknown": {"policy.window"},
		"0: deeper":  {"policy.trigger.ratio"},
		"0: nothing": {"policy."},
	} {
		if name == "0: nothing" && callsWithJSON() {
			t.Log("not as JSON: a client of protobuf does not write a path that ends with a dot; TestHostileJSON sends it")
			continue
		}
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", UpdateMask: mask(paths...), Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(1)},
		})
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.ErrorContains(t, err, "update_mask.paths["+name[:1]+"]", paths)
	}
	require.Zero(t, d.session("s").GetSession().GetPolicy().GetContextWindow())
}

// Field by field, a policy cannot grow beyond what one request can give.
func TestPoliciesDoNotGrowByUpdates(t *testing.T) {
	t.Parallel()
	d := start(t)
	names := make([]string, 200)
	for i := range names {
		names[i] = strings.Repeat("t", 200) + strconv.Itoa(i)
	}
	tools := &compactordv1.FileTools{Tools: []*compactordv1.FileTool{{Names: names, PathArguments: []string{"path"}}}}
	d.create("s", &compactordv1.Policy{FileTools: tools})
	update := func(protected []string) error {
		prune := &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
			PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{ProtectedTools: protected},
		}}
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", UpdateMask: mask("policy.prune_strategy"), Policy: &compactordv1.Policy{PruneStrategy: prune},
		})
		return err
	}
	require.NoError(t, update(names[:50]))
	requireReason(t, update(names), codes.InvalidArgument, "INVALID_FIELD")
	require.Len(t, d.session("s").GetSession().GetPolicy().GetPruneStrategy().GetPruneToolOutputs().GetProtectedTools(), 50)
}

func requireSamePolicy(t *testing.T, want, have *compactordv1.Policy) {
	t.Helper()
	require.True(t, proto.Equal(want, have), "want %v\nhave %v", want, have)
}
