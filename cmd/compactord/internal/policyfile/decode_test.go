package policyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/policyfile"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const written = `
preset: pi
contextWindow: 200000
thinking: THINKING_POLICY_STRIP
on_append: {strategies: [{offload: {over_tokens: 4000}}]}
strategy:
  ladder:
    rungs:
      - strategy: {strip_media: {keep_newest: 2}}
      - strategy: {summarize: {recent_turns: 3}}
        at_ratio: 0.6
summary: {summarizer: extractive, try_timeout: 90s, extra_context: {texts: [one, two]}}
`

// A file means what its JSON means to protojson.
func TestDecodeAgreesWithTheContract(t *testing.T) {
	t.Parallel()
	var value any
	require.NoError(t, yaml.Unmarshal([]byte(written), &value))
	policy, problems := policyfile.Decode("policies.a", value)
	require.Empty(t, problems)
	want := &compactordv1.Policy{}
	require.NoError(t, protojson.Unmarshal([]byte(`{"preset": "pi", "contextWindow": 200000, "thinking": "THINKING_POLICY_STRIP",
		"onAppend": {"strategies": [{"offload": {"overTokens": 4000}}]},
		"strategy": {"ladder": {"rungs": [{"strategy": {"stripMedia": {"keepNewest": 2}}},
			{"strategy": {"summarize": {"recentTurns": 3}}, "atRatio": 0.6}]}},
		"summary": {"summarizer": "extractive", "tryTimeout": "90s", "extraContext": {"texts": ["one", "two"]}}}`), want))
	require.True(t, proto.Equal(want, policy), policy)
}

func TestEveryProblemHasItsPath(t *testing.T) {
	t.Parallel()
	var value any
	require.NoError(t, yaml.Unmarshal([]byte(`
preset: 7
max_input_tokens: sk-misplaced
context_window: 8
contextWindow: 8
thinking: LOUD
trigger: {trigger_tokens: -1, target: 3, enabled: maybe}
on_append: {strategies: [{offload: {over_tokens: many}}, {shred: {}}]}
on_user_message: [1]
strategy: {summarize: {}, offload: {}}
summary: {extra_context: {texts: one}}
`), &value))
	_, problems := policyfile.Decode("policies.a", value)
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = problem.Error()
		require.NotContains(t, texts[i], "sk-")
	}
	for _, want := range []string{
		"policies.a.preset must be a text", "policies.a.context_window is given twice", "policies.a.max_input_tokens must be a whole number",
		"policies.a.trigger.trigger_tokens must be a whole number", "policies.a.trigger.enabled must be true or false",
		"policies.a.on_append.strategies[0].offload.over_tokens must be a whole number",
		"policies.a.strategy.summarize excludes offload", "policies.a.summary.extra_context.texts must be a list, each element a text",
	} {
		require.Contains(t, texts, want)
	}
	require.Len(t, texts, 12, "%q", texts)
}

func TestReadSaysWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "policy.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	policy, err := policyfile.Read(file(`{"preset": "pi"}`))
	require.NoError(t, err)
	require.Equal(t, "pi", policy.GetPreset())
	_, err = policyfile.Read(file("preset: [\n"))
	require.ErrorContains(t, err, "is neither YAML nor JSON")
	path := file("presett: pi\n")
	_, err = policyfile.Read(path)
	require.ErrorContains(t, err, path+`: policy has no key "presett"; there are preset, `)
	_, err = policyfile.Read(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "there is no such file")
}
