package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/transcript"
)

// OpenHands keeps each event in its own file. The folder, and the one around it, are read as the same events line by
// line.
func TestEventsOfAFolderOfOpenHands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "openhands-events.jsonl"))
	require.NoError(t, err)
	want, _, err := read(string(text))
	require.NoError(t, err)
	around := filepath.Join(t.TempDir(), "a [session]")
	require.NoError(t, os.MkdirAll(filepath.Join(around, "events"), 0o700))
	files, err := transcript.EventFiles(filepath.Join("testdata", "openhands-events"))
	require.NoError(t, err)
	require.Len(t, files, 8)
	for _, file := range files {
		event, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(around, "events", filepath.Base(file)), event, 0o600))
	}
	for _, folder := range []string{filepath.Join("testdata", "openhands-events"), around} {
		r, err := transcript.OpenFile(folder)
		require.NoError(t, err)
		require.Equal(t, transcript.OpenHands, r.Format())
		messages, err := r.ReadAll()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Len(t, messages, 6)
		for i, m := range messages {
			require.True(t, proto.Equal(want[i], m), "message %d", i)
		}
	}
	none, err := transcript.EventFiles(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, none)
}

// A file whose records could not be read was refused with only "role: is missing".
func TestWhatCannotBeReadAtAllSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	for input, want := range map[string][]string{
		`{"type":"message","speaker":"me"}` + "\n" + `{"role":"oracle"}`: {"line 1: ", "known are pi, ", "copilot-cli", "compactord help dialects"},
		`{"kind":"Unheard","source":"x","ts":1}`:                         {"not recognized: its first object has kind, source and 1 unknown field, the nearest is openhands", "known are"},
		"Dear diary,\n":                                                  {"not recognized: it does not begin with JSON; known are"},
	} {
		_, _, err := read(input)
		require.Error(t, err)
		for _, text := range want {
			require.ErrorContains(t, err, text, input)
		}
	}
}
