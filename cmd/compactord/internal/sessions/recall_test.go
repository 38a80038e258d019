package sessions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestRecall(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(5))
	whole := strings.Repeat("func parse1() error\n", 100)
	for _, reference := range []string{"6", "#6", "[#6]", "#6.0", "index 6, part 0"} {
		r := programtest.Ran(t, "recall", reference, path).Ends(t, terminal.ExitDone)
		require.Equal(t, whole, r.Out, reference)
	}
	sample.Contains(t, programtest.Ran(t, "recall", "6", path).Err, "#6.0 tool, result of read_file, active, 2,000 bytes, 100 lines")
	require.Equal(t, whole[5:25], programtest.Ran(t, "recall", "6", path, "--bytes", "5:20").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, whole[1990:], programtest.Ran(t, "recall", "6", path, "--bytes", "1990:").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, whole[:40], programtest.Ran(t, "recall", "6", path, "--lines", "99-").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, whole[:60], programtest.Ran(t, "recall", "6", path, "--lines", "2-4").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, whole[:20], programtest.Ran(t, "recall", "6", path, "--lines", "2").Ends(t, terminal.ExitDone).Out)
	lines := "Fix the failing test"
	require.Equal(t, "1:"+lines+" number 1 in pkg/parser.go.\n", programtest.Ran(t, "recall", "4", path, "--match", "FAIL", "--ignore-case").Ends(t, terminal.ExitDone).Out)
	programtest.Ran(t, "recall", "4", path, "--match", "nowhere").Ends(t, terminal.ExitNothing)
	huge := sample.File(t, "huge.jsonl", `{"role":"user","content":"first\n`+strings.Repeat("x", 4_000_000)+`\nthird\nfourth"}`)
	require.Len(t, programtest.Ran(t, "recall", "0", huge, "--lines", "2-3").Ends(t, terminal.ExitDone).Out, 4_000_000+len("\nthird\n"))
	require.Len(t, programtest.Ran(t, "recall", "0", huge, "--bytes", "6:3500000").Ends(t, terminal.ExitDone).Out, 3_500_000)
	require.Len(t, programtest.Ran(t, "recall", "0", huge).Ends(t, terminal.ExitDone).Out, 4_000_000+len("first\n\nthird\nfourth"))
	r := programtest.Ran(t, "recall", "0", huge, "--match", "x|third").Ends(t, terminal.ExitDone).Says(t,
		"line 2 goes on: compactord recall 0 "+huge+" --bytes 3145734:\n")
	require.Equal(t, "2:"+strings.Repeat("x", 3<<20)+"\n--\n3:third\n", r.Out)
	long := sample.File(t, "long.jsonl", `{"role":"user","content":"`+strings.Repeat("x", 4_000_000)+`"}`)
	require.Len(t, programtest.Ran(t, "recall", "0", long, "--match", "x").Ends(t, terminal.ExitDone).Out, 3<<20+len("1:\n"))
	doc := sample.Document(t, programtest.Ran(t, "recall", "#5.0", path, "--json").Ends(t, terminal.ExitDone).Out)
	require.Contains(t, sample.At(t, doc, "text"), `"pkg/parser_1.go"`)
	for _, wrong := range [][]string{
		{"../6"},
		{"a/b"},
		{"99999999999"},
		{""},
		{"--", "-1"},
		{"6", "--bytes", "5000:"},
		{"6", "--bytes=-1:"},
		{"6", "--lines", "0"},
		{"6", "--lines", "101-"},
		{"6", "--lines", "9-8"},
		{"6", "--lines", "x"},
		{"6", "--match", "("},
		{"6", "--context", "2"},
		{"6", "--lines", "1", "--match", "x"},
	} {
		programtest.Ran(t, append(append([]string{"recall"}, wrong...), path)...).Ends(t, terminal.ExitUsage)
	}
	programtest.Ran(t, "recall", "20", path).Ends(t, terminal.ExitFailed).Says(t, "(CONTENT_NOT_FOUND)")
	programtest.Ran(t, "recall", "6.1", path).Ends(t, terminal.ExitFailed).Says(t, "(CONTENT_NOT_FOUND)")
}

// The file before the reference, as other commands take it, is told from a wrong reference.
func TestRecallOfAReferenceAfterItsFile(t *testing.T) {
	programtest.Ran(t, "recall", "talk.jsonl", "#3").Ends(t, terminal.ExitUsage).
		Says(t, "the reference comes before the file: recall 3 talk.jsonl")
}
