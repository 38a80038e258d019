package sessions_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// pseudoTerminal opens a pseudo terminal. It skips the test where the system has none.
func pseudoTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return person, terminal
}

// onTerminal runs the program on a terminal, types an answer when the question appears, and returns the terminal's
// output.
func onTerminal(t *testing.T, typed string, args ...string) (shown string, code int) {
	t.Helper()
	person, terminal := pseudoTerminal(t)
	cmd := exec.CommandContext(t.Context(), programtest.Binary(t), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	require.NoError(t, cmd.Start())
	require.NoError(t, terminal.Close())
	var all strings.Builder
	buffer := make([]byte, 4096)
	asked := false
	for {
		n, err := person.Read(buffer)
		all.Write(buffer[:n])
		if !asked && strings.Contains(all.String(), "[y/N] ") {
			asked = true
			_, err := io.WriteString(person, typed)
			require.NoError(t, err)
		}
		if err != nil {
			// The program has ended and closed the terminal.
			break
		}
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestAsksOnATerminal(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	programtest.Ran(t, on("import", sample.File(t, "talk.jsonl", sample.Talk(60)), "-q")...).Ends(t, terminal.ExitDone)
	programtest.Ran(t, on("compact", "--keep-recent-tokens", "2000", "-q")...).Ends(t, terminal.ExitDone)

	shown, code := onTerminal(t, "n\n", on("revert", "--turns", "12")...)
	require.Equal(t, terminal.ExitFailed, code, shown)
	sample.Contains(t, shown, grows)
	sample.Contains(t, shown, "nothing was changed")
	shown, code = onTerminal(t, "y\n", on("revert", "--turns", "12")...)
	require.Equal(t, terminal.ExitDone, code, shown)
	sample.Contains(t, shown, "Reverted session s")
	// Ctrl-D is no answer, which means no.
	shown, code = onTerminal(t, "\x04", on("delete")...)
	require.Equal(t, terminal.ExitFailed, code, shown)
	shown, code = onTerminal(t, "", on("delete", "--yes")...)
	require.Equal(t, terminal.ExitDone, code, shown)
}
