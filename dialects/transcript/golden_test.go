package transcript_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Of three rotated files, the oldest and the newest were rotated by compactions, and the second by a revert.
func TestKimiGoesOnFromRotatedFiles(t *testing.T) {
	t.Parallel()
	r, err := transcript.OpenFile(filepath.Join("testdata", "kimi", "context.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.Equal(t, transcript.Kimi, r.Format())
	requireGolden(t, r, filepath.Join("testdata", "kimi", "context.golden"))
	require.Equal(t, "entry 3", r.Place(3))
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]transcript.Format{
		"openai.jsonl":         transcript.OpenAIChat,
		"openai-response.json": transcript.OpenAIChat,
		"body.json":            transcript.OpenAIChat,
		"anthropic.jsonl":      transcript.Anthropic,
		"anthropic-body.json":  transcript.Anthropic,
		"responses.jsonl":      transcript.OpenAIResponses,
		"responses-body.json":  transcript.OpenAIResponses,
		"gemini.jsonl":         transcript.Gemini,
		"gemini-body.json":     transcript.Gemini,
		"claude.jsonl":         transcript.ClaudeCode,
		"pi-tree.jsonl":        transcript.Pi,
		"pi-list.jsonl":        transcript.Pi,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openFile(t, filepath.Join("testdata", name))
			require.Equal(t, want, r.Format())
			requireGolden(t, r, filepath.Join("testdata", name+".golden"))
		})
	}
}

// requireGolden reads the rest and compares it with a golden file.
func requireGolden(t *testing.T, r *transcript.Reader, path string) {
	t.Helper()
	messages, err := r.ReadAll()
	require.NoError(t, err)
	for _, m := range messages {
		require.NoError(t, protovalidate.Validate(m))
	}
	have := golden(t, r, messages)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(have), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), have)
}

// golden describes what was read for a person to check: a line on the format, the notes, the messages and the records.
func golden(t *testing.T, r *transcript.Reader, messages []*compactordv1.Message) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(r.Format().String() + "\n")
	for _, n := range r.Notes() {
		b.WriteString(n.Text + "\n")
	}
	for _, m := range messages {
		writeIndented(t, &b, m)
	}
	for _, record := range r.Records() {
		require.NoError(t, protovalidate.Validate(record))
		b.WriteString("record ")
		writeIndented(t, &b, record)
	}
	return b.String()
}

func writeIndented(t *testing.T, b *strings.Builder, m proto.Message) {
	t.Helper()
	raw, err := protojson.Marshal(m)
	require.NoError(t, err)
	// protojson varies its white space on purpose.
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, raw, "", "  "))
	b.WriteString(indented.String() + "\n")
}
