//go:build linux

package main_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// onReadOnly is a shell's script for a name space of its own. It mounts the folder of the first argument read-only and
// becomes the rest. A line on descriptor 3 makes the folder writable, which a line on descriptor 4 says.
const onReadOnly = `folder=$1 && shift && mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder" || exit 9
cd "$folder" || exit 9
(read -r _ <&3 && mount -o remount,bind,rw "$folder" && echo writable >&4) >/dev/null 2>&1 &
exec "$@"`

// readOnlyCommand returns the program with a working folder that is mounted read-only, and a function that makes it
// writable.
func readOnlyCommand(t *testing.T, folder string, args ...string) (command *exec.Cmd, makeWritable func()) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"`, folder).CombinedOutput(); err != nil {
		t.Skipf("name spaces cannot be made here: %v: %s", err, out)
	}
	command = exec.CommandContext(t.Context(), "unshare", append([]string{
		"--user", "--map-root-user", "--mount", "sh", "-c", onReadOnly, "sh", folder, programtest.Binary(t),
	}, args...)...)
	theirs, ask, err := os.Pipe()
	require.NoError(t, err)
	done, theirDone, err := os.Pipe()
	require.NoError(t, err)
	command.ExtraFiles = []*os.File{theirs, theirDone}
	t.Cleanup(func() {
		for _, f := range []*os.File{ask, done, theirs, theirDone} {
			_ = f.Close()
		}
	})
	return command, func() {
		_, err := io.WriteString(ask, "now\n")
		require.NoError(t, err)
		line, err := bufio.NewReader(done).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "writable\n", line)
	}
}

// A daemon that starts on a read-only file system serves reads, says by status, health and log that it cannot write, and
// writes once it can.
func TestReadOnlyFileSystem(t *testing.T) {
	folder := t.TempDir()
	before := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", folder+"/store.db")
	client := compactordv1.NewSessionServiceClient(programtest.Connection(t, servedBy(t, before)))
	_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.NoError(t, before.Process.Signal(syscall.SIGTERM))
	require.NoError(t, before.Wait())

	where := freeAddress(t)
	command, makeWritable := readOnlyCommand(t, folder,
		"serve", "--listen", "127.0.0.1:0", "--store", "store.db", "--metrics-listen", where)
	stderr := &strings.Builder{}
	command.Stderr = stderr
	conn := programtest.Connection(t, servedBy(t, command))
	client = compactordv1.NewSessionServiceClient(conn)
	_, err = client.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "t"})
	require.Equal(t, codes.Unavailable, status.Code(err), err)
	require.ErrorContains(t, err, "the file system of the store is read-only")
	health := healthv1.NewHealthClient(conn)
	writes, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service.WritesService})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, writes.GetStatus())
	whole, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, whole.GetStatus())
	requireOutage(t, where, "read_only", 1)

	makeWritable()
	_, err = client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "t"})
	require.NoError(t, err)
	writes, err = health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service.WritesService})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, writes.GetStatus())
	requireOutage(t, where, "read_only", 0)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait(), stderr)
	require.Equal(t, 1, strings.Count(stderr.String(), "the store refuses writes"), stderr)
	require.Contains(t, stderr.String(), "cause=read_only")
	require.Equal(t, 1, strings.Count(stderr.String(), "the store takes writes again"), stderr)
}

// A command reads a store on a read-only file system, and says why it cannot write one, without lines of a log.
func TestCommandsOnAReadOnlyFileSystem(t *testing.T) {
	folder := t.TempDir()
	transcript := filepath.Join(folder, "t.json")
	require.NoError(t, os.WriteFile(transcript, []byte(`[{"role":"user","content":"hello"}]`), 0o600))
	imports := []string{"import", "--session", "s", "--store", filepath.Join(folder, "store.db"), transcript}
	out, err := exec.CommandContext(t.Context(), programtest.Binary(t), imports...).CombinedOutput()
	require.NoError(t, err, string(out))

	view, _ := readOnlyCommand(t, folder, "view", "--session", "s", "--store", "store.db")
	said := &strings.Builder{}
	view.Stderr = said
	out, err = view.Output()
	require.NoError(t, err, said)
	require.Contains(t, string(out), "The context holds")
	require.NotContains(t, said.String(), "level=ERROR")

	again, _ := readOnlyCommand(t, folder, imports...)
	out, err = again.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the file system of the store is read-only; nothing was written")
	require.NotContains(t, string(out), "level=ERROR")

	// The new store of a salvage is an argument, which no flag replaces.
	salvage, _ := readOnlyCommand(t, folder, "salvage", "store.db", "new.db")
	out, err = salvage.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "or choose another place for the new store.\n")
	require.NotContains(t, string(out), "--store")
	require.NotContains(t, string(out), "remove")
}

// A daemon whose file was replaced meanwhile says that the store is lost, and ends, also where nobody reads its log.
func TestExitCodeOfALostStore(t *testing.T) {
	for name, full := range map[string]bool{"stderr is read": false, "stderr is full": true} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			store := filepath.Join(folder, "store.db")
			for _, path := range []string{store, store + ".other"} {
				s, err := boltstore.Open(path, boltstore.Options{})
				require.NoError(t, err)
				require.NoError(t, s.Close())
			}
			command, makeWritable := readOnlyCommand(t, folder, "serve", "--listen", "127.0.0.1:0", "--store", "store.db")
			text := &strings.Builder{}
			command.Stderr = text
			if full {
				_, pipe := fullPipe(t)
				defer func() { require.NoError(t, pipe.Close()) }()
				command.Stderr = pipe
			}
			client := compactordv1.NewSessionServiceClient(programtest.Connection(t, servedBy(t, command)))
			require.NoError(t, os.Rename(store+".other", store))
			makeWritable()
			_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
			require.Equal(t, codes.Unavailable, status.Code(err), err)
			require.Error(t, command.Wait())
			require.Equal(t, terminal.ExitStoreLost, command.ProcessState.ExitCode(), text)
			if !full {
				require.Contains(t, text.String(), "another file has its name")
			}
		})
	}
}

// Where there is no store yet, a daemon on a read-only file system says what to do.
func TestReadOnlyFileSystemWithoutAStore(t *testing.T) {
	command, _ := readOnlyCommand(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--store", "store.db")
	out, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "its file system is read-only\n")
	require.Contains(t, string(out), "mount -o remount,rw")
}
