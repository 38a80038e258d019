package main

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lines returns the calls of go test that a tier makes for some packages.
func lines(v *verifier, recordings string, compiler bool, tested ...string) []string {
	var all []string
	for _, r := range v.testRuns(tested, []string{"./session", "./e2e"}, compiler) {
		all = append(all, r.command(recordings, v.test.flags).String())
	}
	return all
}

func TestTestRuns(t *testing.T) {
	quickly, fully := &verifier{}, &verifier{tier: full}
	sequentialOfService := strings.Join(sequentialTests["./service"], "|")
	tested := []string{"./service", "./e2e", "./e2e/clients", "./session"}
	tools := "go test -timeout=60m -race -short -shuffle=on -count=1 -vet=all ./... (in tools)"
	require.Equal(t, []string{
		tools,
		"go test -timeout=60m -short -vet=all ./... (in tools/packaging)",
		"go test -timeout=60m -short -vet=all ./... (in tools/release)",
		"go test -timeout=60m -short -vet=all ./... (in sdkcheck)",
		"go test -timeout=60m -short -vet=all ./... (in summarizers/redaction/gitleaks)",
		"go test -timeout=60m -short -vet=off -run=^(" + sequentialOfService + ")$ ./service",
		"go test -timeout=60m -race -short -vet=off -skip=^(" + sequentialOfService + ")$ ./service",
		"go test -timeout=60m -race -short -shuffle=on -count=1 -vet=off ./e2e/clients",
		"go test -timeout=60m -short -vet=off ./session",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./e2e",
	}, lines(quickly, "", true, tested...))
	require.Equal(t, []string{
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=all ./... (in tools)",
		"go test -timeout=60m -short -vet=all ./... (in tools/packaging)",
		"go test -timeout=60m -short -vet=all ./... (in tools/release)",
		"go test -timeout=60m -short -vet=all ./... (in sdkcheck)",
		"go test -timeout=60m -short -vet=all ./... (in summarizers/redaction/gitleaks)",
		"go test -timeout=60m -short -vet=off ./service ./session",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./e2e ./e2e/clients",
	}, lines(quickly, "", false, tested...))
	require.Equal(t, []string{
		"go test -timeout=60m -race -shuffle=on -count=1 -vet=all ./... (in tools)",
		"go test -timeout=60m -race -shuffle=on -count=1 -vet=all ./... (in tools/packaging)",
		"go test -timeout=60m -race -shuffle=on -count=1 -vet=all ./... (in tools/release)",
		"go test -timeout=60m -race -shuffle=on -count=1 -vet=all ./... (in sdkcheck)",
		"go test -timeout=60m -race -shuffle=on -count=1 -vet=all ./... (in summarizers/redaction/gitleaks)",
		"go test -timeout=60m -shuffle=on -count=1 ./service ./e2e ./e2e/clients ./session",
		"go test -timeout=60m -race -short -shuffle=on -count=1 -vet=off ./service ./e2e ./e2e/clients ./session",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./service",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./service ./e2e ./e2e/clients",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./service -over-http=application/json",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./service -over-http=application/proto",
		"go test -timeout=60m -short -shuffle=on -count=1 -vet=off ./service -over-http=application/grpc-web+proto",
	}, lines(fully, "", true, tested...))
	require.Len(t, lines(fully, "", false, tested...), 11)
	stores := fully.testRuns(tested, nil, false)[6:]
	require.Equal(t, []string{"COMPACTORD_TEST_STORE=bolt"}, stores[0].command("", nil).env)
	require.Equal(t, []string{"COMPACTORD_TEST_STORE=postgres"}, stores[1].command("", nil).env)
	require.Len(t, lines(fully, "", false, "./session"), 6, "no package that other stores are for")

	narrowed := &verifier{test: testArgs{packages: []string{"./service"}, flags: []string{"-run", "Cut"}}}
	require.Equal(t, []string{"go test -timeout=60m -race -short -vet=off ./service -run Cut"},
		lines(narrowed, "", true, "./service"))
	require.Equal(t, []string{"go test -timeout=60m -race -short -shuffle=on -count=1 -vet=off ./service -run Cut"},
		lines(narrowed, unlinked, true, "./service"), "where go does not see them change")
	runs := narrowed.testRuns([]string{"./service"}, nil, true)
	require.Equal(t, []string{"CGO_ENABLED=1", "COMPACTORD_CORPUS=r/."}, runs[0].command("r/.", nil).env)
}

