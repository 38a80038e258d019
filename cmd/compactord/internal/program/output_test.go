package program_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// failingWriter fails as the stdout of a process does.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// What a command writes itself is known as output too: `export | head` printed an error about a broken pipe.
func TestClosedPipesNeedNoMessage(t *testing.T) {
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	for _, to := range []string{"all", "openai_chat", "markdown"} {
		said := func(err error) string {
			var stderr bytes.Buffer
			a := &api.App{Terminal: terminal.Terminal{Stdout: failingWriter{fmt.Errorf("write /dev/stdout: %w", err)}, Stderr: &stderr}}
			require.Equal(t, terminal.ExitFailed, program.Run(t.Context(), a, []string{"export", "--session", "s", "--store", store, "--to", to, "-q"}))
			return stderr.String()
		}
		require.Empty(t, said(syscall.EPIPE), to)
		require.Contains(t, said(syscall.ENOSPC), "cannot write the output: write /dev/stdout: no space left on device\n", to)
	}
}

// A script can give -q to every command that works on sessions.
func TestCommandsOnSessionsTakeQuiet(t *testing.T) {
	for _, command := range leaves(t) {
		flags := make(map[string]rune)
		for _, f := range command.Flags {
			flags[f.Name] = f.Short
		}
		_, json := flags["json"]
		if _, addr := flags["addr"]; addr && json {
			assert.Equal(t, 'q', flags["quiet"], command.Name)
		}
	}
}
