package sessions_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// viewIn returns what the command shows of a session, without the store that its advice names.
func viewIn(t *testing.T, store, session string) string {
	t.Helper()
	out := programtest.Ran(t, "view", "--session", session, "--store", store).Ends(t, terminal.ExitDone).Out
	return strings.ReplaceAll(out, store, "STORE")
}

// A damaged store is copied without what is lost, which is listed; a sound one whole.
func TestSalvage(t *testing.T) {
	store := anystore.File(t)
	for i := range 3 {
		programtest.Ran(t, "import", sample.TalkFile(t), "--session", fmt.Sprint("s", i), "--store", store).Ends(t, terminal.ExitDone)
	}
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.db")
	r := programtest.Ran(t, "salvage", store, whole).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "3 of 3 sessions copied whole")
	require.Contains(t, programtest.Ran(t, "check", "--store", whole).Ends(t, terminal.ExitDone).Out, "is sound")
	require.Equal(t,
		viewIn(t, store, "s1"), viewIn(t, whole, "s1"))
	programtest.Ran(t, "salvage", store, whole).Ends(t, terminal.ExitFailed).Says(t, "exists already")
	programtest.Ran(t, "salvage", filepath.Join(folder, "none.db"), whole).Ends(t, terminal.ExitFailed).Says(t, "there is no store")

	content, err := os.ReadFile(store)
	require.NoError(t, err)
	at := bytes.Index(content, []byte("Fix the failing test number 7 in"))
	require.Positive(t, at)
	content[at] ^= 1
	require.NoError(t, os.WriteFile(store, content, 0o600))
	part := filepath.Join(folder, "part.db")
	r = programtest.Ran(t, "salvage", store, part, "--json").Ends(t, terminal.ExitPart).Says(t, "only a part of")
	document := sample.Document(t, r.Out)
	list, ok := sample.At(t, document, "sessions").([]any)
	require.True(t, ok)
	require.Len(t, list, 3)
	lost := 0
	for _, each := range list {
		if sample.At(t, each, "whole") != true {
			lost++
			require.NotEmpty(t, sample.At(t, each, "lost"))
		}
	}
	require.Equal(t, 1, lost)
	require.Contains(t, programtest.Ran(t, "check", "--store", part).Ends(t, terminal.ExitDone).Out, "is sound")
	after, err := os.ReadFile(store)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, after), "the damaged store is only read")
	r = programtest.Ran(t, "salvage", store, part+"2").Ends(t, terminal.ExitPart)
	require.Contains(t, r.Out, "messages copied: ")
}

// Where the newest header is damaged, it is said that the last commit may be missing: all sessions are whole without it.
func TestSalvageSaysThatACommitIsMissing(t *testing.T) {
	const missing = "the header is damaged: the last commit may be missing"
	sound := anystore.File(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", sound).Ends(t, terminal.ExitDone)
	content, err := os.ReadFile(sound)
	require.NoError(t, err)
	const transaction = 64
	commit := func(header int) uint64 {
		return binary.NativeEndian.Uint64(content[header*os.Getpagesize()+transaction:])
	}
	newest := 0
	if commit(1) > commit(0) {
		newest = 1
	}
	for header := range 2 {
		folder := t.TempDir()
		store := filepath.Join(folder, "store.db")
		flipped := bytes.Clone(content)
		flipped[header*os.Getpagesize()+transaction-20] ^= 1
		require.NoError(t, os.WriteFile(store, flipped, 0o600))
		r := programtest.Ran(t, "salvage", store, filepath.Join(folder, "new.db")).Ends(t, terminal.ExitPart)
		require.Contains(t, r.Out, "the header is damaged")
		require.Equal(t, header == newest, strings.Contains(r.Out, missing), r.Out)
	}
}

// Of a file that was cut short before its newest pages, which lead to all others, the sessions before the cut are copied;
// so are all of one without headers. What is no store is refused as before, and nothing is left beside the new store.
func TestSalvageOfFilesThatLackWhatLeadsToTheRest(t *testing.T) {
	sound := anystore.File(t)
	for i := range 4 {
		programtest.Ran(t, "import", sample.TalkFile(t), "--session", fmt.Sprint("s", i), "--store", sound).Ends(t, terminal.ExitDone)
	}
	view := viewIn(t, sound, "s0")
	content, err := os.ReadFile(sound)
	require.NoError(t, err)
	newest := content[:os.Getpagesize()]
	if other := content[os.Getpagesize():][:os.Getpagesize()]; binary.NativeEndian.Uint64(other[64:]) > binary.NativeEndian.Uint64(newest[64:]) {
		newest = other
	}
	root := int(binary.NativeEndian.Uint64(newest[32:])) * os.Getpagesize()
	cut := content[:root]
	headless := bytes.Clone(content)
	clear(headless[:2*os.Getpagesize()])
	for name, damaged := range map[string][]byte{"cut": cut, "headless": headless} {
		folder := t.TempDir()
		store, salvaged := filepath.Join(folder, "store.db"), filepath.Join(folder, "new.db")
		require.NoError(t, os.WriteFile(store, damaged, 0o600))
		r := programtest.Ran(t, "salvage", store, salvaged).Ends(t, terminal.ExitPart)
		require.Contains(t, r.Out, "put together from single pages", name)
		if name == "cut" {
			require.Contains(t, r.Out, "it is incomplete")
		} else {
			require.Contains(t, r.Out, "4 of 4 sessions copied whole")
		}
		require.Contains(t, programtest.Ran(t, "check", "--store", salvaged).Ends(t, terminal.ExitDone).Out, "is sound")
		require.Equal(t, view, viewIn(t, salvaged, "s0"))
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, left, 2, name)
	}
	folder := t.TempDir()
	other := filepath.Join(folder, "other.txt")
	require.NoError(t, os.WriteFile(other, bytes.Repeat([]byte("no store "), 5000), 0o600))
	programtest.Ran(t, "salvage", other, filepath.Join(folder, "new.db")).Ends(t, terminal.ExitFailed).Says(t, "is no store of compactord: it is a text file")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
