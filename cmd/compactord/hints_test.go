package main

import (
	"context"
	"fmt"
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

	"github.com/compactord/compactord/docs"
)

// hintIn finds commands in what was printed: a hint ends its line.
var hintIn = regexp.MustCompile(`(?m)(?:^  |: )((?:COMPACTORD_ADDR= )?compactord [a-z]+.*)$`)

// pasted runs a line as a shell does that has the program in its path, and returns its exit code.
func pasted(t *testing.T, line string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(t, cmd.ProcessState, "%v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// hintCase is a command that prints hints, and what each of them does when it is pasted.
type hintCase struct {
	args []string
	// code is how the command ends, codes how what it hints at does, hint by hint.
	code  int
	codes []int
}

// What a hint left out sent a person to another store: each is run here as it is printed.
func TestEveryPrintedHintCanBePasted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	folder := filepath.Join(t.TempDir(), "it's a folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	store, path := filepath.Join(folder, "my store.db"), filepath.Join(folder, "long talk.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(talk(120)), 0o600))
	short, config := file(t, "short.jsonl", talk(20)), file(t, "models.yaml", "summarizers: {}\n")
	huge := file(t, "huge.jsonl", `{"role":"user","content":"`+strings.Repeat("x", 4_000_000)+`\nxyz"}`+"\n")
	run := func(trial int) string {
		return fmt.Sprintf(`{"task_id":1,"reward":1.0,"info":{},"trial":%d,"traj":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Yes?"}]}`, trial)
	}
	several := file(t, "several.json", `[`+run(0)+","+run(1)+"]")
	ran(t, "import", path, "--session", "s", "--store", store).ends(t, exitDone)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	// None listens there, so that this is what is said, and what the daemon of the hint can then listen on.
	none := "unix:" + filepath.Join(t.TempDir(), "none.sock")
	for _, c := range []hintCase{
		{on("checkpoint"), exitDone, []int{exitNothing}},
		{on("revert", "--turns", "2"), exitDone, []int{exitDone, exitDone}},
		{on("clear"), exitDone, []int{exitDone}},
		{on("undo", "-y"), exitDone, []int{exitDone, exitDone}},
		{[]string{"view", "--session", "none", "--store", store}, exitFailed, []int{exitDone}},
		{on("delete"), exitUsage, []int{exitDone}},
		{[]string{"view", path}, exitDone, []int{exitDone}},
		{[]string{"view", path, "--store", store, "--preset", "pi"}, exitUsage, []int{exitDone}},
		{[]string{"compact", short, "--context-window=60000", "--config", config}, exitNothing, []int{exitDone}},
		{[]string{"view", short, "--compact"}, exitDone, []int{exitDone, exitDone}},
		{[]string{"compact", short, "--summarizer", "nope"}, exitUsage, []int{exitDone}},
		{[]string{"search", "test", path, "--limit", "2"}, exitDone, []int{exitDone}},
		{[]string{"recall", "0", huge, "--match", "x"}, exitDone, []int{exitDone}},
		{[]string{"compare", short, "--preset", "pi", "--window", "90000", "--strict"}, exitNothing, []int{exitDone}},
		{[]string{"view", several}, exitFailed, []int{exitDone}},
		{[]string{"strategies", "--window", "200000"}, exitDone, []int{exitDone, exitFailed}},
		{[]string{"summarizers", "--config", config}, exitDone, []int{exitFailed}},
		{[]string{"tokens", "--text", short}, exitDone, []int{exitDone}},
		{[]string{"strategies", "--addr", none}, exitFailed, []int{-1, exitDone}},
		{[]string{"summarizers", "--addr", none}, exitFailed, []int{-1, exitDone}},
		{[]string{"sessions", "--addr", none}, exitFailed, []int{-1}},
		{[]string{"watch", "--session", "s", "--store", store}, exitUsage, []int{-1, exitFailed}},
		{[]string{"compact", path, "--wrong"}, exitUsage, []int{exitDone}},
		{[]string{"help"}, exitDone, []int{exitDone, exitDone}},
		{[]string{"help", "compare"}, exitDone, nil},
	} {
		r := ran(t, c.args...).ends(t, c.code)
		found := hintIn.FindAllStringSubmatch(r.err+r.out, -1)
		if c.codes != nil {
			require.Len(t, found, len(c.codes), "%v\n%s%s", c.args, r.err, r.out)
		}
		for i, want := range c.codes {
			line := found[i][1]
			if want < 0 {
				servesAs(t, line)
				continue
			}
			// What only the person knows stands in capitals.
			line = strings.Replace(line, " FILE", " "+filepath.Join(t.TempDir(), "mine.jsonl"), 1)
			code, said := pasted(t, line)
			require.Equal(t, want, code, "%v says\n%s\nwhich says\n%s", c.args, line, said)
		}
	}
}

