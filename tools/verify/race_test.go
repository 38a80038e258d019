package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func repository(t *testing.T) *verifier {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return &verifier{root: root, out: io.Discard, err: io.Discard}
}

// Sequential packages have no goroutines, and nothing that guards data shared by goroutines.
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
			case `"sync/atomic"`, `"golang.org/x/sync/errgroup"`:
				found = append(found, n.Path.Value)
			}
		case *ast.SelectorExpr:
			// A value that is made once, such as an expression, guards nothing that changes.
			if from, ok := n.X.(*ast.Ident); ok && from.Name == "sync" && n.Sel.Name != "OnceValue" {
				found = append(found, "sync."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// Packages whose tests start goroutines, but which a quick run tests without the race detector, are sequential
// themselves. The exceptions are the program and e2e; see the comment of the list.
func TestUnracedPackagesAreSequential(t *testing.T) {
	v := repository(t)
	folders, err := v.list(t.Context(), unraced)
	require.NoError(t, err)
	require.Equal(t, unraced, folders, "each is a package with tests")
	for _, folder := range folders {
		if !strings.HasPrefix(folder, "./dialects/") && !strings.HasPrefix(folder, "./summarizers/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(v.root, folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				require.Empty(t, concurrencyIn(t, file), "%s is left out of a quick run under the race detector", file)
			}
		}
	}
}

// The tests that a quick run tests without the race detector are in their packages and in no others, since each run
// selects them by name alone. No other test of these packages is left out.
func TestSequentialTestsAreThere(t *testing.T) {
	v := repository(t)
	folders, err := v.list(t.Context(), []string{"./..."})
	require.NoError(t, err)
	listed := map[string]string{}
	for folder, names := range sequentialTests {
		for _, name := range names {
			require.NotContains(t, listed, name)
			listed[name] = folder
		}
	}
	found := map[string]string{}
	for _, folder := range folders {
		for _, name := range testsIn(t, filepath.Join(v.root, folder)) {
			if _, ok := listed[name]; ok {
				require.NotContains(t, found, name)
				found[name] = folder
			}
		}
	}
	require.Equal(t, listed, found)
}

// testsIn returns the names of the functions in the test files of a folder.
func testsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declared := range parsed.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
