package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const unit = "../../packaging/systemd/compactord.service"

// directives returns the directives of the unit, with their values in order.
func directives(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for line := range strings.Lines(read(t, unit)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			found[name] = append(found[name], value)
		}
	}
	return found
}

// program builds the program.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compactord")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/compactord")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// requireAccepted requires that the program takes a command line: beside that files of the daemon's machine are missing
// here, its only problem is a wrong heartbeat, so that it ends before it serves.
func requireAccepted(t *testing.T, program string, args ...string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, append(args, "--heartbeat", "1ns")...)
	run.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := run.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, run.ProcessState.ExitCode(), string(out))
	first, rest, _ := strings.Cut(string(out), "\n")
	require.Equal(t, "compactord: --heartbeat: must be from 100ms to 1h0m0s", first)
	require.Regexp(t, "^(--[a-z-]+: /etc/compactord/.*: no such file or directory\n)*For help: .* serve --help\n$", rest)
}

func TestUnitIsHardened(t *testing.T) {
	all := directives(t)
	for name, want := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
		"PrivateDevices": "yes", "MemoryDenyWriteExecute": "yes", "CapabilityBoundingSet": "", "StateDirectory": "compactord",
		"StateDirectoryMode": "0700", "UMask": "0077", "RestrictNamespaces": "yes", "Restart": "on-failure",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
	} {
		require.Equal(t, []string{want}, all[name], name)
	}
	require.Len(t, all["ExecStart"], 1)
	args := strings.Fields(os.Expand(all["ExecStart"][0], func(string) string { return t.TempDir() }))
	require.Equal(t, "/usr/local/bin/compactord", args[0])
	requireAccepted(t, program(t), args[1:]...)
}

// systemd itself reads the unit, and rates how much of the system it leaves open.
func TestSystemdAcceptsTheUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	// It requires that the program is there.
	copied := filepath.Join(t.TempDir(), "compactord.service")
	text := strings.ReplaceAll(read(t, unit), "/usr/local/bin/compactord", program(t))
	require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", copied).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "compactord.service:", "a warning")
	out, err = exec.CommandContext(t.Context(), tool, "security", "--offline=yes", "--no-pager", "--threshold=20", copied).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log(regexp.MustCompile(`Overall exposure level.*`).FindString(string(out)))
}
