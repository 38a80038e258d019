package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

// fuzzLines fuzzes a format of JSON Lines with an example, whole and line by line. before is what identifies the
// format.
func fuzzLines(f *testing.F, id transcript.Format, example, before string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", example))
	require.NoError(f, err)
	f.Add(text)
	addLines(f, example)
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, whole := range [][]byte{input, append([]byte(before), input...)} {
			for _, opts := range [][]transcript.Option{{transcript.As(id)}, {transcript.As(id), transcript.Strict()}} {
				r, err := transcript.Open(bytes.NewReader(whole), opts...)
				if err == nil {
					requireSoundOrError(t, r)
				}
			}
		}
	})
}

func FuzzClaudeCode(f *testing.F) {
	fuzzLines(f, transcript.ClaudeCode, "claude.jsonl", claudeUser("u1", "null"))
}

func FuzzKimi(f *testing.F) {
	fuzzLines(f, transcript.Kimi, filepath.Join("kimi", "context_1.jsonl"), kimiStart)
}

func FuzzAnthropicLines(f *testing.F) { fuzzLines(f, transcript.Anthropic, "anthropic.jsonl", "") }

func FuzzResponsesLines(f *testing.F) {
	fuzzLines(f, transcript.OpenAIResponses, "responses.jsonl", "")
}

func FuzzGeminiLines(f *testing.F) { fuzzLines(f, transcript.Gemini, "gemini.jsonl", "") }

// FuzzKimiRotated splits its input into a rotated file and the one that continues it.
func FuzzKimiRotated(f *testing.F) {
	for _, name := range []string{"context_1.jsonl", "context_3.jsonl"} {
		before, err := os.ReadFile(filepath.Join("testdata", "kimi", name))
		require.NoError(f, err)
		after, err := os.ReadFile(filepath.Join("testdata", "kimi", "context.jsonl"))
		require.NoError(f, err)
		f.Add(before, after)
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "context_1.jsonl"), before, 0o600))
		path := filepath.Join(folder, "context.jsonl")
		require.NoError(t, os.WriteFile(path, append([]byte(kimiStart+kimiSummary), after...), 0o600))
		r, err := transcript.OpenFile(path)
		if err == nil {
			requireSoundOrError(t, r)
			require.NoError(t, r.Close())
		}
	})
}
