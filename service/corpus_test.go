package service_test

import (
	"bufio"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

// corpusFiles returns recorded conversations of real agents, or skips the test where there are none.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	folder := os.Getenv("COMPACTORD_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "corpus")
	}
	var files []string
	for _, pattern := range []string{"*.jsonl", "malformed/*.jsonl", "native/pi/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("no corpus of recorded conversations at %s; COMPACTORD_CORPUS names another folder", folder)
	}
	return files
}

func readTranscript(t testing.TB, path string) []*compactordv1.Message {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	reader, err := transcript.Open(bufio.NewReader(f))
	require.NoError(t, err)
	messages, err := reader.ReadAll()
	require.NoError(t, err)
	return messages
}

// The same invariants for recorded conversations, at many lengths, over several compactions and reverts.
func TestInvariantsOverCorpus(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for i, path := range corpusFiles(t) {
		if !sampled(i) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			messages := readTranscript(t, path)
			seed := fnv.New64a()
			_, _ = seed.Write([]byte(filepath.Base(path)))
			random := rand.New(rand.NewPCG(seed.Sum64(), 1))
			draw := func(low, high int, _ string) int { return low + random.IntN(high-low+1) }
			w := newCheckedService(t, counts, draw)
			defer w.service.Close()
			w.scale = max(1, len(messages)/20)
			lengths := min(12, len(messages))
			for range lengths {
				next := messages[:min(len(messages), draw(1, 1+2*len(messages)/lengths, "length"))]
				messages = messages[len(next):]
				w.appendAll(next)
				switch draw(0, 5, "step") {
				case 0, 1, 2:
					w.compact(func() { w.appendAll(messages[:min(1, len(messages))]); messages = messages[min(1, len(messages)):] })
				case 3:
					w.prune()
				case 4:
					w.revert()
				default:
					w.policy()
				}
				w.check()
			}
			problems, err := sessionlog.Check(t.Context(), w.store, "")
			require.NoError(t, err)
			require.Empty(t, problems)
		})
	}
	t.Log(describe(counts))
	if testing.Short() {
		return
	}
	require.Greater(t, counts["compaction"], 50)
	require.Greater(t, counts["prune"], 5)
}

func (w *checkedService) appendAll(messages []*compactordv1.Message) {
	if len(messages) == 0 {
		return
	}
	_, err := w.service.AppendMessages(w.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: checkedSession, Messages: messages,
	})
	require.NoError(w.t, err)
}
