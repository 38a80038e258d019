//go:build unix

package serve_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// To open a pipe would wait for a writer for ever.
func TestPipesAreRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for name, args := range map[string][]string{
		"store":                {"serve", "--listen", "127.0.0.1:0", "--store", pipe},
		"store of a command":   {"sessions", "--store", pipe},
		"store to be checked":  {"check", "--store", pipe},
		"file of settings":     {"serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", pipe},
		"store is a character": {"serve", "--listen", "127.0.0.1:0", "--store", os.DevNull},
	} {
		t.Run(name, func(t *testing.T) {
			answer := programtest.Ran(t, args...)
			require.NotEqual(t, terminal.ExitDone, answer.Code)
			answer.Says(t, "it is not a regular file")
		})
	}
}

// Who can change the settings or a key can have the daemon send conversations elsewhere.
func TestFilesThatEverybodyCanChangeAreRefused(t *testing.T) {
	settings, key := sample.File(t, "settings.yaml", "log_level: warn\n"), sample.File(t, "key", sample.NotAKey)
	model := sample.File(t, "model.yaml", "summarizers:\n  m:\n    kind: anthropic\n    model: m\n    context_window: 200000\n"+
		"    max_output_tokens: 16000\n    api_key_file: "+key+"\n")
	for name, test := range map[string]struct{ open, config string }{
		"settings": {settings, settings},
		"key":      {key, model},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", test.config}
			// The group may write: that is what many systems give new files.
			require.NoError(t, os.Chmod(test.open, 0o664))
			d := programtest.Serving(t, args[1:]...)
			require.Equal(t, terminal.ExitDone, d.Stop())
			require.NoError(t, os.Chmod(test.open, 0o666))
			answer := programtest.Ran(t, args...)
			require.NotEqual(t, terminal.ExitDone, answer.Code)
			answer.Says(t, test.open+": everybody on this machine can change it (mode 0666): take that away with chmod o-w")
		})
	}
}

func TestStoreFilesThatAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		mode    os.FileMode
		says    []string
		not     []string
	}{
		"new":             {nil, 0, nil, []string{"other users", "was empty"}},
		"empty":           {[]byte{}, 0o600, []string{"the file of the store was empty"}, []string{"other users"}},
		"others may read": {[]byte{}, 0o644, []string{"other users can open the store", "mode=0644", "was empty"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			store := anystore.File(t)
			if test.content != nil {
				require.NoError(t, os.WriteFile(store, test.content, test.mode))
				require.NoError(t, os.Chmod(store, test.mode))
			}
			d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
			require.Equal(t, terminal.ExitDone, d.Stop())
			for _, text := range test.says {
				require.Contains(t, d.Log.String(), text)
			}
			for _, text := range test.not {
				require.NotContains(t, d.Log.String(), text)
			}
		})
	}
}

// A damaged older header is no damage to what the store holds, but a sign that the disk may damage more.
func TestADamagedHeaderIsLogged(t *testing.T) {
	store := anystore.File(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	const transaction = 64
	older := 0
	if commit := binary.NativeEndian.Uint64; commit(content[transaction:]) > commit(content[os.Getpagesize()+transaction:]) {
		older = 1
	}
	content[older*os.Getpagesize()+transaction-20] ^= 1
	require.NoError(t, os.WriteFile(store, content, 0o600))
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Contains(t, d.Log.String(), fmt.Sprintf(`damage="page %d: the header is damaged"`, older))
	require.Equal(t, 1, strings.Count(d.Log.String(), "a header of the store was damaged"))
}

// An empty file holds no store, and a check changes nothing.
func TestCheckOfAnEmptyFile(t *testing.T) {
	store := sample.File(t, "store.db", "")
	programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "is empty: it holds no store")
	info, err := os.Stat(store)
	require.NoError(t, err)
	require.Zero(t, info.Size())
}

// Of a file that is no store, only that is said: its mode does not matter, and may be as it should be.
func TestAForeignFileThatOthersMayRead(t *testing.T) {
	file := sample.File(t, "notes.txt", "what I have to do\n")
	require.NoError(t, os.Chmod(file, 0o644))
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--store", file}, {"sessions", "--store", file}, {"check", "--store", file},
	} {
		answer := programtest.Ran(t, args...)
		require.NotEqual(t, terminal.ExitDone, answer.Code)
		answer.Says(t, file+" is no store of compactord: it is a text file")
		require.NotContains(t, answer.Err, "other users")
	}
}
