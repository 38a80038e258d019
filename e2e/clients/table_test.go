// Package clients_test runs the cases of clients/cases with the generated stubs alone, and writes their answers. The
// tests of the client packages compare with the same answers.
package clients_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/e2e/daemontest"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// table is the folder of the cases.
const table = "../../clients/cases"

var update = flag.Bool("update", false, "write the answers of the cases, instead of comparing them")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(postgrestest.Suite{M: m})
}

// file is a file of cases.
type file struct {
	Cases []testCase `json:"cases"`
}

// testCase is a case.
type testCase struct {
	Name    string `json:"name"`
	Dialect string `json:"dialect"`
	Steps   []step `json:"steps"`
}

// step is an action: its name under `do`, and its arguments, most of them with the name of the field in the request.
type step map[string]json.RawMessage

// Each step of each case returns the answer in the case's .want.json.
func TestCasesByStubs(t *testing.T) {
	compareCases(t, daemontest.Start(t, daemontest.Options{}))
}

// compareCases runs all cases with a daemon's client, and compares their answers, or writes them.
func compareCases(t *testing.T, d *daemontest.Daemon) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(table, "*.json"))
	require.NoError(t, err)
	count := 0
	seen := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, ".want.json") {
			continue
		}
		var cases file
		read(t, path, &cases)
		wantPath := strings.TrimSuffix(path, ".json") + ".want.json"
		want := map[string][]any{}
		if _, err := os.Stat(wantPath); err == nil || !*update {
			read(t, wantPath, &want)
		}
		if !*update {
			require.Len(t, want, len(cases.Cases), wantPath)
		}
		for _, c := range cases.Cases {
			require.False(t, seen[c.Name], "two cases are called %s", c.Name)
			seen[c.Name] = true
			count++
			t.Run(c.Name, func(t *testing.T) {
				answers := run(t, d, c)
				if *update {
					want[c.Name] = answers
					return
				}
				require.Len(t, want[c.Name], len(answers))
				for i, answer := range answers {
					require.Equal(t, want[c.Name][i], answer, "step %d: %s", i, c.Steps[i]["do"])
				}
			})
		}
		if *update && !t.Failed() {
			// Cases that -run leaves out keep their answers.
			maps.DeleteFunc(want, func(name string, _ []any) bool { return !seen[name] })
			write(t, wantPath, want)
		}
	}
	require.GreaterOrEqual(t, count, 80)
}

// read reads a file of JSON.
func read(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(into), path)
}

// write writes readable JSON: with sorted keys, and with <, > and & unescaped.
func write(t *testing.T, path string, content any) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	require.NoError(t, encoder.Encode(content))
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
}
