package config

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/summarizers/llm"
)

func settled(t *testing.T, text string) *Settled {
	t.Helper()
	file, err := ReadFile(sample.File(t, "config.yaml", text))
	require.NoError(t, err)
	_, err = file.Models()
	require.NoError(t, err)
	return &Settled{Config: Config{DefaultSummarizer: BuiltinSummarizer}, File: file}
}

// The next request to a provider has the key that was read last, whatever its kind.
func TestKeysOfModelsAreTaken(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	require.NoError(t, os.WriteFile(first, []byte("key-one"), 0o600))
	require.NoError(t, os.WriteFile(second, []byte("key-two"), 0o600))
	for _, kind := range providerKinds {
		text := func(key string) string {
			return "summarizers: {a: {kind: " + kind + ", model: m, base_url: \"" + server.URL + "\", api_key_file: " + key + "}}"
		}
		running := settled(t, text(first))
		provider, err := running.File.profiles[0].provider(nil)
		require.NoError(t, err)
		ask := func() string {
			_, err := provider.Complete(t.Context(), &llm.Completion{User: "x", MaxOutputTokens: 10}, func(string) {})
			require.Error(t, err)
			return strings.TrimPrefix(<-sent, "Bearer ")
		}
		require.Equal(t, "key-one", ask(), kind)
		next := settled(t, text(second))
		require.Equal(t, []Change{{Key: "summarizers.a.api_key_file"}}, next.Changes(running))
		require.Equal(t, []string{"summarizers.a"}, running.TakeKeys(next))
		running.Take(next)
		require.Equal(t, "key-two", ask(), kind)
		require.Empty(t, next.Changes(running), "what was taken is no change any more")
		require.Empty(t, running.TakeKeys(next))
	}
}

func TestChangesOfModels(t *testing.T) {
	running := settled(t, `summarizers: {a: {kind: openai, model: m, base_url: "http://127.0.0.1:1"}, b: {kind: openai, model: m, base_url: "http://127.0.0.1:1"}}`)
	next := settled(t, `summarizers: {a: {kind: openai, model: n, base_url: "http://127.0.0.1:1"}, c: {kind: openai, model: m, base_url: "http://127.0.0.1:1"}}
overflow: {patterns: [{id: ours, pattern: too much}]}
policies: {ours: {preset: pi, summary: {summarizer: c}}}
`)
	next.DefaultSummarizer = "c"
	require.Equal(t, []Change{
		{"default_summarizer", false}, {"policies", false}, {"overflow", true}, {"summarizers.a.model", true}, {"summarizers.b", true}, {"summarizers.c", true},
	}, next.Changes(running))
	err := next.CheckReload(running)
	require.ErrorContains(t, err, `the daemon has no summarizer "c" before it is started again`)
	require.ErrorContains(t, err, "policies.ours.summary.summarizer: ")
}

// The document says of each key whether a running daemon takes it.
func TestReloadDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "configuration.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Reload\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	keysAfter := func(beginning string) []string {
		_, list, found := strings.Cut(section, beginning)
		require.True(t, found, beginning)
		list, _, _ = strings.Cut(list, "\n\n")
		var keys []string
		for _, match := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(list, -1) {
			keys = append(keys, match[1])
		}
		return keys
	}
	require.ElementsMatch(t, Reloadable, keysAfter("These keys are taken:"))
	var restart []string
	for _, key := range append(settingKeys(), sectionKeys...) {
		if !slices.Contains(Reloadable, key) {
			restart = append(restart, key)
		}
	}
	require.ElementsMatch(t, restart, keysAfter("These keys need a restart:"))
}
