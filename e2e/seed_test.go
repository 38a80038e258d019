package e2e_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lastSeedCase is the highest number of the seed cases, which begin with 1.
const lastSeedCase = 234

// Cases without a test.
var (
	// cannotArise are the cases that the design excludes; their rows say why.
	cannotArise = runs([2]int{64, 64}, [2]int{172, 172}, [2]int{176, 178}, [2]int{184, 184})
)

// ruled are the cases for which the list of seed cases demands a behaviour that differs from its sources. They must
// have tests.
var ruled = []int{
	9, 14, 22, 23, 31, 32, 41, 50, 54, 55, 62, 67, 68, 72, 80, 82, 96, 98, 100, 101, 105, 116, 127, 137, 146, 148, 169, 171,
	175, 180, 185, 192, 199, 200, 216,
}

// runs returns the numbers of ranges, each with its first and last number.
func runs(pairs ...[2]int) map[int]bool {
	set := make(map[int]bool)
	for _, pair := range pairs {
		for n := pair[0]; n <= pair[1]; n++ {
			set[n] = true
		}
	}
	return set
}

// TestSeedCases requires a row for each case, with existing tests or with a reason why there is none.
func TestSeedCases(t *testing.T) {
	next := 1
	for _, row := range rows(t, document(t, "docs/seed-cases.md"), "case", "what compactord does") {
		n, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		require.Equal(t, next, n, "each case has a row, in order")
		next++
		switch {
		case cannotArise[n]:
			require.Regexp(t, `^(cannot arise|its file is not available)`, row[2], "case %d", n)
		default:
			for _, name := range strings.Split(row[2], ", ") {
				requireTest(t, n, strings.Trim(name, "`"))
			}
		}
	}
	require.Equal(t, lastSeedCase, next-1)
	for _, n := range ruled {
		require.False(t, cannotArise[n], "case %d says what has to be done", n)
	}
}

// TestComplaints requires that the tests exist which the table of users' complaints names.
func TestComplaints(t *testing.T) {
	held := rows(t, document(t, "docs/seed-cases.md"), "complaint", "what compactord does")
	require.NotEmpty(t, held)
	for _, row := range held {
		for _, name := range strings.Split(row[2], ", ") {
			requireTest(t, row[0], strings.Trim(name, "`"))
		}
	}
}

// requireTest requires that a test exists: PACKAGE.NAME in Go, FILE::NAME in a client package. In TypeScript, where a
// name is a sentence, NAME is its beginning.
func requireTest(t *testing.T, row any, name string) {
	t.Helper()
	if file, function, ok := strings.Cut(name, "::"); ok {
		requireClientTest(t, row, file, function)
		return
	}
	folder, function, ok := strings.Cut(name, ".")
	require.True(t, ok, "%v: %q is not PACKAGE.NAME", row, name)
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
	t.Errorf("%v: there is no test %s", row, name)
}

func requireClientTest(t *testing.T, row any, file, name string) {
	t.Helper()
	declared := `(?m)^(?:async )?def ` + regexp.QuoteMeta(name) + `\(`
	if strings.HasSuffix(file, ".ts") {
		declared = `(?m)^\s*(?:await )?(?:test|it|t\.test)\(\s*["` + "`" + `]` + regexp.QuoteMeta(name) + `\b`
	}
	require.Regexp(t, declared, document(t, file), "%v: there is no test %s in %s", row, name, file)
}
