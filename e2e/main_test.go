// Package e2e_test runs the commands of the documents with the built program, so that documents and program agree.
package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// defaultAddress is the daemon's address in the documents. In their commands it is replaced: by port 0 where the daemon
// starts, and by the daemon's actual port elsewhere.
const defaultAddress = "127.0.0.1:7440"

// repo is the root of the repository, compactord the built program.
var repo, compactord string

func TestMain(m *testing.M) {
	if at := os.Getenv(killedEnv); at != "" {
		fmt.Fprintln(os.Stderr, "e2e:", serveUntilKilled(at))
		os.Exit(1)
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "compactord-e2e-")
		if err == nil {
			defer func() { _ = os.RemoveAll(folder) }()
			repo, err = filepath.Abs("..")
		}
		if err == nil {
			compactord = filepath.Join(folder, "compactord")
			err = errors.Join(build(folder), daemontest.KeepState(folder))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
		return postgrestest.Suite{M: m}.Run()
	}())
}

func build(folder string) error {
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", folder, "./cmd/compactord")
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// daemonLimit is when a daemon that does not stop is killed. Even on a busy machine, stopping takes less.
const daemonLimit = 10 * time.Minute

var listensOn = regexp.MustCompile(`^compactord listens on (\S+),`)

// startDaemon runs a `... serve ...` command of a document in a folder, on a free port, until the test ends. It returns
// the daemon's address.
func startDaemon(t *testing.T, folder, command string) string {
	t.Helper()
	require.Contains(t, command, defaultAddress)
	fields := strings.Fields(strings.ReplaceAll(command, defaultAddress, "127.0.0.1:0"))
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, fields[0]), fields[1:]...)
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = daemonLimit
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	t.Cleanup(func() {
		// The test's context has ended, which stops the daemon like Ctrl-C.
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Errorf("the daemon ended with %v: %s", err, stderr.String())
		}
	})
	require.NoError(t, err, "the daemon said nothing")
	found := listensOn.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	return found[1]
}

// run runs the program, requires an exit code, and returns the output.
func run(t *testing.T, code int, arguments ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), compactord, arguments...)
	cmd.Dir = t.TempDir()
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
	}
	require.Equal(t, code, cmd.ProcessState.ExitCode(), messages.String())
	return out.String(), messages.String()
}

// document returns the text of a file of the repository.
func document(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repo, path))
	require.NoError(t, err)
	return string(content)
}

// rows returns the rows of all tables of a document whose header begins with these cells.
func rows(t *testing.T, text string, header ...string) [][]string {
	t.Helper()
	var found [][]string
	inside := false
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		switch {
		case cells == nil:
			inside = false
		case len(cells) >= len(header) && strings.Join(cells[:len(header)], "|") == strings.Join(header, "|"):
			inside = true
		case inside && !strings.HasPrefix(cells[0], "---"):
			found = append(found, cells)
		}
	}
	require.NotEmpty(t, found, "no table with the columns %v", header)
	return found
}

func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	return cells
}
