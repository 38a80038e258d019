package stores_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
)

// rounds is how often each test kills a process.
func rounds() int {
	if testing.Short() {
		return 2
	}
	return 100
}

// changes are the changes of the files in a folder, in their order.
type changes struct {
	file   *os.File
	buffer [4096]byte
	rest   []byte
}

func changesIn(t *testing.T, folder string) *changes {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	c := &changes{file: os.NewFile(uintptr(fd), "inotify")}
	t.Cleanup(func() { _ = c.file.Close() })
	_, err = unix.InotifyAddWatch(fd, folder,
		unix.IN_CREATE|unix.IN_MODIFY|unix.IN_ATTRIB|unix.IN_CLOSE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO)
	require.NoError(t, err)
	return c
}

// next waits for a change, and returns false once the file is closed.
func (c *changes) next() bool {
	if len(c.rest) == 0 {
		n, err := c.file.Read(c.buffer[:])
		if err != nil {
			return false
		}
		c.rest = c.buffer[:n]
	}
	const lengthAt = 12
	length := int(binary.NativeEndian.Uint32(c.rest[lengthAt:]))
	c.rest = c.rest[unix.SizeofInotifyEvent+length:]
	return true
}

// killedAt runs the program, and kills it after this many changes of the files in a folder. It says how many there were,
// and whether the program ended by itself before.
func killedAt(t *testing.T, folder string, after int, args ...string) (seen int, ended bool) {
	t.Helper()
	c := changesIn(t, folder)
	cmd := exec.CommandContext(t.Context(), programtest.Binary(t), args...)
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = c.file.Close()
		done <- err
	}()
	for seen < after && c.next() {
		seen++
	}
	_ = cmd.Process.Kill()
	return seen, <-done == nil
}

// places are after how many changes the rounds of a test kill a program that makes this many.
func places(all int) []int {
	if all <= rounds() {
		list := make([]int, all)
		for i := range list {
			list[i] = i + 1
		}
		return list
	}
	list, random := make([]int, rounds()), rand.New(rand.NewPCG(1, 2))
	for i := range list {
		// One in each part, so that the beginning and the end are among them.
		list[i] = 1 + i*all/len(list) + random.IntN(max(1, all/len(list)))
	}
	return list
}

// tenantsStore is a store with sessions of two tenants and with room of a deleted one, and all that it holds.
func tenantsStore(t *testing.T) (store, held string) {
	t.Helper()
	store = stored(t, "a", "b", "gone")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "a", "--store", store, "--tenant", "one").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "delete", "--session", "gone", "--store", store, "--yes").Ends(t, terminal.ExitDone)
	return store, heldBy(t, store)
}

// heldBy is all that a store holds. It must be sound.
func heldBy(t *testing.T, path string) string {
	t.Helper()
	return heldWith(t, path, nil)
}

// heldWith is heldBy for a store that may be encrypted.
func heldWith(t *testing.T, path string, keys *keyring.Ring) string {
	t.Helper()
	store, err := boltstore.Open(path, boltstore.Options{ReadOnly: true, Keys: keys})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	problems, err := store.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	var all strings.Builder
	for _, tenant := range []string{"", "one"} {
		rows, _, err := store.Sessions(t.Context(), storage.SessionQuery{Tenant: tenant, Limit: 100})
		require.NoError(t, err)
		require.NotEmpty(t, rows)
		for _, row := range rows {
			messages, err := store.Messages(t.Context(), storage.RefOf(row), 0, 1<<32-1, 0)
			require.NoError(t, err)
			require.NotEmpty(t, messages)
			all.WriteString(protojson.Format(row))
			for _, m := range messages {
				all.WriteString(protojson.Format(m))
			}
		}
	}
	// The library that writes the JSON puts blanks in at random.
	return strings.Join(strings.Fields(all.String()), "")
}

// blocks opens a file, whose content can be seen then whatever name it gets, and without one.
func blocks(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return file
}

// requireOverwritten asserts that nothing is left of what a file held.
func requireOverwritten(t *testing.T, file *os.File) {
	t.Helper()
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NotEmpty(t, content)
	require.Empty(t, bytes.Trim(content, "\x00"))
}

