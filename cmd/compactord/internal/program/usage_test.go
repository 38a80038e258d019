package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// The parser's own messages mention "a valid 32 bit uint", an empty choice, and quoting of negative numbers.
func TestWrongNumbersAndChoicesAreExplained(t *testing.T) {
	for _, c := range []struct{ flag, value, says string }{
		{"--context-window", "100k", `compactord: --context-window: expected a whole number but got "100k"` + "\n"},
		{"--context-window", "-5", `compactord: --context-window: expected a whole number but got "-5"` + "\n"},
		{"--nth", "x", `compactord: --nth: expected a whole number but got "x"` + "\n"},
	} {
		programtest.Ran(t, "compact", "x", c.flag, c.value).Ends(t, terminal.ExitUsage).Says(t, c.says)
	}
	programtest.Ran(t, "tokens", "--text", "x", "--estimator", "y").Ends(t, terminal.ExitUsage).Says(t, `--estimator must be one of "chars4",`)
}

func TestWrongUsage(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(3))
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "name one of these commands"},
		{[]string{"nope"}, "there is no command nope\nFor help: compactord --help\n"},
		{[]string{"compact"}, "name a transcript file"},
		{[]string{"compact", path, "--session", "x"}, "give either a file or --session"},
		{[]string{"compact", path, "--addr", "127.0.0.1:1"}, "--addr and --store need --session"},
		{[]string{"compact", path, "--store", "x.db"}, "--addr and --store need --session"},
		{[]string{"compact", "--session", "x", "--addr", "127.0.0.1:1", "--store", "x.db"}, "exclude each other"},
		{[]string{"compact", "--session", "x", "--addr", "nowhere"}, "write HOST:PORT or unix:PATH"},
		{[]string{"compact", "--session", "x", "--addr", "host:99999"}, "write a number up to 65535"},
		{[]string{"compact", path, "--keep-recent-tokens", "many"}, "--keep-recent-tokens"},
		{[]string{"compact", path, "--wrong"}, "unknown flag --wrong"},
		{[]string{"compact", path, "--preset", "nope"}, "there are default, pi"},
		{[]string{"compact", path, "--preset", "claude"}, `preset "claude" (did you mean klaude or claude_code?); there are default, pi`},
		{[]string{"compare", path, "--preset", "hybird"}, `there is no preset "hybird" (did you mean hybrid?); there are default, pi`},
		{[]string{"compact", path, "--context-window", "0"}, "--context-window: must be from 1"},
		{[]string{"view", path, "--focus", "x"}, "--focus needs --compact"},
		{[]string{"view", "--session", "x", "--context-window", "9"}, "need a file or --compact"},
		{[]string{"import", path}, "--session"},
		{[]string{"import", "--session", "x"}, "<file> is missing"},
		{[]string{"completion"}, "<shell> is missing"},
		{[]string{"serve", "extra"}, "unexpected argument extra"},
		{[]string{"serve", "--drain-timeout", "soon"}, "--drain-timeout"},
	} {
		r := programtest.Ran(t, test.args...).Ends(t, terminal.ExitUsage).Says(t, test.says)
		if len(test.args) > 0 {
			require.Empty(t, r.Out, "%v", test.args)
		}
	}
}

func TestNoDaemon(t *testing.T) {
	for _, args := range [][]string{{"sessions"}, {"compact", "--session", "x"}, {"view", "--session", "x"}} {
		args = append(args, "--addr", "unix:"+t.TempDir()+"/none.sock")
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitFailed).Says(t, "compactord: no daemon answers at unix:").
			Says(t, "Start one: compactord serve --listen unix:")
		require.NotContains(t, r.Err, "rpc error")
	}
}