func TestListKeepsTheOrder(t *testing.T) {
	v := repository(t)
	all, err := v.list(t.Context(), []string{"./service", "./..."})
	require.NoError(t, err)
	require.Equal(t, "./service", all[0])
	require.Subset(t, all, []string{
		"./cmd/compactord", "./dialects/transcript", "./e2e/faults", "./session", "./session/bpe", "./storage/bolt", "./summarizers/llm",
	})
	require.NotContains(t, all, "./e2e/daemontest", "it has no tests")
	_, err = v.list(t.Context(), []string{"./nowhere"})
	require.Error(t, err)
}

// startsItself are packages whose tests start only the test binary, of which go sees everything.
var startsItself = []string{"./cmd/compactord", "./service", "./storage/bolt"}

// go sees the files that a test opens, but not those that a started program opens.
func TestResultsOfTestsThatStartProgramsAreNotCached(t *testing.T) {
	v := repository(t)
	tested, err := v.list(t.Context(), []string{"./..."})
	require.NoError(t, err)
	for _, folder := range slices.Concat(uncacheable, startsItself) {
		require.Contains(t, tested, folder)
	}
	for _, folder := range tested {
		files, err := filepath.Glob(filepath.Join(v.root, folder, "*_test.go"))
		require.NoError(t, err)
		starts := slices.ContainsFunc(files, func(file string) bool {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, imported := range parsed.Imports {
				if imported.Path.Value == `"os/exec"` {
					return true
				}
			}
			return false
		})
		if starts && !slices.Contains(startsItself, folder) {
			require.Contains(t, uncacheable, folder, "what its tests start reads what go does not see")
		}
	}
}

// Recordings outside the clone are linked into it, so that go notices changes.
func TestRecordingsAreLinked(t *testing.T) {
	above := t.TempDir()
	v := &verifier{root: filepath.Join(above, "clone")}
	t.Setenv(recordingsVariable, "")
	require.Empty(t, v.linkRecordings())
	require.NoError(t, write(above, "shared/corpus/a.jsonl", "first"))
	require.NoError(t, write(above, "others/a.jsonl", "second"))
	read := func() string {
		t.Helper()
		folder := v.linkRecordings()
		if folder == unlinked {
			t.Skip("no symbolic links here")
		}
		require.True(t, strings.HasPrefix(folder, v.root))
		var found string
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				text, err := os.ReadFile(path)
				found += string(text)
				return err
			}
			return err
		}))
		return found
	}
	require.Equal(t, "first", read())
	require.Equal(t, "first", read())
	t.Setenv(recordingsVariable, filepath.Join(above, "others"))
	require.Equal(t, "second", read())
	require.NoError(t, os.RemoveAll(filepath.Join(v.root, "bin")))
	require.NoError(t, write(v.root, "bin", "a file where the folder would be"))
	require.Equal(t, unlinked, v.linkRecordings())
}

// One run tells all tests that fail. An interrupted one ends at once.
func TestEachTestRunIsReported(t *testing.T) {
	var out bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out, err: &out}
	runs := []testRun{{packages: []string{"./no-such-folder"}}, {packages: []string{"./nor-this"}}}
	err := v.runEach(t.Context(), runs, "")
	require.ErrorContains(t, err, "./no-such-folder: exit status")
	require.ErrorContains(t, err, "./nor-this: exit status")

	ended, stop := context.WithCancel(t.Context())
	stop()
	out.Reset()
	require.ErrorIs(t, v.runEach(ended, runs, ""), errInterrupted)
	require.NotContains(t, out.String(), "nor-this")
}