// A defragmentation that is killed at any place leaves the store, and what it has left goes with the next: the files, and
// what was in the old one.
func TestDefragIsKilled(t *testing.T) {
	store, held := tenantsStore(t)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	all, ended := killedAt(t, filepath.Dir(store), 1<<30, "defrag", "--store", store)
	require.True(t, ended)
	require.Greater(t, all, 5)
	for _, place := range places(all) {
		path := filepath.Join(t.TempDir(), "store.db")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		old := blocks(t, path)
		killedAt(t, filepath.Dir(path), place, "defrag", "--store", path)
		require.Equal(t, held, heldBy(t, path), "after change %d", place)
		leave(t, path+".defrag")
		programtest.Ran(t, "defrag", "--store", path).Ends(t, terminal.ExitDone)
		requireOverwritten(t, old)
		require.Equal(t, []string{"store.db"}, files(t, path), "after change %d", place)
		require.Equal(t, held, heldBy(t, path), "after change %d", place)
	}
}

// A store whose encryption is killed at any place is a plain one or an encrypted one, and holds the same.
func TestEncryptIsKilled(t *testing.T) {
	store, held := tenantsStore(t)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	file := keyFile(t, "k")
	keys, err := keyring.Parse([]byte(keyLine("k")))
	require.NoError(t, err)
	encrypt := []string{"encrypt", "--store-keys", file, "--store"}
	all, ended := killedAt(t, filepath.Dir(store), 1<<30, append(encrypt, store)...)
	require.True(t, ended)
	require.Greater(t, all, 5)
	for _, place := range places(all) {
		path := filepath.Join(t.TempDir(), "store.db")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		old := blocks(t, path)
		killedAt(t, filepath.Dir(path), place, append(encrypt, path)...)
		require.Equal(t, held, heldWith(t, path, keys), "after change %d", place)
		leave(t, path+".defrag")
		programtest.Ran(t, append(encrypt, path)...).Ends(t, terminal.ExitDone)
		requireOverwritten(t, old)
		require.Equal(t, []string{"store.db"}, files(t, path), "after change %d", place)
		require.Equal(t, held, heldWith(t, path, keys), "after change %d", place)
		requireSaid(t, path, false)
	}
}

// leave leaves the beginning of a file where a process that was killed may have left one: whether it has depends on when
// the kill came.
func leave(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		require.NoError(t, os.WriteFile(path, []byte("half a file"), 0o600))
	}
}

// requireBackup asserts that a file is a whole backup of what a store holds.
func requireBackup(t *testing.T, file, held string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored.db")
	programtest.Ran(t, "restore", file, "--store", to).Ends(t, terminal.ExitDone)
	require.Equal(t, held, heldBy(t, to))
}

// requireNoHalfBackup asserts what a killed backup leaves: nothing under the name of the backup, or a whole one, and under
// another name nothing that restore takes, or a whole one, too. The next run removes it.
func requireNoHalfBackup(t *testing.T, file, held string, again ...string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored.db")
	if r := programtest.Ran(t, "restore", file+".part", "--store", to); r.Code == terminal.ExitDone {
		require.Equal(t, held, heldBy(t, to))
	} else {
		require.NoFileExists(t, to)
	}
	if _, err := os.Stat(file); err == nil {
		require.NoFileExists(t, file+".part")
		requireBackup(t, file, held)
		return
	}
	leave(t, file+".part")
	made := programtest.Ran(t, again...)
	for strings.Contains(made.Err, "another backup runs") {
		// The daemon has not yet seen that the client of the other one is gone.
		made = programtest.Ran(t, again...)
	}
	made.Ends(t, terminal.ExitDone)
	require.Equal(t, []string{filepath.Base(file)}, files(t, file))
	requireBackup(t, file, held)
}

