package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// nobody is the user id of who owns nothing.
const nobody = 65534

// Another user of the machine can connect to the port, and can neither read, write, nor have a model paid.
func TestAnotherUserGetsNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	binary := programtest.Binary(t)
	// The other user must come to the program, and to a folder of its own.
	folder := t.TempDir()
	for path := folder; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	content, err := os.ReadFile(binary)
	require.NoError(t, err)
	program, home := filepath.Join(folder, "compactord"), filepath.Join(folder, "home")
	require.NoError(t, os.WriteFile(program, content, 0o755))
	require.NoError(t, os.Mkdir(home, 0o755))
	require.NoError(t, os.Chown(home, nobody, nobody))
	talk := filepath.Join(folder, "talk.jsonl")
	require.NoError(t, os.WriteFile(talk, []byte(sample.Talk(120)), 0o644))

	state := filepath.Join(folder, "state")
	t.Setenv("XDG_STATE_HOME", state)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0")
	programtest.Ran(t, "import", talk, "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)

	as := func(where string, args ...string) (code int, output string) {
		cmd := exec.CommandContext(t.Context(), program, append(args, "--addr", d.Addr)...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + where}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Skip("cannot run a program as another user here:", err)
		}
		return cmd.ProcessState.ExitCode(), out.String()
	}
	code, said := as(home, "version")
	require.Equal(t, terminal.ExitUsage, code, "the program runs, and version has no --addr: %s", said)
	for name, args := range map[string][]string{
		"reads":  {"view", "--session", "s"},
		"lists":  {"sessions"},
		"writes": {"import", talk, "--session", "t"},
		"spends": {"compact", "--session", "s"},
		"erases": {"delete", "--session", "s", "--yes"},
	} {
		code, said := as(home, args...)
		require.Equal(t, terminal.ExitFailed, code, "%s: %s", name, said)
		require.Contains(t, said, "UNAUTHENTICATED", name)
		// It knows where the token is.
		code, said = as(state, args...)
		require.Equal(t, terminal.ExitFailed, code, "%s: %s", name, said)
		require.Contains(t, said, "permission denied", name)
	}
	token, err := access.ReadTokenFile(filepath.Join(state, "compactord", "token"))
	require.NoError(t, err)
	require.Contains(t, programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out, "480       -  ", "nothing was changed")
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), token)
}
