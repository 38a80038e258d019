package program_test

import (
	"bufio"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/docs"
)

// pasted runs a line in a shell that has the program in its path. It returns the exit code.
func pasted(t *testing.T, line string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(programtest.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(t, cmd.ProcessState, "%v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// hintCase is a command that prints hints, and the expected result of each hint.
type hintCase struct {
	args []string
	// code is the command's exit code, codes those of its hints in order.
	code  int
	codes []int
}

// A hint without --store used to lead to another store. Each hint is run here as it is printed.
func TestEveryPrintedHintCanBePasted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	folder := filepath.Join(t.TempDir(), "it's a folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	store, path := filepath.Join(folder, "my store.db"), filepath.Join(folder, "long talk.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(sample.Talk(120)), 0o600))
	short, config := sample.File(t, "short.jsonl", sample.Talk(20)), sample.File(t, "models.yaml", "summarizers: {}\n")
	huge := sample.File(t, "huge.jsonl", `{"role":"user","content":"`+strings.Repeat("x", 4_000_000)+`\nxyz"}`+"\n")
	const run = `{"metadata":{"agent_class":"a"},"history":[{"source":"user","action":"message","args":{"content":"Hello."}},` +
		`{"source":"agent","action":"message","args":{"content":"Yes?"}}]}` + "\n"
	several := sample.File(t, "several.jsonl", run+run)
	programtest.Ran(t, "import", path, "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	// An address without a daemon, on which the daemon of the hint can then listen.
	none := "unix:" + filepath.Join(t.TempDir(), "none.sock")
	for _, c := range []hintCase{
		{on("checkpoint"), terminal.ExitDone, []int{terminal.ExitNothing}},
		{on("revert", "--turns", "2"), terminal.ExitDone, []int{terminal.ExitDone, terminal.ExitDone, terminal.ExitDone}},
		{on("clear"), terminal.ExitDone, []int{terminal.ExitDone}},
		{on("undo", "-y"), terminal.ExitDone, []int{terminal.ExitDone, terminal.ExitDone}},
		{[]string{"view", "--session", "none", "--store", store}, terminal.ExitFailed, []int{terminal.ExitDone}},
		{on("delete"), terminal.ExitUsage, []int{terminal.ExitDone}},
		{[]string{"view", path}, terminal.ExitDone, []int{terminal.ExitDone}},
		{[]string{"view", path, "--store", store, "--preset", "pi"}, terminal.ExitUsage, []int{terminal.ExitDone}},
		{[]string{"compact", short, "--context-window=60000", "--config", config}, terminal.ExitNothing, []int{terminal.ExitDone}},
		{[]string{"view", short, "--compact"}, terminal.ExitDone, []int{terminal.ExitDone, terminal.ExitDone}},
		{[]string{"compact", short, "--summarizer", "nope"}, terminal.ExitUsage, []int{terminal.ExitDone}},
		{[]string{"search", "test", path, "--limit", "2"}, terminal.ExitDone, []int{terminal.ExitDone}},
		{[]string{"recall", "0", huge, "--match", "x"}, terminal.ExitDone, []int{terminal.ExitDone}},
		{[]string{"compare", short, "--preset", "pi", "--window", "90000", "--strict"}, terminal.ExitNothing, []int{terminal.ExitDone}},
		{[]string{"view", several}, terminal.ExitFailed, []int{terminal.ExitDone}},
		{[]string{"strategies", "--window", "200000"}, terminal.ExitDone, []int{terminal.ExitDone, terminal.ExitFailed}},
		{[]string{"summarizers", "--config", config}, terminal.ExitDone, []int{terminal.ExitFailed, terminal.ExitDone}},
		{[]string{"tokens", "--text", short}, terminal.ExitDone, []int{terminal.ExitDone}},
		{[]string{"strategies", "--addr", none}, terminal.ExitFailed, []int{-1, terminal.ExitDone}},
		{[]string{"summarizers", "--addr", none}, terminal.ExitFailed, []int{-1, terminal.ExitDone}},
		{[]string{"sessions", "--addr", none}, terminal.ExitFailed, []int{-1}},
		{[]string{"watch", "--session", "s", "--store", store}, terminal.ExitUsage, []int{-1, terminal.ExitFailed}},
		{[]string{"compact", path, "--wrong"}, terminal.ExitUsage, []int{terminal.ExitDone}},
		{[]string{"help"}, terminal.ExitDone, []int{terminal.ExitDone, terminal.ExitDone}},
		{[]string{"help", "compare"}, terminal.ExitDone, nil},
	} {
		r := programtest.Ran(t, c.args...).Ends(t, c.code)
		found := sample.HintIn.FindAllStringSubmatch(r.Err+r.Out, -1)
		if c.codes != nil {
			require.Len(t, found, len(c.codes), "%v\n%s%s", c.args, r.Err, r.Out)
		}
		for i, want := range c.codes {
			line := found[i][1]
			if want < 0 {
				servesAs(t, line)
				continue
			}
			// Words in capitals are for the user to fill in.
			line = strings.Replace(line, " FILE", " "+filepath.Join(t.TempDir(), "mine.jsonl"), 1)
			code, said := pasted(t, line)
			require.Equal(t, want, code, "%v says\n%s\nwhich says\n%s", c.args, line, said)
		}
	}
}

// Hints used to add flags after "--", where no flag is parsed. A file or session with a name like a flag was parsed as
// a flag.
func TestHintsOfFilesThatAreCalledLikeFlagsCanBePasted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"--help", "-q.jsonl", "ü.jsonl"} {
		require.NoError(t, os.WriteFile(name, []byte(sample.Talk(20)), 0o600))
		for _, c := range []struct {
			args []string
			code int
		}{
			{[]string{"compact", "--context-window=60000", "--", name}, terminal.ExitNothing},
			{[]string{"view", "-q", "--", name}, terminal.ExitDone},
			{[]string{"view", "--store", "s" + name + ".db", "--", name}, terminal.ExitUsage},
			{[]string{"view", "--store", "t" + name + ".db", "./" + name}, terminal.ExitUsage},
		} {
			r := programtest.Ran(t, c.args...).Ends(t, c.code)
			found := sample.HintIn.FindAllStringSubmatch(r.Err+r.Out, -1)
			require.Len(t, found, 1, "%v\n%s%s", c.args, r.Err, r.Out)
			code, said := pasted(t, found[0][1])
			require.Equal(t, terminal.ExitDone, code, "%v says\n%s\nwhich says\n%s", c.args, found[0][1], said)
			require.NotContains(t, said, "Usage: ", found[0][1])
		}
	}
}