// What a hint adds stood behind "--", where no flag is read, and a file or a session that is called like a flag was taken
// for one.
func TestHintsOfFilesThatAreCalledLikeFlagsCanBePasted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"--help", "-q.jsonl", "ü.jsonl"} {
		require.NoError(t, os.WriteFile(name, []byte(talk(20)), 0o600))
		for _, c := range []struct {
			args []string
			code int
		}{
			{[]string{"compact", "--context-window=60000", "--", name}, exitNothing},
			{[]string{"view", "-q", "--", name}, exitDone},
			{[]string{"view", "--store", "s" + name + ".db", "--", name}, exitUsage},
			{[]string{"view", "--store", "t" + name + ".db", "./" + name}, exitUsage},
		} {
			r := ran(t, c.args...).ends(t, c.code)
			found := hintIn.FindAllStringSubmatch(r.err+r.out, -1)
			require.Len(t, found, 1, "%v\n%s%s", c.args, r.err, r.out)
			code, said := pasted(t, found[0][1])
			require.Equal(t, exitDone, code, "%v says\n%s\nwhich says\n%s", c.args, found[0][1], said)
			require.NotContains(t, said, "Usage: ", found[0][1])
		}
	}
}

// servesAs has a shell start a daemon by a hint, and ends it when it listens.
func servesAs(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line+" 2>&1")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := make([]byte, 512)
	n, _ := out.Read(said)
	cancel()
	_ = cmd.Wait()
	first := string(said[:n])
	// Port 7440 may be another's on this machine; then it was asked for, and that is what counts.
	require.True(t, strings.HasPrefix(first, "compactord listens on ") || strings.Contains(first, "cannot listen on "+defaultListen), "%s: %s", line, first)
}

// A hint is a command line that the program itself reads as it was meant.
func TestHintsAreReadAsTheyWereMeant(t *testing.T) {
	word := rapid.StringMatching(`[ -~äö]{1,12}`).Filter(func(s string) bool { return !strings.HasPrefix(s, "-") })
	rapid.Check(t, func(t *rapid.T) {
		session, store, focus := rapid.StringMatching(`[!-,.-~][!-~]{0,8}`).Draw(t, "session"), word.Draw(t, "store"), word.Draw(t, "focus")
		words := []string{"compact", "--session", session, "--store=" + store, "--window", "60000", "--focus", focus, "--dry-run", "-q"}
		a := &app{}
		parser, err := kong.New(&commands{}, variables())
		require.NoError(t, err)
		parsed, err := parser.Parse(words)
		require.NoError(t, err)
		a.line = newCommandLine(programName, parsed)
		require.Equal(t, append([]string{programName}, words...), unquoted(a.hinted(again())))
		require.Equal(t,
			[]string{programName, "compact", "--session", session, "--store=" + store, "--focus", focus, "--dry-run", "-q", "--context-window", "5"},
			unquoted(a.hinted(again("--context-window", "5"))))
		require.Equal(t, []string{programName, "undo", "--session", session, "--store=" + store}, unquoted(a.hinted(command("undo"))))
		require.Equal(t, []string{programName, "sessions", "--store=" + store}, unquoted(a.hinted(command("sessions"))))
	})
}

// unquoted takes a line apart as a shell does that knows single quotes and the backslash.
func unquoted(line string) []string {
	var words []string
	var word strings.Builder
	quote, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote && c == '\'':
			quote = false
		case quote:
			word.WriteByte(c)
		case c == '\'':
			quote, begun = true, true
		case c == '\\':
			i++
			word.WriteByte(line[i])
		case c == ' ':
			words = append(words, word.String())
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// texts are the string literals of the program's sources, help texts and tags left out.
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

// All commands that are printed for people are written by hinted, which keeps what was given.
func TestHintsAreWrittenInOnePlace(t *testing.T) {
	parser, err := kong.New(&commands{}, variables())
	require.NoError(t, err)
	for text, path := range texts(t, ".") {
		for _, node := range parser.Model.Children {
			if text == "`"+description+"`" {
				continue
			}
			require.NotContains(t, text, programName+" "+node.Name, "%s: a hint that keeps nothing of what was given", path)
		}
	}
}

// Messages named files of the repository, which who has the program alone does not have.
func TestEveryTopicThatAMessageNamesIsThere(t *testing.T) {
	named := regexp.MustCompile(`compactord help\s+([a-z-]+)|command\("help", "([a-z-]+)"\)`)
	for _, folder := range []string{".", "../../dialects", "../../service", "../../session", "../../storage", "../../strategies", "../../summarizers"} {
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

func TestHelpPrintsDocuments(t *testing.T) {
	r := ran(t, "help").ends(t, exitDone)
	for _, name := range docs.Names() {
		contains(t, r.out, "\n  "+name+" ")
		page := ran(t, "help", name).ends(t, exitDone).out
		contains(t, page, "# "+docs.Title(name)+"\n")
		require.NotRegexp(t, `\]\([a-z-]+\.md`, page, "a link to a file")
		require.NotContains(t, page, "<!--")
	}
	contains(t, ran(t, "help", "compact").ends(t, exitDone).out, "Usage: compactord compact")
	contains(t, ran(t, "help", "compare").ends(t, exitDone).out, "The flags of the command: compactord compare --help\n\n# Comparing presets")
	r = ran(t, "help", "nope").ends(t, exitUsage).says(t, `there is no topic "nope"; there are api, `)
	require.Empty(t, r.out)
	// The format that is not recognized, and the flags that say so, name a topic.
	ran(t, "view", file(t, "x.txt", "no transcript")).ends(t, exitFailed).says(t, "compactord help dialects")
}
