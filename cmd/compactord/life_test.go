package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// life is a store with a session of five turns: messages 0 to 19, each result of 100 lines.
func life(t *testing.T) func(args ...string) answer {
	t.Helper()
	store := storePath(t)
	on := func(args ...string) answer { return ran(t, append(args, "--store", store)...) }
	on("import", file(t, "talk.jsonl", talk(5)), "--session", "s").ends(t, exitDone)
	return on
}

func TestGoingBack(t *testing.T) {
	on := life(t)
	r := on("checkpoint", "--session", "s", "--title", "five turns").ends(t, exitDone)
	contains(t, r.out, "Checkpoint 1 of session s, at point 21.\n"+
		"To go back there: compactord revert --to-checkpoint 1 --session s --store ")

	r = on("revert", "--session", "s", "--turns", "2").ends(t, exitDone)
	contains(t, r.out, "Reverted session s to point 12: 8 messages put aside, ")
	contains(t, r.out, "The first request put aside is #12: compactord recall '#12' --session s --store ")
	contains(t, r.out, "To take this back: compactord undo --session s --store ")
	require.Equal(t, "Fix the failing test number 3 in pkg/parser.go.", on("recall", "#12", "--session", "s").ends(t, exitDone).out)

	r = on("checkpoint", "--session", "s", "--list").ends(t, exitDone)
	contains(t, r.out, "put aside  five turns\n")
	on("revert", "--session", "s", "--to-checkpoint", "1").ends(t, exitFailed).says(t, "(CHECKPOINT_PUT_ASIDE)")
	on("revert", "--session", "s", "--to-checkpoint", "7").ends(t, exitFailed).says(t, "(CHECKPOINT_NOT_FOUND)")
	on("revert", "--session", "s", "--to-point", "4000").ends(t, exitUsage).says(t, "(POINT_OUT_OF_RANGE)")

	contains(t, on("undo", "--session", "s").ends(t, exitDone).out, "Undone: reverted session s to point 21: 2,")
	doc := document(t, on("view", "--session", "s", "--json").ends(t, exitDone).out)
	require.InDelta(t, 20, at(t, doc, "messages"), 0)

	contains(t, on("clear", "--session", "s").ends(t, exitDone).out, "Cleared session s: 20 messages put aside, 0 tokens in the context now.\n")
	on("clear", "--session", "s").ends(t, exitNothing).says(t, "session s is clear already")
	on("revert", "--session", "s", "--turns", "1").ends(t, exitNothing)
	on("undo", "--session", "s").ends(t, exitDone)

	r = on("records", "--session", "s").ends(t, exitDone)
	for _, what := range []string{
		"change of policy", "checkpoint 1: five turns", "revert to point 12: 8 messages put aside", "revert to point 0",
	} {
		contains(t, r.out, what)
	}
	r = on("revert", "--session", "s", "--turns", "1", "--message", "Leave test 4 alone.").ends(t, exitDone)
	contains(t, r.out, "The model is told by message #20.\n")
	contains(t, on("view", "--session", "s", "--messages").ends(t, exitDone).out, "Leave test 4 alone.")
	r = on("revert", "--session", "s", "--turns", "2", "--summarize", "--focus", "tests").ends(t, exitDone)
	contains(t, r.out, "The model is told by message #21.\n")
}

func TestWhereToGoBackTo(t *testing.T) {
	on := life(t)
	for _, args := range [][]string{
		{},
		{"--to-point", "1", "--turns", "1"},
		{"--to-checkpoint", "-1"},
		{"--to-point=-1"},
		{"--turns", "0"},
		{"--turns", "1", "--focus", "tests"},
		{"--turns", "1", "--summarize", "--message", "Hello."},
		{"--turns", "1", "--message", ""},
		{"--turns", "1", "--message", "  "},
	} {
		on(append([]string{"revert", "--session", "s"}, args...)...).ends(t, exitUsage)
	}
	on("revert", "--session", "nobody", "--turns", "1").ends(t, exitFailed).says(t, "(SESSION_NOT_FOUND)")
	on("checkpoint", "--session", "s", "--list", "--announce").ends(t, exitUsage)
}

