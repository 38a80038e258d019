package serve_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

// tenantTokens writes a file of tokens of tenants, one each, and returns its path and the tokens.
func tenantTokens(t *testing.T, tenants ...string) (path string, tokens map[string]string) {
	t.Helper()
	tokens = make(map[string]string, len(tenants))
	lines := ""
	for _, tenant := range tenants {
		tokens[tenant] = access.NewToken()
		hash, err := access.HashOf(tokens[tenant])
		require.NoError(t, err)
		entry := access.Entry{Subject: "agent-" + tenant, Tenant: tenant, Role: access.Admin, Hash: hash}
		lines += entry.Line() + "\n"
	}
	return sample.File(t, "tokens", lines), tokens
}

// Policies of the configuration file stand where a preset can, for the API and for commands, and each tenant has its default.
func TestNamedPolicies(t *testing.T) {
	state(t)
	tokens, of := tenantTokens(t, "a", "b")
	path := sample.File(t, "config.yaml", fmt.Sprintf(`listen: 127.0.0.1:0
store: %s
tokens: %s
default_policy: ours
policies:
  ours: {preset: pi, trigger: {trigger_tokens: 5000}}
  theirs: {preset: kimi, trigger: {trigger_tokens: 7000}, strategy: {summarize: {recent_tokens: 500}}}
tenant_policies: {b: theirs}
`, anystore.Place(t), tokens))
	d := programtest.Serving(t, "--config", path)
	for tenant, due := range map[string]uint32{"a": 5_000, "b": 7_000} {
		client := clientWith(t, d.Addr, of[tenant])
		created, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
		require.NoError(t, err)
		require.Equal(t, due, created.GetSession().GetResolvedPolicy().GetTrigger().GetTriggerTokens())
	}
	on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--addr", d.Addr)...) }
	require.Contains(t, on("strategies", "theirs").Ends(t, terminal.ExitDone).Out, "based on the preset `kimi`")
	on("import", sample.TalkFile(t), "--session", "named", "--policy", "theirs").Ends(t, terminal.ExitDone)
	policy := sample.File(t, "policy.json", `{"preset": "theirs", "trigger": {"target_tokens": 900}}`)
	on("import", sample.TalkFile(t), "--session", "written", "--policy", policy, "--context-window", "50000").Ends(t, terminal.ExitDone)
	on("compact", "--session", "written", "--policy", "nobodys", "--dry-run").Ends(t, terminal.ExitUsage).Says(t, "there are default, ")
	on("compact", "--session", "written", "--policy", "ours", "--preset", "pi").Ends(t, terminal.ExitUsage).Says(t, "--policy")
	client := clientWith(t, d.Addr, secretOf(t, access.DefaultTokenFile()))
	for session, target := range map[string]uint32{"named": 0, "written": 900} {
		got, err := client.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: session})
		require.NoError(t, err)
		require.Equal(t, "kimi", got.GetSession().GetPolicy().GetPreset())
		require.Equal(t, uint32(7_000), got.GetSession().GetResolvedPolicy().GetTrigger().GetTriggerTokens())
		require.Equal(t, target, got.GetSession().GetResolvedPolicy().GetTrigger().GetTargetTokens())
	}
	require.Equal(t, terminal.ExitDone, d.Stop())
}
