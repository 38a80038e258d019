package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// What a tenant has used today counts after a restart, and a file of it that cannot be read is not taken for an empty one.
func TestDailyLimitsLastThroughARestart(t *testing.T) {
	state(t)
	model := llmtest.New(t)
	model.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{}) })
	config := sample.File(t, "config.yaml", fmt.Sprintf("default_summarizer: fast\nsummarizers:\n"+
		"  fast: {kind: openai, model: m, base_url: %q, context_window: 200000, daily: {requests: 1}}\n", model.BaseURL(llmtest.Chat)))
	store := filepath.Join(t.TempDir(), "store.db")
	command := []string{"--store", store, "--config", config, "--listen", "127.0.0.1:0"}
	summarizer := func(addr, session string) any {
		programtest.Ran(t, "import", "--session", session, sample.TalkFile(t), "--addr", addr).Ends(t, terminal.ExitDone)
		r := programtest.Ran(t, "compact", "--session", session, "--addr", addr, "--json").Ends(t, terminal.ExitDone)
		return sample.At(t, sample.Document(t, r.Out), "entry", "provenance", "summarizer")
	}

	d := programtest.Serving(t, command...)
	require.Equal(t, "fast", summarizer(d.Addr, "first"))
	require.Equal(t, terminal.ExitDone, d.Stop(), d.Log.String())
	info, err := os.Stat(store + ".spent")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	d = programtest.Serving(t, command...)
	require.Equal(t, "extractive", summarizer(d.Addr, "second"))
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Contains(t, d.Log.String(), "LIMIT_EXCEEDED")

	require.NoError(t, os.WriteFile(store+".spent", []byte("{"), 0o600))
	programtest.Ran(t, append([]string{"serve"}, command...)...).Ends(t, terminal.ExitFailed).
		Says(t, store+".spent: what tenants have used today cannot be read").Says(t, "Without the file, the day begins anew.")
}
