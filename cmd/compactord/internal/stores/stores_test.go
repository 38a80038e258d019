package stores_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// stored imports the example conversation into sessions of a new store.
func stored(t *testing.T, sessions ...string) (store string) {
	t.Helper()
	store = anystore.File(t)
	for _, id := range sessions {
		programtest.Ran(t, "import", sample.TalkFile(t), "--session", id, "--store", store).Ends(t, terminal.ExitDone)
	}
	return store
}

// exported is the log of a session.
func exported(t *testing.T, store, id string) string {
	t.Helper()
	return programtest.Ran(t, "export", "--session", id, "--to", "markdown", "--store", store).Ends(t, terminal.ExitDone).Out
}

func requireCheckPasses(t *testing.T, store string) {
	t.Helper()
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
}

// files are the names in the folder of a file.
func files(t *testing.T, beside string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(beside))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A backup is restored as it was, by a file or a stream.
func TestBackupAndRestore(t *testing.T) {
	store := stored(t, "a", "b")
	folder := t.TempDir()
	file := filepath.Join(folder, "monday.backup")
	r := programtest.Ran(t, "backup", file, "--store", store).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "2 sessions")
	require.Contains(t, r.Out, "which reads and checks the whole: compactord restore "+file+" --store NEW.db\n")
	require.Equal(t, []string{"monday.backup"}, files(t, file))
	programtest.Ran(t, "backup", file, "--store", store).Ends(t, terminal.ExitFailed).Says(t, "exists already")

	restored := filepath.Join(t.TempDir(), "restored.db")
	document := sample.Document(t, programtest.Ran(t, "restore", file, "--store", restored, "--json").Ends(t, terminal.ExitDone).Out)
	require.EqualValues(t, 2, sample.At(t, document, "sessions"))
	requireCheckPasses(t, restored)
	require.Equal(t, exported(t, store, "b"), exported(t, restored, "b"))
	require.Equal(t, []string{"restored.db"}, files(t, restored))

	stream := programtest.Ran(t, "backup", "-", "--store", store).Ends(t, terminal.ExitDone).Out
	programtest.RanOn(t, strings.NewReader(stream), "restore", "-", "--store", restored).
		Ends(t, terminal.ExitFailed).Says(t, "there is a store").Says(t, "--force")
	programtest.Ran(t, "delete", "--session", "b", "--store", restored, "--yes").Ends(t, terminal.ExitDone)
	programtest.RanOn(t, strings.NewReader(stream), "restore", "-", "--store", restored, "--force").Ends(t, terminal.ExitDone)
	require.Equal(t, exported(t, store, "b"), exported(t, restored, "b"))
	programtest.Ran(t, "backup", "-", "--store", store, "--json").Ends(t, terminal.ExitUsage).Says(t, "--json")
}

// A backup that is damaged or incomplete, or no backup, replaces no store.
func TestRestoreRefusesWhatIsDamaged(t *testing.T) {
	store := stored(t, "a")
	file := filepath.Join(t.TempDir(), "it.backup")
	programtest.Ran(t, "backup", file, "--store", store).Ends(t, terminal.ExitDone)
	sound, err := os.ReadFile(file)
	require.NoError(t, err)
	damaged := bytes.Clone(sound)
	damaged[len(damaged)/2] ^= 1
	plain, err := os.ReadFile(store)
	require.NoError(t, err)
	for says, content := range map[string][]byte{
		"does not have the sum": damaged, "its end is missing": sound[:len(sound)-1], "it is no backup": plain, "no backup": nil,
	} {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		programtest.Ran(t, "restore", file, "--store", store, "--force").Ends(t, terminal.ExitFailed).Says(t, says)
		to := filepath.Join(t.TempDir(), "new.db")
		programtest.Ran(t, "restore", file, "--store", to).Ends(t, terminal.ExitFailed).Says(t, says)
		require.Empty(t, files(t, to))
	}
	after, err := os.ReadFile(store)
	require.NoError(t, err)
	require.True(t, bytes.Equal(plain, after))
	require.Len(t, files(t, store), 1)
}

// A damaged store is replaced by its backup, and no backup is made of it.
func TestDamagedStore(t *testing.T) {
	store := stored(t, "a")
	whole := exported(t, store, "a")
	file := filepath.Join(t.TempDir(), "it.backup")
	programtest.Ran(t, "backup", file, "--store", store).Ends(t, terminal.ExitDone)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	at := bytes.Index(content, []byte("Fix the failing test number 7 in"))
	require.Positive(t, at)
	content[at] ^= 1
	require.NoError(t, os.WriteFile(store, content, 0o600))
	programtest.Ran(t, "backup", file+"2", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "salvage")
	programtest.Ran(t, "defrag", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "salvage")
	require.Equal(t, []string{"it.backup"}, files(t, file))
	require.Len(t, files(t, store), 1)

	require.NoError(t, os.WriteFile(store, []byte("no store at all"), 0o600))
	programtest.Ran(t, "restore", file, "--store", store).Ends(t, terminal.ExitFailed).Says(t, "--force")
	programtest.Ran(t, "restore", file, "--store", store, "--force").Ends(t, terminal.ExitDone)
	require.Equal(t, whole, exported(t, store, "a"))
}

