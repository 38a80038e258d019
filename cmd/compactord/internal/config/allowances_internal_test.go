package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/service/allowance"
)

// Where the operator's key pays, callers have neither prompts nor unredacted texts unless the profile says so.
func TestWhatProfilesAllow(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]allowance.Profile{
		"api_key_env: K":                 {},
		"api_key_file: f":                {},
		"base_url: 'http://127.0.0.1:1'": {PromptOverride: true, Unredacted: true},
		"base_url: 'http://127.0.0.1:1', allow: {prompt_override: false, unredacted: false}": {},
		"api_key_env: K, allow: {prompt_override: true}":                                     {PromptOverride: true},
		"api_key_env: K, allow: {unredacted: true, tenants: [a, '']}":                        {Unredacted: true, Tenants: []string{"a", ""}},
		"api_key_env: K, price: {input: 1}, daily: {requests: 3, tokens: 5_000_000, dollars: 0.5}": {
			Daily: allowance.Amount{Requests: 3, Tokens: 5_000_000, USD: 0.5},
		},
	} {
		file, err := ReadFile(sample.File(t, "config.yaml", "summarizers: {p: {kind: openai, model: m, "+given+"}}\n"))
		require.NoError(t, err, given)
		require.Len(t, file.profiles, 1)
		p := file.profiles[0]
		require.Equal(t, want, p.allowed.profile(p.keyEnv != "" || p.keyFile != ""), given)
	}
}
