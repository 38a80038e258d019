package inspector_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// secret is what redaction must find. It is put together here so that no scanner finds it in this file.
var secret = "ghp_" + strings.Join([]string{"x7Kq2", "mVb9Tz", "R4wLn8", "YcP1sD", "f6HgJ3", "uAeW5k0"}, "")

// Exported files show what a daemon shows, run nothing of a conversation, have no secret, and ask nobody for anything, not
// even a daemon.
func TestExportedFiles(t *testing.T) {
	t.Parallel()
	_, address := serve(t)
	conn, err := daemontest.Dial(address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	f := filler{t, compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)}
	f.points("points")
	f.create(hostileID, hostileText+"</script><!--<script>\u2028", map[string]string{"label": hostileText}, said(compactordv1.Role_ROLE_USER, hostileText),
		said(compactordv1.Role_ROLE_ASSISTANT, "</script><script>globalThis.hacked=1</script>\u2028\u2029"),
		said(compactordv1.Role_ROLE_USER, "The token is "+secret+", use it."), said(compactordv1.Role_ROLE_ASSISTANT, strings.Repeat("x", 1_000_000)))
	f.append(hostileID, hostileCalls()...)
	f.compact(hostileID, 1)
	folder := t.TempDir()
	files := make(map[string]string)
	for name, session := range map[string]string{"points": "points", "hostile": hostileID} {
		files[name] = filepath.Join(folder, name+" #1?.html")
		out, err := exec.CommandContext(t.Context(), program, "inspect", "--session", session, "--addr", address, "--export", files[name], "-q").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	browse(t, "file.mjs", map[string]any{"files": files, "text": hostileText, "hostile": hostileID, "secret": secret, "visits": visits()})
}

// visit is a look at an exported file.
type visit struct {
	File string `json:"file"`
	Look look   `json:"look"`
}

// visits looks at both files in all looks; a short run looks at the hostile one where there is the least room, and at the other
// one where there is more.
func visits() (all []visit) {
	for i, l := range looks() {
		if !testing.Short() || i == 0 {
			all = append(all, visit{"points", l})
		}
		if !testing.Short() || i > 0 {
			all = append(all, visit{"hostile", l})
		}
	}
	return all
}

var inspectedAt = regexp.MustCompile(`^The inspector of .* is at (\S+)`)

// inspect runs `compactord inspect` until the end of the test, and returns the address that it prints. It must end well at a
// signal.
func inspect(t *testing.T, args ...string) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, program, append([]string{"inspect", "-q"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, stdout)
		// Wait says so where the program ended well after the signal.
		require.ErrorIs(t, cmd.Wait(), context.Canceled)
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	found := inspectedAt.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	return found[1]
}

// hostileFile is a name of a file of characters that run, turn lines, or are not seen, where they are not shown as text.
const hostileFile = `<img src=x onerror="globalThis.hacked=1">` + " [x](javascript:globalThis.hacked=1) \u202eright to left\u202c zero\u200bwidth \x1b[31mred.jsonl"

// `compactord inspect` shows a file, whatever its name is, by an address that has the token, and by no other, and only reads.
func TestInspectOfAFile(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	transcript, err := os.ReadFile(filepath.Join("..", "..", "examples", "transcript", "session.jsonl"))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), hostileFile)
	require.NoError(t, os.WriteFile(file, transcript, 0o600))
	exported := filepath.Join(t.TempDir(), "of "+hostileFile+".html")
	out, err := exec.CommandContext(t.Context(), program, "inspect", file, "--export", exported, "-q").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "\x1b")
	browse(t, "inspect.mjs", map[string]any{"address": inspect(t, file, "--compact"), "exported": exported})
}