func TestFork(t *testing.T) {
	on := life(t)
	on("checkpoint", "--session", "s").ends(t, exitDone)
	contains(t, on("fork", "--session", "s", "--as", "f", "--to-point", "8").ends(t, exitDone).out,
		"Forked session s at point 8 into session f: 8 messages, ")
	contains(t, on("fork", "--session", "s", "--as", "g", "--to-checkpoint", "1").ends(t, exitDone).out, ": 20 messages, ")
	doc := document(t, on("fork", "--session", "s", "--json").ends(t, exitDone).out)
	require.Equal(t, "s", at(t, doc, "session", "forked_from", "session_id"))
	on("fork", "--session", "s", "--as", "f").ends(t, exitFailed).says(t, "(SESSION_EXISTS)")
	on("fork", "--session", "s", "--to-point", "8", "--to-checkpoint", "1").ends(t, exitUsage)
	contains(t, on("check").ends(t, exitDone).out, "sound")
}

func TestPins(t *testing.T) {
	on := life(t)
	contains(t, on("pin", "--list", "--session", "s").ends(t, exitDone).out, "Session s has no pinned messages.\n")
	r := on("pin", "2", "#0", "--session", "s").ends(t, exitDone)
	contains(t, r.out, "Pinned 3 messages of session s: #0 #1 #2. The context holds ")
	on("pin", "2", "--session", "s").ends(t, exitNothing).says(t, "pinned already")
	on("compact", "--session", "s", "--keep-recent-tokens", "100").ends(t, exitDone)
	contains(t, on("view", "--session", "s", "--messages").ends(t, exitDone).out, "#2 tool (pinned)")
	r = on("pin", "--list", "--session", "s").ends(t, exitDone)
	require.Equal(t, []string{"MESSAGE", "#0", "#1", "#2"}, firstWords(r.out))
	require.Regexp(t, `\n#0 +user +12 +Fix the failing test number 0 in pkg/parser.go.\n`, r.out)
	listed := elements(t, document(t, on("pin", "--list", "--session", "s", "--json").ends(t, exitDone).out), "messages")
	require.Len(t, listed, 3)
	require.Equal(t, "MESSAGE_STATE_COVERED", at(t, listed[0], "state"))
	contains(t, on("pin", "1", "--session", "s", "--remove").ends(t, exitDone).out, "Unpinned 2 messages of session s: #1 #2.")
	on("pin", "99", "--session", "s").ends(t, exitFailed).says(t, "(CONTENT_NOT_FOUND)")
	on("pin", "--session", "s").ends(t, exitUsage)
	for _, wrong := range [][]string{
		{"--", "-1"}, {"--", "+1"}, {"#-1"}, {"x"}, {""}, {"4294967296"}, {"2.0"}, {"--list", "2"}, {"--list", "--remove"},
	} {
		on(append([]string{"pin", "--session", "s"}, wrong...)...).ends(t, exitUsage)
	}
}

