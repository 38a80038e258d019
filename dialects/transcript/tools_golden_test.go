package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

// toolFiles are examples of the files of other tools, with the session that is read.
var toolFiles = []struct {
	name    string
	format  transcript.Format
	session int
}{
	{"sweagent.traj", transcript.SWEAgent, 0},
	{"minisweagent.traj.json", transcript.MiniSWEAgent, 0},
	{"langchain.json", transcript.LangChain, 0},
	{"openhands.jsonl", transcript.OpenHands, 0},
	{"openhands-old.jsonl", transcript.OpenHands, 1},
	{"openhands-old.jsonl", transcript.OpenHands, 2},
	{"openhands-events.jsonl", transcript.OpenHands, 0},
	{"openhands-headless.txt", transcript.OpenHands, 0},
	{"copilot.jsonl", transcript.CopilotCLI, 0},
	{"openhands-completion.json", transcript.OpenHands, 0},
	{"geminicli.json", transcript.GeminiCLI, 0},
	{"geminicli.jsonl", transcript.GeminiCLI, 0},
	{"geminicli-checkpoint.json", transcript.GeminiCLI, 0},
	{"codex.jsonl", transcript.Codex, 0},
	{"codex-old.jsonl", transcript.Codex, 0},
}

func TestGoldensOfTools(t *testing.T) {
	t.Parallel()
	for _, c := range toolFiles {
		name := c.name
		var opts []transcript.Option
		if c.session > 0 {
			name += "." + string(rune('0'+c.session))
			opts = append(opts, transcript.Select(c.session))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(filepath.Join("testdata", c.name))
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			r, err := transcript.Open(f, append(opts, transcript.Strict())...)
			require.NoError(t, err)
			require.Equal(t, c.format, r.Format())
			messages, err := r.ReadAll()
			require.NoError(t, err)
			for _, m := range messages {
				require.NoError(t, protovalidate.Validate(m))
			}
			have := golden(t, r, messages)
			path := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(have), 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), have)
		})
	}
}
