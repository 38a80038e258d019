package dialects_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var packages = []string{"anthropic", "gemini", "openaichat", "openairesponses"}

// job is a row of the table of files in CONTRIBUTING.md.
type job struct {
	file     string
	declares []string
	packages []string
}

var quoted = regexp.MustCompile("`([^`]+)`")

func jobs(t *testing.T) []job {
	t.Helper()
	raw, err := os.ReadFile("../CONTRIBUTING.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(raw), "<!-- files: dialects -->")
	require.True(t, found, "CONTRIBUTING.md has the table of the files of a dialect")
	table, _, found = strings.Cut(table, "<!-- end -->")
	require.True(t, found, "the table of the files of a dialect has an end")
	var all []job
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		j := job{file: quoted.FindStringSubmatch(cells[1])[1], packages: packages}
		for _, name := range quoted.FindAllStringSubmatch(cells[3], -1) {
			j.declares = append(j.declares, name[1])
		}
		if in := strings.TrimSpace(cells[4]); in != "all" {
			j.packages = strings.Split(in, ", ")
		}
		all = append(all, j)
	}
	require.NotEmpty(t, all)
	return all
}

// TestTheSameJobsStandInTheSameFiles compares the files of each dialect with the table in CONTRIBUTING.md. A file that
// is missing there has the wrong name, or needs a new row.
func TestTheSameJobsStandInTheSameFiles(t *testing.T) {
	t.Parallel()
	table := jobs(t)
	for _, in := range packages {
		var want []string
		for _, j := range table {
			if slices.Contains(j.packages, in) {
				want = append(want, j.file)
			}
		}
		paths, err := filepath.Glob(filepath.Join(in, "*.go"))
		require.NoError(t, err)
		have := make([]string, 0, len(paths))
		for _, path := range paths {
			file := filepath.Base(path)
			subject := strings.TrimSuffix(file, "_test.go") + ".go"
			if strings.HasSuffix(file, "_test.go") && slices.Contains(want, subject) {
				// The tests of a file are in the file beside it.
				continue
			}
			have = append(have, file)
		}
		require.ElementsMatch(t, want, have, "the files of %s, and the table in CONTRIBUTING.md", in)
	}
}

// TestTheSameJobsHaveTheSameNames checks that the types and functions of the table are declared in the files that it
// names.
func TestTheSameJobsHaveTheSameNames(t *testing.T) {
	t.Parallel()
	for _, j := range jobs(t) {
		for _, in := range j.packages {
			path := filepath.Join(in, j.file)
			have := declared(t, path, true)
			for _, name := range j.declares {
				require.Contains(t, have, name, path)
			}
		}
	}
}

// TestDialectsExportTheSameNames checks that all dialects are used by the same functions.
func TestDialectsExportTheSameNames(t *testing.T) {
	t.Parallel()
	for _, in := range packages {
		paths, err := filepath.Glob(filepath.Join(in, "*.go"))
		require.NoError(t, err)
		var exported []string
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, name := range declared(t, path, false) {
				if ast.IsExported(name) {
					exported = append(exported, name)
				}
			}
		}
		want := []string{"New"}
		if in == "openaichat" {
			// Recordings of many tools hold single messages of this shape.
			want = append(want, "ParseMessage")
		}
		require.ElementsMatch(t, want, exported, in)
	}
}

// declared returns the names that a file declares at its top level, with or without methods.
func declared(t *testing.T, path string, methods bool) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if methods || d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}
