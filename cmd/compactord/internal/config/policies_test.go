package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// All problems with policies are reported together, by config check and at the start.
func TestProblemsWithPolicies(t *testing.T) {
	path := sample.File(t, "config.yaml", `default_policy: nope
policies:
  ours: {presett: pi, trigger: {trigger_tokens: many}, on_append: {strategies: [{shred: {}}]}}
  theirs: text
tenant_policies: {a: ours, B: ours, c: other, d: 1}
`)
	wrong := map[string]string{
		"policies.ours.presett": `has no key "presett"`, "policies.ours.trigger.trigger_tokens": "must be a whole number",
		"policies.ours.on_append.strategies[0].shred": `has no key "shred"`, "policies.theirs": "must be a mapping",
		"tenant_policies":   `"B" is no tenant`,
		"tenant_policies.c": `there is no preset or policy "other"`, "tenant_policies.d": "must be the name of a policy",
		"default_policy": `there is no preset or policy "nope"`,
	}
	r := programtest.Ran(t, "config", "check", path, "--json").Ends(t, terminal.ExitUsage)
	var document struct{ Problems []config.Problem }
	require.NoError(t, json.Unmarshal([]byte(r.Out), &document))
	require.Len(t, document.Problems, len(wrong), r.Out)
	started := programtest.Ran(t, "serve", "--config", path).Ends(t, terminal.ExitUsage)
	for _, p := range document.Problems {
		require.Contains(t, wrong, p.Key)
		require.Contains(t, p.Message, wrong[p.Key])
		started.Says(t, wrong[p.Key])
	}

	path = sample.File(t, "held.yaml", `policies:
  pi: {preset: default}
  ours: {preset: pi, summary: {summarizer: nobody}}
  range: {preset: pi, trigger: {trigger_ratio: 2}}
`)
	r = programtest.Ran(t, "config", "check", path).Ends(t, terminal.ExitUsage)
	for _, problem := range []string{
		"policies.pi: a preset has this name", "policies.ours.summary.summarizer: ", "policies.range.trigger.trigger_ratio: ",
	} {
		r.Says(t, path+": "+problem)
	}
	programtest.Ran(t, "config", "check", "--default-policy", "nope").Ends(t, terminal.ExitUsage).
		Says(t, `--default-policy: there is no preset or policy "nope"; there are default, `)
}

// A tenant whose own policy names a model that it may not use could begin no session, and each error told it the model's name.
func TestTenantsMayUseTheModelsOfTheirPolicies(t *testing.T) {
	const models = `summarizers: {dear: {kind: openai, model: m, base_url: 'http://127.0.0.1:1', allow: {tenants: [b]}}}
policies: {ours: {preset: pi, summary: {summarizer: dear}}}
`
	programtest.Ran(t, "config", "check", sample.File(t, "right.yaml", models+"tenant_policies: {a: pi, b: ours}\n")).Ends(t, terminal.ExitDone)
	wrong := sample.File(t, "wrong.yaml", models+"tenant_policies: {a: ours, b: ours}\n")
	programtest.Ran(t, "config", "check", wrong).Ends(t, terminal.ExitUsage).
		Says(t, `tenant_policies.a: policy "ours" has the summarizer "dear", and summarizers.dear.allow.tenants does not have the tenant`)
}

func TestPoliciesArePrinted(t *testing.T) {
	path := sample.File(t, "config.yaml", `default_policy: ours
policies: {ours: {preset: pi, trigger: {trigger_tokens: 5000}}}
tenant_policies: {a: ours, b: kimi}
`)
	r := programtest.Ran(t, "config", "print", path).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "default_policy: ours # file "+path)
	again := programtest.Ran(t, "config", "print", sample.File(t, "again.yaml", r.Out)).Ends(t, terminal.ExitDone)
	require.Equal(t, document(t, r.Out), document(t, again.Out))
	require.Contains(t, document(t, r.Out)["policies"], "ours")
	require.Contains(t, document(t, r.Out)["tenant_policies"], "b")
}
