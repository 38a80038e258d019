package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

// fuzzTool fuzzes the importer of a format with its examples, whole and line by line. before and after make a file of a
// line.
func fuzzTool(f *testing.F, id transcript.Format, before, after string) {
	f.Helper()
	for _, c := range toolFiles {
		if c.format != id {
			continue
		}
		text, err := os.ReadFile(filepath.Join("testdata", c.name))
		require.NoError(f, err)
		f.Add(text)
		for line := range bytes.Lines(text) {
			f.Add(bytes.Trim(line, " ,\n"))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, whole := range [][]byte{input, append(append([]byte(before), input...), after...)} {
			r, err := transcript.OpenAs(bytes.NewReader(whole), id, transcript.Select(1))
			if err == nil {
				requireSoundOrError(t, r)
			}
		}
	})
}

func FuzzSWEAgent(f *testing.F) { fuzzTool(f, transcript.SWEAgent, `{"history":[`, `]}`) }

func FuzzMiniSWEAgent(f *testing.F) {
	fuzzTool(f, transcript.MiniSWEAgent, `{"trajectory_format":"mini-swe-agent-1","messages":[`, `]}`)
}

func FuzzLangChain(f *testing.F) {
	fuzzTool(f, transcript.LangChain, `[{"type":"human","data":{}},`, `]`)
}

func FuzzOpenHands(f *testing.F) {
	fuzzTool(f, transcript.OpenHands, `{"metadata":{"agent_class":"a"},"history":[`, `]}`)
}

func FuzzOpenHandsEvents(f *testing.F) {
	fuzzTool(f, transcript.OpenHands, `{"kind":"PauseEvent","source":"user"}`+"\n", "\n--JSON Event--\n{")
}

func FuzzCopilotCLI(f *testing.F) {
	fuzzTool(f, transcript.CopilotCLI, `{"type":"session.start","data":{}}`+"\n", "")
}

func FuzzGeminiCLI(f *testing.F) {
	fuzzTool(f, transcript.GeminiCLI, `{"sessionId":"s","projectHash":"p","messages":[`, `]}`)
}

func FuzzCodex(f *testing.F) {
	fuzzTool(f, transcript.Codex, `{"type":"session_meta","payload":{"id":"s"}}`+"\n", "")
}
