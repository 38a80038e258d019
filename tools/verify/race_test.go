package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func repository(t *testing.T) *verifier {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return &verifier{root: root, out: io.Discard, err: io.Discard}
}

// What is left out of the run under the race detector has nothing that it could find: no goroutine, and nothing that
// guards what goroutines share.
func TestSequentialPackagesAreSequential(t *testing.T) {
	v := repository(t)
	folders, err := v.list(t.Context(), sequential)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(folders), len(sequential), "each pattern names a package with tests")
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(v.root, folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			require.Empty(t, concurrencyIn(t, file), "%s is left out of the run under the race detector", file)
		}
	}
}

func concurrencyIn(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "go")
		case *ast.ImportSpec:
			switch n.Path.Value {
			case `"sync"`, `"sync/atomic"`, `"golang.org/x/sync/errgroup"`:
				found = append(found, n.Path.Value)
			}
		}
		return true
	})
	return found
}

func TestConcurrentPackages(t *testing.T) {
	v := repository(t)
	all, err := v.concurrent(t.Context(), []string{"./service", "./..."})
	require.NoError(t, err)
	require.Equal(t, "./service", all[0], "in the order in which they are named")
	require.Subset(t, all, []string{
		"./cmd/compactord", "./dialects/transcript", "./e2e/faults", "./session/bpe", "./storage/bolt", "./summarizers/llm",
	})
	for _, folder := range []string{"./session", "./strategies", "./dialects/anthropic", "./e2e/daemontest"} {
		require.NotContains(t, all, folder)
	}
	none, err := v.concurrent(t.Context(), []string{"./session", "./strategies/..."})
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = v.concurrent(t.Context(), []string{"./nowhere"})
	require.Error(t, err)
}
