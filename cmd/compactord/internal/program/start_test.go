package program_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each command pays for what packages do before main, whether it needs that or not. Regular expressions took a fifth of the
// time of `compactord version`.
func TestNoPackageCompilesExpressionsBeforeMain(t *testing.T) {
	const root = "../../../../"
	looked := 0
	for _, folder := range []string{
		"cmd", "dialects", "docs", "proto", "recall", "service", "session", "storage", "strategies", "summarizers", "tracing",
	} {
		err := filepath.WalkDir(root+folder, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || ofTests(path) {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			for _, declared := range parsed.Decls {
				if variables, is := declared.(*ast.GenDecl); is && variables.Tok == token.VAR {
					looked++
					require.False(t, compilesAtOnce(variables), "%s: %s: compile it by sync.OnceValue at its first use", path, namesOf(variables))
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	require.Greater(t, looked, 100)
}

// ofTests says whether only tests use a file.
func ofTests(path string) bool {
	folder := filepath.Base(filepath.Dir(path))
	return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(folder, "test") || folder == "attacks" || folder == "sample"
}

// compilesAtOnce says whether a declaration compiles a regular expression, except in a function that is called later.
func compilesAtOnce(variables ast.Node) (found bool) {
	ast.Inspect(variables, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return !found
		}
		switch of, name := selected(call.Fun); {
		case of == "sync" && strings.HasPrefix(name, "Once"), of == "lazily":
			return false
		case of == "regexp" && strings.Contains(name, "Compile"):
			found = true
		}
		return !found
	})
	return found
}

func selected(called ast.Expr) (of, name string) {
	if selector, is := called.(*ast.SelectorExpr); is {
		if from, is := selector.X.(*ast.Ident); is {
			return from.Name, selector.Sel.Name
		}
	}
	return "", ""
}

func namesOf(variables *ast.GenDecl) string {
	var names []string
	for _, spec := range variables.Specs {
		if values, is := spec.(*ast.ValueSpec); is {
			for _, name := range values.Names {
				names = append(names, name.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}
