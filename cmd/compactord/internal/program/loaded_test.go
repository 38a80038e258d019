package program_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// loadedVariable names a file. With it, the test binary runs its arguments as the program does, and writes the
// functions that allocated memory into the file.
const loadedVariable = "COMPACTORD_TEST_LOADED"

// loadedBy runs the program in the process with that variable.
func loadedBy(file string) int {
	// Sampling at this rate finds each loader, since each allocates hundreds of times as much.
	runtime.MemProfileRate = 256
	code := program.Run(context.Background(), &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr}}, os.Args[1:])
	content, err := json.Marshal(allocating())
	if err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return terminal.ExitFailed
	}
	return code
}

// allocating returns the names of the functions that have allocated memory so far.
func allocating() []string {
	// The profile describes the garbage collection before the last one.
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<20)
	n, _ := runtime.MemProfile(records, true)
	names := make(map[string]bool)
	for _, r := range records[:min(n, len(records))] {
		frames := runtime.CallersFrames(r.Stack())
		for {
			frame, more := frames.Next()
			names[frame.Function] = true
			if !more {
				break
			}
		}
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// loaders are the functions that load something large.
var loaders = map[string]string{
	"vocabulary":     "session/bpe.load",
	"redaction":      "summarizers/redaction/internal/secrets.load",
	"overflow rules": "dialects/overflow.compile",
	"service":        "service.New",
}

// A run used to load everything that the program can do. It must load only what it uses.
func TestOnlyWhatIsUsedIsLoaded(t *testing.T) {
	sample.TemporaryFolder(t)
	path, text := sample.File(t, "talk.jsonl", sample.Talk(20)), sample.File(t, "words.txt", "some words")
	self, err := os.Executable()
	require.NoError(t, err)
	for _, test := range []struct {
		args   []string
		loaded []string
	}{
		{[]string{"version"}, nil},
		{[]string{"view", path}, []string{"service"}},
		{[]string{"tokens", path}, []string{"service"}},
		{[]string{"tokens", "--text", text, "--estimator", "o200k_base"}, []string{"service", "vocabulary"}},
		{[]string{"compact", path, "--keep-recent-tokens", "100"}, []string{"service", "redaction"}},
		{[]string{"compact", path, "--preset", "klip13", "--window", "10000"}, []string{"service"}},
		{[]string{"classify", "--text", "prompt is too long"}, []string{"service", "overflow rules"}},
	} {
		t.Run(test.args[0], func(t *testing.T) {
			into := filepath.Join(t.TempDir(), "loaded.json")
			command := exec.CommandContext(t.Context(), self, test.args...)
			command.Env = append(os.Environ(), loadedVariable+"="+into)
			said, err := command.CombinedOutput()
			require.NoError(t, err, "%s", said)
			content, err := os.ReadFile(into)
			require.NoError(t, err)
			var names []string
			require.NoError(t, json.Unmarshal(content, &names))
			var loaded []string
			for what, loader := range loaders {
				if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, loader) }) {
					loaded = append(loaded, what)
				}
			}
			require.ElementsMatch(t, test.loaded, loaded)
		})
	}
}

// A file of twice the size allocates about twice the memory. The sum of all allocations does not depend on the
// machine's load or on garbage collection.
func TestMemoryGrowsWithTheFile(t *testing.T) {
	sample.TemporaryFolder(t)
	allocated := func(turns int) uint64 {
		path := sample.File(t, "talk.jsonl", sample.Talk(turns))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		programtest.Ran(t, "compact", path, "--json", "--keep-recent-tokens", "1000").Ends(t, terminal.ExitDone)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	// Load first what is loaded only once.
	allocated(50)
	once, twice := allocated(300), allocated(600)
	t.Logf("%d bytes for 300 turns, %d for 600", once, twice)
	require.Less(t, twice, 3*once)
}
