// Package programtest runs the program in tests: in the test's process, as a daemon, or as a separate process.
package programtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// FiveTurns creates a store with a session of five turns, messages 0 to 19. Each tool result has 100 lines. It returns
// a function that runs the program on the store.
func FiveTurns(t *testing.T) func(args ...string) Answer {
	t.Helper()
	store := anystore.Place(t)
	on := func(args ...string) Answer { return Ran(t, append(args, "--store", store)...) }
	on("import", sample.File(t, "talk.jsonl", sample.Talk(5)), "--session", "s").Ends(t, terminal.ExitDone)
	return on
}

var (
	// folder holds the files that all tests of this process share.
	folder string
	// source is the working directory at the start, within the module. Tests may change it.
	source string
)

// kept are variables of the environment that are about the tests and not about the program.
var kept = []string{sample.CorpusVariable, sample.MeasuringVariable, anystore.Variable}

// Main runs the tests of a package without the environment's settings, and requires that they leave no goroutine.
func Main(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "compactord-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if source, err = os.Getwd(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "COMPACTORD_") && !slices.Contains(kept, name) {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(folder, "state"))
	code := postgrestest.Suite{M: m}.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// built builds the program once.
var built = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(folder, terminal.ProgramName)
	build := exec.CommandContext(context.Background(), "go", "build", "-o", path, terminal.MainPackage)
	build.Dir = source
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// Binary returns the path of the built program, for tests that need a separate process.
func Binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	return path
}

// Answer is the result of a run of the program.
type Answer struct {
	Code     int
	Out, Err string
}

// Ran runs the program in this process.
func Ran(t *testing.T, args ...string) Answer {
	t.Helper()
	return RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader("")}}, args...)
}

// RunWith runs the program in this process with the given App.
func RunWith(ctx context.Context, a *api.App, args ...string) Answer {
	var out, err bytes.Buffer
	a.Stdout, a.Stderr = &out, &err
	code := program.Run(ctx, a, args)
	return Answer{code, out.String(), err.String()}
}

// RanOn runs the program with an input.
func RanOn(t *testing.T, in io.Reader, args ...string) Answer {
	t.Helper()
	return RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{Stdin: in}}, args...)
}

// Ends requires an exit code, and prints the output if it is another.
func (r Answer) Ends(t *testing.T, code int) Answer {
	t.Helper()
	require.Equal(t, code, r.Code, "stdout:\n%s\nstderr:\n%s", r.Out, r.Err)
	return r
}

// Says requires a text on stderr.
func (r Answer) Says(t *testing.T, text string) Answer {
	t.Helper()
	require.Contains(t, r.Err, text)
	return r
}