func TestRecall(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(5))
	whole := strings.Repeat("func parse1() error\n", 100)
	for _, reference := range []string{"6", "#6", "[#6]", "#6.0", "index 6, part 0"} {
		r := ran(t, "recall", reference, path).ends(t, exitDone)
		require.Equal(t, whole, r.out, reference)
	}
	contains(t, ran(t, "recall", "6", path).err, "#6.0 tool, result of read_file, active, 2,000 bytes, 100 lines")
	require.Equal(t, whole[5:25], ran(t, "recall", "6", path, "--bytes", "5:20").ends(t, exitDone).out)
	require.Equal(t, whole[1990:], ran(t, "recall", "6", path, "--bytes", "1990:").ends(t, exitDone).out)
	require.Equal(t, whole[:40], ran(t, "recall", "6", path, "--lines", "99-").ends(t, exitDone).out)
	require.Equal(t, whole[:60], ran(t, "recall", "6", path, "--lines", "2-4").ends(t, exitDone).out)
	require.Equal(t, whole[:20], ran(t, "recall", "6", path, "--lines", "2").ends(t, exitDone).out)
	lines := "Fix the failing test"
	require.Equal(t, "1:"+lines+" number 1 in pkg/parser.go.\n", ran(t, "recall", "4", path, "--match", "FAIL", "--ignore-case").ends(t, exitDone).out)
	ran(t, "recall", "4", path, "--match", "nowhere").ends(t, exitNothing)
	huge := file(t, "huge.jsonl", `{"role":"user","content":"first\n`+strings.Repeat("x", 4_000_000)+`\nthird\nfourth"}`)
	require.Len(t, ran(t, "recall", "0", huge, "--lines", "2-3").ends(t, exitDone).out, 4_000_000+len("\nthird\n"))
	require.Len(t, ran(t, "recall", "0", huge, "--bytes", "6:3500000").ends(t, exitDone).out, 3_500_000)
	require.Len(t, ran(t, "recall", "0", huge).ends(t, exitDone).out, 4_000_000+len("first\n\nthird\nfourth"))
	r := ran(t, "recall", "0", huge, "--match", "x|third").ends(t, exitDone).says(t,
		"line 2 goes on: compactord recall 0 "+huge+" --bytes 3145734:\n")
	require.Equal(t, "2:"+strings.Repeat("x", 3<<20)+"\n--\n3:third\n", r.out)
	long := file(t, "long.jsonl", `{"role":"user","content":"`+strings.Repeat("x", 4_000_000)+`"}`)
	require.Len(t, ran(t, "recall", "0", long, "--match", "x").ends(t, exitDone).out, 3<<20+len("1:\n"))
	doc := document(t, ran(t, "recall", "#5.0", path, "--json").ends(t, exitDone).out)
	require.Contains(t, at(t, doc, "text"), `"pkg/parser_1.go"`)
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
		ran(t, append(append([]string{"recall"}, wrong...), path)...).ends(t, exitUsage)
	}
	ran(t, "recall", "20", path).ends(t, exitFailed).says(t, "(CONTENT_NOT_FOUND)")
	ran(t, "recall", "6.1", path).ends(t, exitFailed).says(t, "(CONTENT_NOT_FOUND)")
}

func TestSearch(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(30))
	r := ran(t, "search", "failing NUMBER 29", path).ends(t, exitDone)
	require.Equal(t, "#116.0  user  line 1: Fix the failing test number 29 in pkg/parser.go.\n", r.out)
	r = ran(t, "search", "-e", `parse1[0-2]\(`, path, "--role", "tool", "--newest").ends(t, exitDone)
	require.Equal(t, []string{"#50.0.0", "#46.0.0", "#42.0.0"}, firstWords(r.out))
	r = ran(t, "search", "test", path, "--limit", "3").ends(t, exitDone).says(t, "There are more. All of them: compactord search test "+path+" --limit 0\n")
	require.Len(t, firstWords(r.out), 3)
	require.Len(t, firstWords(ran(t, "search", "test", path, "--limit", "0").ends(t, exitDone).out), 60)
	ran(t, "search", "nowhere", path).ends(t, exitNothing)
	ran(t, "search", "-e", "(", path).ends(t, exitUsage)
	ran(t, "search", "x", path, "--role", "robot").ends(t, exitUsage)
	on := life(t)
	on("revert", "--session", "s", "--turns", "1").ends(t, exitDone)
	contains(t, on("search", "number 4", "--session", "s", "--state", "put-aside").ends(t, exitDone).out, "#16.0  user, put aside  line 1: ")
	on("search", "number 4", "--session", "s", "--state", "active").ends(t, exitNothing)
}

func firstWords(lines string) []string {
	var words []string
	for line := range strings.Lines(lines) {
		words = append(words, strings.Fields(line)[0])
	}
	return words
}

