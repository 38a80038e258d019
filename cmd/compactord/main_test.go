package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// program is the path of the built program, for what needs a process of its own.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if file := os.Getenv(loadedVariable); file != "" {
		return loadedBy(file)
	}
	folder, err := os.MkdirTemp("", "compactord-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	// What the surroundings set must not change what is tested.
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "COMPACTORD_") && name != corpusVariable {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(folder, "state"))
	program = filepath.Join(folder, "compactord")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// answer is what a run of the program gave.
type answer struct {
	code     int
	out, err string
}

// ran runs the program in this process.
func ran(t *testing.T, args ...string) answer {
	t.Helper()
	return runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader("")}}, args...)
}

func runWith(ctx context.Context, a *app, args ...string) answer {
	var out, err bytes.Buffer
	a.stdout, a.stderr = &out, &err
	code := run(ctx, a, args)
	return answer{code, out.String(), err.String()}
}

// ranOn runs the program with an input.
func ranOn(t *testing.T, in io.Reader, args ...string) answer {
	t.Helper()
	return runWith(t.Context(), &app{terminal: terminal{stdin: in}}, args...)
}

// ends demands an exit code and shows what was said where it is another.
func (r answer) ends(t *testing.T, code int) answer {
	t.Helper()
	require.Equal(t, code, r.code, "stdout:\n%s\nstderr:\n%s", r.out, r.err)
	return r
}

// says demands a text on stderr.
func (r answer) says(t *testing.T, text string) answer {
	t.Helper()
	require.Contains(t, r.err, text)
	return r
}

// contains demands a part of a text, and shows no more of a long text than a person reads.
func contains(t *testing.T, text, part string) {
	t.Helper()
	const most = 2000
	if !strings.Contains(text, part) {
		require.Failf(t, "a text is missing", "%q is not in: %.*s", part, most, text)
	}
}

// temporaryFolder has temporary folders made in one of the test's own, and demands that none is left at its end.
func temporaryFolder(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, "temporary folders are left")
	})
}
