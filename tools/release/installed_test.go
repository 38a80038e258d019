package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// pythonAgent is an agent whose model answers at once. Nothing but the package brings the daemon.
const pythonAgent = `
import compactord

with compactord.embedded() as client:
    session = client.open_session("s", dialect="anthropic", policy={"context_window": 200_000})
    turn = session.run_turn(
        lambda view: {"role": "assistant", "content": f"{len(view.request()['messages'])} messages"}, "What is new?"
    )
    print(turn.text)
`

const nodeAgent = `
import { embedded } from "compactord";

const client = await embedded();
const session = await client.openSession("s", { dialect: "anthropic", policy: { contextWindow: 200_000 } });
const turn = await session.runTurn(
  (view) => ({ role: "assistant", content: ` + "`${view.request().messages.length} messages`" + ` }),
  "What is new?",
);
console.log(turn.text);
await client.close();
`

// What was made is installed in environments that have nothing else, without the network and without Go, and an agent runs.
func TestInstalledPackagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a release and installs it, which takes minutes: run without -short")
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	python := filepath.Join(repository, "clients", "python", ".venv", "bin", "python")
	for _, needed := range []string{python, filepath.Join(repository, "clients", "ts", "node_modules")} {
		if _, err := os.Stat(needed); err != nil {
			t.Skip("the clients' tools are not installed (the checks `python` and `typescript` install them):", err)
		}
	}
	out, again := t.TempDir(), t.TempDir()
	here := runtime.GOOS + "/" + runtime.GOARCH
	var sums []string
	for _, folder := range []string{out, again} {
		require.NoError(t, run(t.Context(), []string{"--out", folder, "--platforms", here, "--changed"}))
		list, err := os.ReadFile(filepath.Join(folder, sumsName))
		require.NoError(t, err)
		sums = append(sums, string(list))
	}
	require.Equal(t, sums[0], sums[1], "the packages of the clients are made the same, too")

	tried := 0
	for _, name := range []string{"python3", "python3.10", "python3.11", "python3.12", "python3.13"} {
		t.Run(name, func(t *testing.T) { tried += installsWheel(t, name, out) })
	}
	require.Positive(t, tried, "no Python was tried")
	folder := installsPackages(t, out)
	for _, name := range []string{"node", "node20", "node22", "node24"} {
		t.Run(name, func(t *testing.T) { runsInNode(t, name, folder) })
	}
}

// bare is an environment without Go, and without programs other than the system's.
var bare = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}

func installsWheel(t *testing.T, name, out string) int {
	t.Helper()
	if exec.CommandContext(t.Context(), name, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		t.Skip("there is no", name, "of 3.10 or later")
	}
	folder := t.TempDir()
	ran(t, nil, name, "-m", "venv", folder)
	pip := func(args ...string) {
		t.Helper()
		ran(t, nil, filepath.Join(folder, "bin", "python"), slices.Concat([]string{"-m", "pip"}, args, []string{"--quiet", "--find-links", out, "compactord"})...)
	}
	// A local index of what the package needs.
	pip("download", "--dest", out)
	pip("install", "--no-index")
	agent := filepath.Join(folder, "agent.py")
	require.NoError(t, os.WriteFile(agent, []byte(pythonAgent), plain))
	require.Equal(t, "1 messages\n", ran(t, bare, filepath.Join(folder, "bin", "python"), agent))
	require.Contains(t, ran(t, bare, filepath.Join(folder, "bin", "compactord"), "version"), "built with go")
	return 1
}

// installsPackages returns the folder of a program with an agent, in which the packages are installed.
func installsPackages(t *testing.T, out string) string {
	t.Helper()
	var packages []string
	for _, pattern := range []string{"compactord-[0-9]*.tgz", "compactord-linux-*.tgz", "compactord-darwin-*.tgz"} {
		found, err := filepath.Glob(filepath.Join(out, pattern))
		require.NoError(t, err)
		packages = append(packages, found...)
	}
	require.Len(t, packages, 2)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"private": true, "type": "module"}`), plain))
	install := exec.CommandContext(t.Context(), "npm", slices.Concat([]string{"install", "--no-audit", "--no-fund", "--prefer-offline"}, packages)...)
	install.Dir = folder
	said, err := install.CombinedOutput()
	require.NoError(t, err, "%s", said)
	agent := filepath.Join(folder, "agent.js")
	require.NoError(t, os.WriteFile(agent, []byte(nodeAgent), plain))
	require.Contains(t, ran(t, nil, filepath.Join(folder, "node_modules", ".bin", "compactord"), "version"), "built with go")
	return folder
}

func runsInNode(t *testing.T, name, folder string) {
	t.Helper()
	node, err := exec.LookPath(name)
	if err != nil {
		t.Skip("there is no", name)
	}
	require.Equal(t, "1 messages\n", ran(t, bare, node, filepath.Join(folder, "agent.js")))
}

// ran runs a program to its end and returns what it printed.
func ran(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = env
	out, err := outputOf(cmd)
	require.NoError(t, err)
	return out
}