func TestTokens(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(5))
	r := ran(t, "tokens", path).ends(t, exitDone)
	contains(t, r.out, "tokens, estimated by chars4\n")
	r = ran(t, "tokens", path, "--estimator", "o200k_base", "--messages").ends(t, exitDone)
	contains(t, r.out, "tokens, exact by o200k_base\n")
	contains(t, r.out, "   #19 ")
	doc := document(t, ranOn(t, strings.NewReader("hello world"), "tokens", "--text-file", "-", "--estimator", "cl100k_base", "--json").
		ends(t, exitDone).out)
	require.InDelta(t, 2, at(t, doc, "tokens"), 0)
	ran(t, "tokens", path, "--estimator", "calibrated").ends(t, exitUsage)
	ran(t, "tokens", path, "--estimator", "words").ends(t, exitUsage)
	ran(t, "tokens", "--text-file", filepath.Join(t.TempDir(), "none")).ends(t, exitFailed).says(t, "no such file")
}

func TestClassify(t *testing.T) {
	temporaryFolder(t)
	r := ran(t, "classify", "--text", "prompt is too long: 210000 tokens > 200000 maximum", "--status", "400").ends(t, exitDone)
	contains(t, r.out, "A context overflow: compact, and try the turn again once.\n")
	contains(t, r.out, "  Requested   210,000 tokens\n")
	contains(t, r.out, "  Limit       200,000 tokens\n")
	r = ranOn(t, strings.NewReader("Rate limit: too many tokens per minute"), "classify", "-").ends(t, exitNothing)
	contains(t, r.out, "A rate limit and no overflow: wait, and try again as it is.\n")
	ran(t, "classify", "--window", "1000", "--input", "1001", "--stop", "end_turn").ends(t, exitDone)
	ran(t, "classify", "--window", "1000", "--input", "1000", "--stop", "end_turn").ends(t, exitNothing)
	ran(t, "classify", "--window", "1000", "--input", "900", "--cached", "90", "--stop", "MAX_TOKENS").ends(t, exitDone)
	ran(t, "classify", "--text", "prompt is too long", "--stop", "stop").ends(t, exitNothing)
	doc := document(t, ran(t, "classify", "--status", "413", "--text", "Request too large", "--json").ends(t, exitDone).out)
	require.Equal(t, true, at(t, doc, "overflow"))
	ran(t, "classify").ends(t, exitUsage)
	ran(t, "classify", "--session", "s", "--text", "x").ends(t, exitUsage)
}

// watchUnread watches with an output that nobody reads any more, which ends a watch as a Ctrl-C does.
func watchUnread(t *testing.T, addr string) {
	t.Helper()
	var stderr strings.Builder
	command := exec.CommandContext(t.Context(), program, "watch", "--session", "s", "--from", "0", "--addr", addr)
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, command.Run())
	require.Empty(t, stderr.String())
}

// A watch shows what the log holds and what comes, and ends with a Ctrl-C as a person expects.
func TestWatch(t *testing.T) {
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t))
	path := file(t, "talk.jsonl", talk(2))
	ran(t, "import", path, "--session", "s", "--addr", d.addr).ends(t, exitDone)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		a := &app{terminal: terminal{stdin: strings.NewReader(""), stdout: write, stderr: os.Stderr}}
		ended <- run(ctx, a, []string{"watch", "--session", "s", "--from", "0", "--addr", d.addr})
		_ = write.Close()
	}()
	lines := bufio.NewReader(out)
	next := func() string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	require.Contains(t, next(), "change of policy")
	for i := range 8 {
		line := next()
		require.Equal(t, []string{"#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7"}[i], strings.Fields(line)[1], line)
	}
	ran(t, "checkpoint", "--session", "s", "--title", "one\ntwo", "--addr", d.addr).ends(t, exitDone)
	require.Contains(t, next(), "checkpoint 1: one two\n")
	cancel(errInterrupted)
	_, _ = io.Copy(io.Discard, lines)
	require.Equal(t, exitDone, <-ended)
	ran(t, "watch", "--session", "nobody", "--addr", d.addr).ends(t, exitFailed).says(t, "(SESSION_NOT_FOUND)")
	ran(t, "watch", "--session", "s", "--from", "4000", "--addr", d.addr).ends(t, exitUsage)
	ran(t, "watch", "--session", "s", "--store", d.addr).ends(t, exitUsage).says(t, "watching needs a daemon")
	watchUnread(t, d.addr)
	require.Equal(t, exitDone, d.stop())
}
