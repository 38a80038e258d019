package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestProfilesOfTheFile(t *testing.T) {
	path := sample.File(t, "config.yaml", `
default_summarizer: thorough
summarizers:
  thorough:
    kind: openai
    api: responses
    model: big
    base_url: https://models.example.com/v1
    api_key_env: MODEL_KEY
    context_window: 400000
    max_output_tokens: 32000
    token_factor: 1.5
    token_limit: max_tokens
    reasoning_effort: low
    tries: 2
    concurrency: 8
    try_timeout: 4m
    total_timeout: 20m
    idle_timeout: 90s
    price: {input: 1.25, output: 10, cache_read: 0.125}
  Local.1: {kind: anthropic, model: small, base_url: "http://[::1]:8080", api_key_file: key}
`)
	parsed, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, settings{"default_summarizer": "thorough"}, parsed.Settings)
	require.Len(t, parsed.profiles, 2)
	local, thorough := parsed.profiles[0], parsed.profiles[1]
	require.Equal(t, &profile{
		name: "Local.1", kind: "anthropic", model: "small", baseURL: "http://[::1]:8080", keyFile: "key",
	}, local)
	input, output, read := 1.25, 10.0, 0.125
	require.Equal(t, &profile{
		name: "thorough", kind: "openai", api: "responses", model: "big", baseURL: "https://models.example.com/v1",
		keyEnv: "MODEL_KEY", window: 400_000, maxOutput: 32_000, tokenFactor: 1.5, tokenLimit: "max_tokens", effort: "low",
		tries: 2, concurrency: 8, tryTimeout: 4 * time.Minute, totalTimeout: 20 * time.Minute, idleTimeout: 90 * time.Second,
		price: &compactordv1.TokenPrice{Input: 1.25, Output: 10, CacheRead: 0.125}, input: &input, output: &output, read: &read,
	}, thorough)
}
