package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/transcript"
)

// requireMessagesOrError reads any input. The result must be an error, or messages that the contract accepts and that
// can be stored.
func requireMessagesOrError(t *testing.T, input []byte) {
	t.Helper()
	r, err := transcript.Open(bytes.NewReader(input))
	if err != nil {
		return
	}
	requireSoundOrError(t, r)
}

func requireSoundOrError(t *testing.T, r *transcript.Reader) {
	t.Helper()
	messages, err := r.ReadAll()
	if err != nil {
		return
	}
	for _, m := range messages {
		require.NoError(t, protovalidate.Validate(m))
		_, err := proto.Marshal(m)
		require.NoError(t, err)
		require.NotNil(t, m.SourcePosition)
	}
	after := uint32(0)
	for _, record := range r.Records() {
		require.NoError(t, protovalidate.Validate(record))
		require.GreaterOrEqual(t, record.GetAfterMessages(), after)
		after = record.GetAfterMessages()
		require.LessOrEqual(t, int(after), len(messages))
		if c := record.GetCompaction(); c != nil {
			require.Less(t, c.GetFirstKeptIndex(), after)
		}
	}
	for _, n := range r.Notes() {
		require.Positive(t, n.Count)
		require.NotContains(t, n.Text, "%")
	}
}

func addLines(f *testing.F, name string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(f, err)
	for line := range bytes.Lines(text) {
		f.Add(line)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"openai.jsonl", "body.json", "pi-tree.jsonl", "pi-list.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(requireMessagesOrError)
}

func FuzzOpenAIMessage(f *testing.F) {
	addLines(f, "openai.jsonl")
	f.Fuzz(func(t *testing.T, line []byte) {
		requireMessagesOrError(t, append([]byte(hello), line...))
	})
}

func FuzzOpenAIDocument(f *testing.F) {
	addLines(f, "openai.jsonl")
	f.Add([]byte(`{"role":"user"},{"role":"user"}], "x": [{}]`))
	f.Fuzz(func(t *testing.T, elements []byte) {
		requireMessagesOrError(t, append(append([]byte(`{"messages":[`), elements...), "]}"...))
		requireMessagesOrError(t, append(append([]byte("["), elements...), ']'))
	})
}

func FuzzPiList(f *testing.F) {
	addLines(f, "pi-list.jsonl")
	addLines(f, "pi-tree.jsonl")
	f.Fuzz(func(t *testing.T, entries []byte) {
		requireMessagesOrError(t, append([]byte(list), entries...))
	})
}

func FuzzPiTree(f *testing.F) {
	addLines(f, "pi-tree.jsonl")
	f.Add([]byte(user("a", "null", "1") + user("b", "a", "2") + user("c", "a", "3")))
	f.Fuzz(func(t *testing.T, entries []byte) {
		requireMessagesOrError(t, append([]byte(head), entries...))
	})
}
