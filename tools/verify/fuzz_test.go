package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFuzzTargets(t *testing.T) {
	root := t.TempDir()
	for path, source := range map[string]string{
		"b/b_test.go":              "package b\n\nfunc FuzzTwo(f *testing.F) {}\n\nfunc FuzzOne(f *testing.F) {}\n",
		"b/b.go":                   "package b\n\nfunc FuzzNot(f *testing.F) {}\n",
		"a/deep/x_test.go":         "package deep\n\nfunc FuzzX(fuzz *testing.F) { fuzz.Skip() }\n\nfunc FuzzHelp(t *testing.T) {}\n",
		"a_test.go":                "package main\n\nfunc FuzzRoot(f *testing.F) {}\n",
		"b/testdata/b_test.go":     "package b\n\nfunc FuzzData(f *testing.F) {}\n",
		".bin/b_test.go":           "package b\n\nfunc FuzzHidden(f *testing.F) {}\n",
		"other/go.mod":             "module other\n",
		"other/within/own_test.go": "package within\n\nfunc FuzzOther(f *testing.F) {}\n",
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(source), 0o600))
	}
	targets, err := fuzzTargets(root)
	require.NoError(t, err)
	require.Equal(t, []target{{"./.", "FuzzRoot"}, {"./a/deep", "FuzzX"}, {"./b", "FuzzOne"}, {"./b", "FuzzTwo"}}, targets)
}
