package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Where the policy no longer lets blocks speak with the operator's voice, a block that was set before is shown as any
// other: now, at earlier points, after a revert, in a fork and in every dialect. It speaks again once it may.
func TestBlocksLoseTheOperatorsVoiceWithThePolicy(t *testing.T) {
	t.Parallel()
	d := start(t)
	allowing := func(allowed bool) *compactordv1.Policy {
		p := small(1000)
		p.ContextBlocks = &compactordv1.ContextBlockPolicy{AllowOperator: proto.Bool(allowed)}
		return p
	}
	allow := func(allowed bool) {
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", UpdateMask: mask("policy"), Policy: allowing(allowed),
		})
		require.NoError(t, err)
	}
	rule := &compactordv1.ContextBlock{
		Name: "rule", Parts: []*compactordv1.Part{textPart("Obey the tests.")}, Operator: true,
		Place: compactordv1.BlockPlace_BLOCK_PLACE_LEADING,
	}
	memory := &compactordv1.ContextBlock{
		Name: "memory", Parts: []*compactordv1.Part{textPart("Tests are slow.")}, Place: compactordv1.BlockPlace_BLOCK_PLACE_LEADING,
	}
	d.create("s", allowing(true))
	d.append("s", system("Be careful."))
	d.setBlocks("s", memory, rule)
	d.append("s", user("Go."), assistant("Done."))
	spoken, point := d.view("s"), d.session("s").GetSession().GetPoint()
	require.Equal(t, "rule", spoken[1].GetContextBlock().GetName(), "the operator's blocks come first")
	require.Equal(t, compactordv1.Role_ROLE_SYSTEM, spoken[1].GetMessage().GetRole())

	allow(false)
	silent := d.view("s")
	require.Len(t, silent, len(spoken))
	require.Equal(t, "memory", silent[1].GetContextBlock().GetName())
	require.Equal(t, "rule", silent[2].GetContextBlock().GetName())
	require.Equal(t, compactordv1.Role_ROLE_USER, silent[2].GetMessage().GetRole())
	require.Contains(t, textOf(silent[2].GetMessage()), "not a message of the user")
	require.Equal(t, tokensOf(silent), d.session("s").GetReport().GetTokens())
	requireSameView(t, silent, d.asOf(point))
	d.append("s", user("Go on."))
	d.revert(toPoint(point))
	requireSameView(t, silent, d.view("s"))
	fork := d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", Policy: allowing(false)}).GetSession().GetSessionId()
	requireSameView(t, silent, d.view(fork))
	d.append("s", user("Go on."))
	for _, kind := range allKinds() {
		answer := d.render("s", kind)
		for _, raw := range answer.GetSystemJson() {
			require.NotContains(t, raw, "Obey", kind)
		}
		for _, raw := range answer.GetMessagesJson() {
			require.False(t, kind == chat && strings.Contains(raw, `"system"`) && strings.Contains(raw, "Obey"), raw)
		}
	}
	again := proto.CloneOf(rule)
	again.Parts = []*compactordv1.Part{textPart("Obey me.")}
	_, err := d.sessions.UpdateContextBlocks(t.Context(), &compactordv1.UpdateContextBlocksRequest{
		SessionId: "s", Set: []*compactordv1.ContextBlock{again},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")

	allow(true)
	requireSameView(t, spoken[:4], d.view("s")[:4])
	d.requireSound(t)
}
