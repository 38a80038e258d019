package program_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func commands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := kong.New(&program.Commands{}, program.Variables())
	require.NoError(t, err)
	return parser.Model.Children
}

// leaves are the commands, and those below them in place of commands that only hold others.
func leaves(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := kong.New(&program.Commands{}, program.Variables())
	require.NoError(t, err)
	return parser.Model.Leaves(true)
}

func TestCompletionsHaveAllCommandsAndFlags(t *testing.T) {
	for shell, prefix := range map[string]string{"bash": "--", "zsh": "'--", "fish": "-l ", "powershell": "--"} {
		script := programtest.Ran(t, "completion", shell).Ends(t, terminal.ExitDone).Out
		for _, command := range append(commands(t), leaves(t)...) {
			require.Contains(t, script, command.Name, shell)
			for _, flag := range command.Flags {
				if !flag.Hidden {
					require.Contains(t, script, prefix+flag.Name, "%s: %s", shell, command.Name)
				}
			}
		}
	}
	programtest.Ran(t, "completion", "csh").Ends(t, terminal.ExitUsage).Says(t, "bash")
}

// The shells that are installed accept their scripts.
func TestShellsAcceptTheirCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell + " is not installed")
			}
			script := sample.File(t, "completion", programtest.Ran(t, "completion", shell).Ends(t, terminal.ExitDone).Out)
			out, err := exec.CommandContext(t.Context(), path, "-n", script).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}

func TestBashCompletes(t *testing.T) {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script := sample.File(t, "completion", programtest.Ran(t, "completion", "bash").Ends(t, terminal.ExitDone).Out)
	for line, want := range map[string]string{
		"compactord sess":              "sessions",
		"compactord serve --admin":     "--admin-listen",
		"compactord serve --no-refl":   "--no-reflection",
		"compactord version --j":       "--json",
		"compactord version --nothing": "",
		"compactord config pr":         "print",
		"compactord config print --li": "--listen",
		"compactord completion po":     "powershell",
		"compactord help watchi":       "watching",
		"compactord view wat":          "",
		"compactord view talk.jsonl":   "",
	} {
		words := strings.Fields(line)
		run := exec.CommandContext(t.Context(), path, "-c", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _compactord; echo "${COMPREPLY[*]}"`,
			"bash", script)
		run.Args = append(run.Args, words...)
		out, err := run.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, strings.TrimSpace(string(out)), line)
	}
}

func TestManualPage(t *testing.T) {
	page := programtest.Ran(t, "man").Ends(t, terminal.ExitDone).Out
	require.True(t, strings.HasPrefix(page, ".TH COMPACTORD 1 "), "it begins with its title")
	escaped := strings.NewReplacer("-", `\-`)
	require.Contains(t, page, "\n.TP\n\\fB\\-q, \\-\\-quiet\\fR\n")
	for _, command := range leaves(t) {
		require.Contains(t, page, "\n.SS "+escaped.Replace(command.Summary()), command.Name)
		for _, flag := range command.Flags {
			if !flag.Hidden {
				require.Contains(t, page, escaped.Replace("--"+flag.Name), command.Name)
			}
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") {
			require.Regexp(t, `^\.(TH|SH|SS|TP|PP|br)\b`, line, "a text is no request")
		}
		require.NotRegexp(t, `^'`, line)
	}
	path, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed: the page was not formatted")
	}
	format := exec.CommandContext(t.Context(), path, "-man", "-Tutf8", "-ww", "-z")
	format.Stdin = strings.NewReader(page)
	out, err := format.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out), "warnings")
}
