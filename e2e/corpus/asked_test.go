package corpus_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// TestAskedCompactionsChangeTheView replays each recording under each preset, with windows of several sizes. Each
// compaction that a report asks for makes the view smaller.
func TestAskedCompactionsChangeTheView(t *testing.T) {
	t.Parallel()
	files := sample(corpus.Files(t))
	for _, preset := range strategies.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			asked := 0
			for _, window := range []uint32{32_000, 128_000} {
				policy, err := strategies.Resolve(&compactordv1.Policy{Preset: &preset, ContextWindow: &window})
				require.NoError(t, err)
				for _, file := range files {
					asked += compactWhenAsked(t, corpus.NewReplay(t, policy), file)
				}
			}
			t.Logf("asked %d times", asked)
			require.Positive(t, asked)
		})
	}
}

// compactWhenAsked replays a recording, compacts after each message where the report asks for it, and returns how often
// it did.
func compactWhenAsked(t *testing.T, r *corpus.Replay, file string) (asked int) {
	t.Helper()
	for _, m := range corpus.Read(t, file) {
		r.Append(t, m)
		if !r.Due(t) {
			continue
		}
		asked++
		before := r.Writer.Head.GetViewTokens()
		r.Run(t, threshold, r.Policy.GetStrategy())
		require.Less(t, r.Writer.Head.GetViewTokens(), before, "%s, message %d", filepath.Base(file), len(r.Writer.Messages))
	}
	return asked
}
