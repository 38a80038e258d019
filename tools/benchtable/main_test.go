package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const output = `goos: linux
goarch: amd64
pkg: example.com/e2e/load
cpu: Some CPU
BenchmarkView/kB=800/base=echo-2  100  5000000 ns/op  1000000 base-ns  3000000 p50-ns  9000000 p99-ns  3.000 x-base  1.500 x-target  4096 B/op  12 allocs/op
BenchmarkView/kB=800/base=echo-2  100  5000000 ns/op  1000000 base-ns  1200000 p50-ns  9000000 p99-ns  1.200 x-base  1.500 x-target  4096 B/op  12 allocs/op
BenchmarkView/kB=800/base=echo-2  100  5000000 ns/op  1000000 base-ns  2000000 p50-ns  9000000 p99-ns  2.000 x-base  1.500 x-target  4096 B/op  12 allocs/op
BenchmarkCompact/tokens=200-2  10  5 ns/op  40000000 p50-ns  49000000 p99-ns  50000000 limit-ns
BenchmarkOther-2  10  1500 ns/op  61.20 MB/s
PASS
ok  	example.com/e2e/load	3.1s
`

func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	var out strings.Builder
	require.NoError(t, run(strings.NewReader(output), &out, file, ""))
	var rows [][]string
	for line := range strings.Lines(out.String()) {
		rows = append(rows, strings.Fields(line))
	}
	require.Equal(t, [][]string{
		{"linux/amd64,", "Some", "CPU,", "2", "threads"},
		{},
		{"operation", "size", "p50", "p99", "baseline", "base", "p50", "ratio", "target", "MB/s", "allocs", "bytes"},
		{"View", "kB=800", "2ms", "9ms", "echo", "1ms", "2.00", "1.50", "12", "4096", "over"},
		{"Compact", "tokens=200", "40ms", "49ms", "50ms"},
		{"Other", "~1.5µs", "61.2"},
	}, rows)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var written report
	require.NoError(t, json.NewDecoder(bytes.NewReader(text)).Decode(&written))
	require.Len(t, written.Rows, 3)
	require.Equal(t, 3, written.Rows[0].Runs)
	require.InDelta(t, 2, written.Rows[0].Figures["x-base"], 0)
	require.Equal(t, "echo", written.Rows[0].Baseline)
}

func TestTableWithoutFigures(t *testing.T) {
	require.ErrorContains(t, run(strings.NewReader("PASS\n"), &strings.Builder{}, "", ""), "no benchmarks")
}

func TestTableOfADocument(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, os.WriteFile(document, []byte("Before.\n\n<!-- bench -->\nan old table\n<!-- end -->\n\nAfter.\n"), 0o600))
	require.NoError(t, run(strings.NewReader(output), &strings.Builder{}, "", document))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, `Before.

<!-- bench -->

| operation | size | p50 | p99 | baseline | its p50 | ratio | target | allocations |
|---|---|---|---|---|---|---|---|---|
| whole view | 800 kB | 2.00 ms | 9.00 ms | echo | 1.00 ms | 2.00 | 1.50 | 12, 4 kB |
| compaction by `+"`extractive`"+` | 200 tokens | 40 ms | 49 ms |  |  |  | 50 ms |  |
| Other |  |  |  |  |  |  |  |  |

<!-- end -->

After.
`, string(text))
}

func TestDocumentWithoutATable(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, os.WriteFile(document, []byte("Before.\n<!-- bench -->\n"), 0o600))
	require.ErrorContains(t, run(strings.NewReader(output), &strings.Builder{}, "", document), "<!-- end -->")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, "Before.\n<!-- bench -->\n", string(text))
}

func TestSizesInWords(t *testing.T) {
	for size, words := range map[string]string{
		"kB=8000 dialect=gemini":             "8,000 kB, `gemini`",
		"kB=800 messages=10000 dialect=none": "800 kB, 10,000 messages, neutral",
		"append covered=100000":              "append, 100,000 messages behind the cut",
		"kB=2 clients=64":                    "2 kB, 64 clients",
		"":                                   "",
	} {
		require.Equal(t, words, (&row{Size: size}).sizes())
	}
}

func TestPerformanceHasATable(t *testing.T) {
	text, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	require.Contains(t, rest, end)
}
