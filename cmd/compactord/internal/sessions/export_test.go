package sessions_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// An export has all messages as the client wrote them.
func TestExport(t *testing.T) {
	store := sample.StorePath(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "compact", "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	r := programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone)
	want := strings.Split(strings.TrimSpace(sample.Talk(120)), "\n")
	have := strings.Split(strings.TrimSpace(r.Out), "\n")
	require.Len(t, have, len(want), "what was compacted is there too")
	for i := range want {
		require.JSONEq(t, want[i], have[i])
	}
	r = programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "markdown").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "## #479 assistant\n")
	programtest.Ran(t, "export", "--session", "nobody", "--store", store, "--to", "gemini").Ends(t, terminal.ExitFailed).Says(t, `no session "nobody"`)
}

func TestExportLeavesOutWhatWasPutAside(t *testing.T) {
	store := sample.StorePath(t)
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	a := &api.App{Terminal: terminal.Terminal{Stderr: io.Discard}}
	c, err := (&api.Where{Store: store}).Open(t.Context(), a, false)
	require.NoError(t, err)
	_, err = c.Sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 4},
	})
	require.NoError(t, errors.Join(err, c.Close()))
	r := programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone)
	require.Equal(t, 4, strings.Count(r.Out, "\n"))
}