// A backup of a file that is killed at any place leaves the store as it is, and is taken for no backup.
func TestBackupOfAFileIsKilled(t *testing.T) {
	store, held := tenantsStore(t)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "it.backup")
	all, ended := killedAt(t, filepath.Dir(file), 1<<30, "backup", file, "--store", store)
	require.True(t, ended)
	require.Greater(t, all, 5)
	for _, place := range places(all) {
		file := filepath.Join(t.TempDir(), "it.backup")
		killedAt(t, filepath.Dir(file), place, "backup", file, "--store", store)
		requireNoHalfBackup(t, file, held, "backup", file, "--store", store)
	}
	after, err := os.ReadFile(store)
	require.NoError(t, err)
	require.Equal(t, content, after)
	require.Len(t, files(t, store), 1)
}

// narrow passes only the first bytes of what a daemon sends, and then nothing more. passed gets how many, once they are all.
func narrow(t *testing.T, addr string, most int64) (through string, passed <-chan int64) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	reached := make(chan int64, 1)
	ctx, end := context.WithCancel(t.Context())
	group := &errgroup.Group{}
	group.Go(func() error {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }()
		daemon, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer func() { _ = daemon.Close() }()
		group.Go(func() error {
			_, err := io.Copy(daemon, client)
			// The daemon closes then, too.
			return errors.Join(err, daemon.Close())
		})
		n, err := io.CopyN(client, daemon, most)
		reached <- n
		if err == nil {
			<-ctx.Done()
		}
		return err
	})
	t.Cleanup(func() {
		_ = listener.Close()
		end()
		_ = group.Wait()
	})
	return listener.Addr().String(), reached
}

// ofDaemon are the arguments of a backup of a daemon.
func ofDaemon(file, addr string) []string {
	return []string{"backup", file, "--addr", addr, "--token-file", filepath.Join(os.Getenv("XDG_STATE_HOME"), "compactord", "token")}
}

// A client that is killed while it receives the backup of a daemon leaves no half one, and the daemon has no copy left.
func TestBackupOfADaemonWhoseClientIsKilled(t *testing.T) {
	store, held := tenantsStore(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	through, passed := narrow(t, d.Addr, 1<<40)
	programtest.Ran(t, ofDaemon(filepath.Join(t.TempDir(), "it.backup"), through)...).Ends(t, terminal.ExitDone)
	all := <-passed
	for round := range rounds() {
		file := filepath.Join(t.TempDir(), "it.backup")
		// The end has the status of the call.
		through, passed := narrow(t, d.Addr, all/5+int64(round)*(all*3/5)/int64(rounds()))
		cmd := exec.CommandContext(t.Context(), programtest.Binary(t), ofDaemon(file, through)...)
		require.NoError(t, cmd.Start())
		<-passed
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		require.NoFileExists(t, file)
		requireNoHalfBackup(t, file, held, ofDaemon(file, d.Addr)...)
	}
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Len(t, files(t, store), 1)
	require.Equal(t, held, heldBy(t, store))
}

// daemonKilledAt makes a backup of a daemon, which is killed after this many changes of the files beside its store.
func daemonKilledAt(t *testing.T, store, file string, after int) (seen int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", store)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	addr, _, _ := strings.Cut(strings.TrimPrefix(line, "compactord listens on "), ", store ")
	c := changesIn(t, filepath.Dir(store))
	made := make(chan struct{})
	go func() {
		programtest.Ran(t, ofDaemon(file, addr)...)
		_ = c.file.Close()
		close(made)
	}()
	for seen < after && c.next() {
		seen++
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	<-made
	return seen
}

// A daemon that is killed while it makes a backup leaves its store. The next one removes what is left of the copy.
func TestBackupOfADaemonThatIsKilled(t *testing.T) {
	store, held := tenantsStore(t)
	all := daemonKilledAt(t, store, filepath.Join(t.TempDir(), "it.backup"), 1<<30)
	require.Greater(t, all, 5)
	for _, place := range places(all) {
		file := filepath.Join(t.TempDir(), "it.backup")
		daemonKilledAt(t, store, file, place)
		leave(t, store+".snapshot-OFAKILLEDONE")
		require.Equal(t, held, heldBy(t, store), "after change %d", place)
		requireNoHalfBackup(t, file, held, "backup", file, "--store", store)
		opened, err := boltstore.Open(store, boltstore.Options{})
		require.NoError(t, err)
		require.NoError(t, opened.Close())
		require.Equal(t, []string{filepath.Base(store)}, files(t, store))
	}
}
