package e2e_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedCases are the numbers of the cases that this release is about, first and last of each run.
var seedCases = [][2]int{
	{1, 11}, {45, 64}, {68, 68}, {74, 85}, {123, 134}, {135, 144}, {166, 167}, {169, 169}, {171, 171}, {175, 175},
}

// noTest are the cases without a test: the file of 64 is not available, and the others cannot arise in a log.
var noTest = map[int]bool{64: true, 85: true, 127: true, 129: true}

// TestSeedCases demands a row for each case, and that the tests it names exist.
func TestSeedCases(t *testing.T) {
	var want, got []int
	for _, run := range seedCases {
		for n := run[0]; n <= run[1]; n++ {
			want = append(want, n)
		}
	}
	for _, row := range rows(t, document(t, "docs/seed-cases.md"), "case", "what compactord does") {
		n, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		got = append(got, n)
		if noTest[n] {
			require.NotContains(t, row[2], "`")
			continue
		}
		for _, name := range strings.Split(row[2], ", ") {
			requireTest(t, n, strings.Trim(name, "`"))
		}
	}
	require.Equal(t, want, got)
}

// requireTest demands that PACKAGE.NAME is a test of this repository.
func requireTest(t *testing.T, n int, name string) {
	t.Helper()
	folder, function, ok := strings.Cut(name, ".")
	require.True(t, ok, "case %d: %q is not PACKAGE.NAME", n, name)
	files, err := filepath.Glob(filepath.Join(repo, folder, "*_test.go"))
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(function) + `\(t \*testing\.T\)`)
	for _, file := range files {
		path, err := filepath.Rel(repo, file)
		require.NoError(t, err)
		if declared.MatchString(document(t, path)) {
			return
		}
	}
	t.Errorf("case %d: there is no test %s", n, name)
}
