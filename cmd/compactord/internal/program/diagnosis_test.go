package program_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// A bug used to print pages of a stack on the terminal, even with -q.
func TestStackOfABugIsForWhoAsksForIt(t *testing.T) {
	sample.TemporaryFolder(t)
	run := func(args ...string) string {
		return programtest.RunWith(t.Context(), &api.App{Summarizer: programtest.Panicking{}}, append([]string{"compact", sample.TalkFile(t)}, args...)...).Ends(t, terminal.ExitFailed).Err
	}
	plain := run()
	require.Contains(t, plain, "level=ERROR msg=panicked")
	require.NotContains(t, plain, "goroutine")
	require.NotContains(t, plain, "stack=")

	quiet := run("-q")
	require.Len(t, strings.Split(strings.TrimSpace(quiet), "\n"), 2, quiet)
	require.True(t, strings.HasPrefix(quiet, "compactord: summarizer extractive failed: internal error "), quiet)

	for _, level := range []string{"info", "warn", "error"} {
		require.NotContains(t, run("--log-level", level), "goroutine", level)
	}
	debug := run("-q", "--log-level", "debug")
	require.Contains(t, debug, "programtest/summarizers.go")
	require.Contains(t, debug, "\nPlease report it, with what you did.\n")

	programtest.RunWith(t.Context(), &api.App{}, "compact", sample.TalkFile(t), "--log-level", "loud").Ends(t, terminal.ExitUsage).Says(t, "--log-level")
}

// broken is a stderr whose Write panics once.
type broken struct {
	strings.Builder
	struck bool
}

// Write panics at the first write of the command. Writes of the service's log pass.
func (b *broken) Write(p []byte) (int, error) {
	if !b.struck && strings.HasPrefix(string(p), "reading ") {
		b.struck = true
		panic(errors.New("secret"))
	}
	return b.Builder.Write(p)
}

// A panic in a command itself is reported as a bug, without a stack.
func TestPanicOfACommandIsReported(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	run := func(args ...string) string {
		var told broken
		a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &told}}
		require.Equal(t, terminal.ExitFailed, program.Run(t.Context(), a, append([]string{"view", path}, args...)))
		return told.String()
	}
	require.Equal(t, "compactord: this is a bug: the program panicked with a *errors.errorString\n"+
		"Please report it, with what you did and with what --log-level debug prints.\n", run())
	debug := run("--log-level", "debug")
	require.Contains(t, debug, "diagnosis_test.go")
	require.NotContains(t, debug, "secret")
}