// Of a deleted session, nothing is left in the file after a defragmentation, and all else is.
func TestDefrag(t *testing.T) {
	store := stored(t, "a", "gone")
	whole := exported(t, store, "a")
	secret := "a word that only the deleted session has"
	programtest.RanOn(t, strings.NewReader(`{"role":"user","content":"`+secret+`"}`), "import", "-", "--session", "secret", "--store", store).
		Ends(t, terminal.ExitDone)
	for _, id := range []string{"gone", "secret"} {
		programtest.Ran(t, "delete", "--session", id, "--store", store, "--yes").Ends(t, terminal.ExitDone)
	}
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	require.True(t, bytes.Contains(content, []byte(secret)), "the test has nothing to show")
	document := sample.Document(t, programtest.Ran(t, "defrag", "--store", store, "--json").Ends(t, terminal.ExitDone).Out)
	require.EqualValues(t, len(content), sample.At(t, document, "bytes_before"))
	require.EqualValues(t, 1, sample.At(t, document, "sessions"))
	content, err = os.ReadFile(store)
	require.NoError(t, err)
	require.EqualValues(t, len(content), sample.At(t, document, "bytes_after"))
	require.False(t, bytes.Contains(content, []byte(secret)))
	require.Len(t, files(t, store), 1)
	requireCheckPasses(t, store)
	require.Equal(t, whole, exported(t, store, "a"))
	require.Contains(t, programtest.Ran(t, "defrag", "--store", store).Ends(t, terminal.ExitDone).Out, "1 session")
	programtest.Ran(t, "defrag", "--store", store+"2").Ends(t, terminal.ExitFailed).Says(t, "there is no store")
}

// A store that a daemon has open is left alone.
func TestStoreInUse(t *testing.T) {
	store := stored(t, "a")
	file := filepath.Join(t.TempDir(), "it.backup")
	programtest.Ran(t, "backup", file, "--store", store).Ends(t, terminal.ExitDone)
	programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	for _, args := range [][]string{{"defrag"}, {"backup", file + "2"}, {"restore", file, "--force"}} {
		programtest.Ran(t, append(args, "--store", store)...).Ends(t, terminal.ExitFailed).Says(t, "in use by another process")
	}
	require.Equal(t, []string{"it.backup"}, files(t, file))
}

// A backup of a daemon that takes appends meanwhile has each message that was acknowledged before it began, and a sound log.
func TestBackupOfADaemon(t *testing.T) {
	store := stored(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	daemon := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr))
	const clients = 8
	var acknowledged [clients]atomic.Uint32
	ctx, stop := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	for client := range clients {
		id := fmt.Sprint("s", client)
		_, err := daemon.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: id})
		require.NoError(t, err)
		group.Go(func() error {
			for ctx.Err() == nil {
				text := &compactordv1.TextPart{Text: strings.Repeat(id, 500)}
				answer, err := daemon.AppendMessages(context.WithoutCancel(ctx), &compactordv1.AppendMessagesRequest{
					SessionId: id, Messages: []*compactordv1.Message{{
						Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: text}}},
					}},
				})
				if err != nil {
					return err
				}
				acknowledged[client].Store(answer.GetNextIndex())
			}
			return nil
		})
	}
	for round := range 4 {
		var before [clients]uint32
		for client := range clients {
			before[client] = acknowledged[client].Load()
		}
		folder := t.TempDir()
		file, restored := filepath.Join(folder, "it.backup"), filepath.Join(folder, "restored.db")
		if round == 0 {
			stream := programtest.Ran(t, "backup", "-", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out
			require.NoError(t, os.WriteFile(file, []byte(stream), 0o600))
		} else {
			require.Contains(t, programtest.Ran(t, "backup", file, "--addr", d.Addr).Ends(t, terminal.ExitDone).Out, "8 sessions")
		}
		programtest.Ran(t, "restore", file, "--store", restored).Ends(t, terminal.ExitDone)
		requireCheckPasses(t, restored)
		list := sample.Document(t, programtest.Ran(t, "sessions", "--store", restored, "--json").Ends(t, terminal.ExitDone).Out)
		sessions, ok := sample.At(t, list, "sessions").([]any)
		require.True(t, ok)
		require.Len(t, sessions, clients)
		for _, each := range sessions {
			id, ok := sample.At(t, each, "session_id").(string)
			require.True(t, ok)
			client, err := strconv.Atoi(strings.TrimPrefix(id, "s"))
			require.NoError(t, err)
			next, ok := sample.At(t, each, "next_index").(float64)
			if before[client] > 0 {
				require.True(t, ok)
				require.GreaterOrEqual(t, uint32(next), before[client])
			}
		}
	}
	stop()
	require.NoError(t, group.Wait())
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Len(t, files(t, store), 1, "no copy is left beside the store")
	programtest.Ran(t, "backup", filepath.Join(t.TempDir(), "x"), "--addr", d.Addr, "--store", store).Ends(t, terminal.ExitUsage)
}