// servesAs starts a daemon with a hint in a shell, and stops it when it listens.
func servesAs(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line+" 2>&1")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(programtest.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	// Another program may use port 7440 on this machine. The error then names the port, which is enough. Lines of the log
	// may come before.
	serves, said := false, ""
	for lines := bufio.NewScanner(out); !serves && lines.Scan(); {
		said += lines.Text() + "\n"
		serves = strings.HasPrefix(lines.Text(), "compactord listens on ") || strings.Contains(lines.Text(), "cannot listen on "+api.DefaultListen)
	}
	cancel()
	_ = cmd.Wait()
	require.True(t, serves, "%s: %s", line, said)
}

// The program parses its own hints as they are meant.
func TestHintsAreReadAsTheyWereMeant(t *testing.T) {
	word := rapid.StringMatching(`[ -~äö]{1,12}`).Filter(func(s string) bool { return !strings.HasPrefix(s, "-") })
	rapid.Check(t, func(t *rapid.T) {
		session, store, focus := rapid.StringMatching(`[!-,.-~][!-~]{0,8}`).Draw(t, "session"), word.Draw(t, "store"), word.Draw(t, "focus")
		words := []string{"compact", "--session", session, "--store=" + store, "--window", "60000", "--focus", focus, "--dry-run", "-q"}
		a := &api.App{}
		parser, err := kong.New(&program.Commands{}, program.Variables())
		require.NoError(t, err)
		parsed, err := parser.Parse(words)
		require.NoError(t, err)
		a.Line = terminal.NewCommandLine(terminal.ProgramName, parsed, program.Node)
		require.Equal(t, append([]string{terminal.ProgramName}, words...), sample.Unquoted(a.Hinted(terminal.Again())))
		require.Equal(t,
			[]string{terminal.ProgramName, "compact", "--session", session, "--store=" + store, "--focus", focus, "--dry-run", "-q", "--context-window", "5"},
			sample.Unquoted(a.Hinted(terminal.Again("--context-window", "5"))))
		require.Equal(t, []string{terminal.ProgramName, "undo", "--session", session, "--store=" + store}, sample.Unquoted(a.Hinted(terminal.Command("undo"))))
		require.Equal(t, []string{terminal.ProgramName, "sessions", "--store=" + store}, sample.Unquoted(a.Hinted(terminal.Command("sessions"))))
	})
}

// texts returns the string literals of the program's sources, without help texts and tags.
func texts(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return n.Name.Name != "Help"
			case *ast.Field:
				return false
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					found[n.Value] = path
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// Hinted formats all commands that are printed for people, so that they repeat the given flags.
func TestHintsAreWrittenInOnePlace(t *testing.T) {
	parser, err := kong.New(&program.Commands{}, program.Variables())
	require.NoError(t, err)
	for text, path := range texts(t, "../..") {
		for _, node := range parser.Model.Children {
			if text == "`"+program.Description+"`" {
				continue
			}
			require.NotContains(t, text, terminal.ProgramName+" "+node.Name, "%s: a hint that keeps nothing of what was given", path)
		}
	}
}

// Messages used to name files of the repository, which users of the program do not have.
func TestEveryTopicThatAMessageNamesIsThere(t *testing.T) {
	const root = "../../../../"
	named := regexp.MustCompile(`compactord help\s+([a-z-]+)|command\("help", "([a-z-]+)"\)`)
	for _, folder := range []string{"../..", root + "dialects", root + "recall", root + "service", root + "session", root + "storage", root + "strategies", root + "summarizers"} {
		err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotRegexp(t, `docs/[a-z-]+\.md`, string(content), "%s: name the topic: compactord help TOPIC", path)
			for _, match := range named.FindAllStringSubmatch(string(content), -1) {
				_, known := docs.Page(match[1] + match[2])
				require.True(t, known, "%s: %s", path, match[0])
			}
			return nil
		})
		require.NoError(t, err)
	}
}
