package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// overwriting opens a store that overwrites what is freed. done gets a value after each pass, as far as there is room.
func overwritingStore(t *testing.T, path string, options Options) (s *Store, done chan struct{}) {
	t.Helper()
	done = make(chan struct{}, 1)
	options.OverwriteFreed = true
	options.overwritten = func() {
		select {
		case done <- struct{}{}:
		default:
		}
	}
	s, err := Open(path, options)
	require.NoError(t, err)
	return s, done
}

// settled waits until nothing is left to be overwritten.
func settled(s *Store, done chan struct{}) {
	for s.Statistics().OverwriteLag > 0 {
		<-done
	}
}

// grow appends to a session, so that each text is copied to other pages many times, and returns its row.
func grow(t *testing.T, s *Store, id string, texts int) *storagev1.Session {
	t.Helper()
	d := storagetest.NewSession("", id, "uid-"+id)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	for n := range texts {
		d = storagetest.Next(d.Session).Text(fmt.Sprintf("the secret of %s, %d %s", id, n, strings.Repeat("x", 50+n*7%900)))
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
	}
	return d.Session
}

// secretsIn returns how often texts of a session stand in the files of a folder.
func secretsIn(t *testing.T, folder, id string) (found int) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		found += bytes.Count(content, []byte("the secret of "+id+","))
	}
	return found
}

// What a deletion frees is overwritten, with all copies of it in pages that were freed before: also where the list of free
// pages is not written with each commit, and with reads, other writes and rewritten reserves between.
func TestOverwriteFreed(t *testing.T) {
	for name, options := range map[string]Options{
		"listed": {}, "unlisted": {listed: 1}, "with a reserve": {Reserve: 1 << 18}, "array": {listed: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s, done := overwritingStore(t, path, options)
			for _, id := range []string{"kept", "gone", "also"} {
				grow(t, s, id, 60)
			}
			require.GreaterOrEqual(t, secretsIn(t, filepath.Dir(path), "gone"), 60, "the test has nothing to show")
			require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
			require.Positive(t, s.Statistics().OverwriteLag)
			settled(s, done)
			require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
			require.GreaterOrEqual(t, secretsIn(t, filepath.Dir(path), "kept"), 60)

			grow(t, s, "later", 60)
			require.NoError(t, s.DeleteSession(t.Context(), "", "also"))
			settled(s, done)
			require.Zero(t, secretsIn(t, filepath.Dir(path), "also"))
			require.NoError(t, s.Close())
			requireSound(t, path)
			requireAlone(t, path)
			requireGrown(t, path, "kept", 60)
			requireGrown(t, path, "later", 60)
		})
	}
}

// requireGrown requires that a session is as grow wrote it.
func requireGrown(t *testing.T, path, id string, texts int) {
	t.Helper()
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	messages, err := s.Messages(t.Context(), storage.Ref{SessionID: id, UID: "uid-" + id}, 0, 1<<32-1, 0)
	require.NoError(t, err)
	require.Len(t, messages, texts)
}

// Without the option, nothing is overwritten.
func TestFreedIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	grow(t, s, "gone", 60)
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	require.Zero(t, s.Statistics().OverwriteLag)
	require.NoError(t, s.Close())
	require.Positive(t, secretsIn(t, filepath.Dir(path), "gone"))

	// The next opening with it finds what was left.
	s, done := overwritingStore(t, path, Options{})
	settled(s, done)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// What the file has behind its last page, such as the pages of a commit that failed, is overwritten too.
func TestOverwriteBehindTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, path)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	info, err := file.Stat()
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("the secret of gone, of a commit that failed"), info.Size()-1000)
	require.NoError(t, errors.Join(err, file.Close()))
	require.NotZero(t, secretsIn(t, filepath.Dir(path), "gone"))
	s, done := overwritingStore(t, path, Options{})
	settled(s, done)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// A read that began before a deletion sees all to its end, and the pages are overwritten after it.
func TestOverwriteWaitsForReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, done := overwritingStore(t, path, Options{})
	grow(t, s, "gone", 60)
	settled(s, done)
	require.NoError(t, s.view(t.Context(), func(tx *transaction) error {
		require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
		// Many commits, each of which could be taken for a reason to begin.
		grow(t, s, "other", 30)
		found := 0
		cursor := tx.Bucket(messagesBucket).Cursor(nil)
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			require.Contains(t, string(value), "the secret of gone,")
			found++
		}
		require.Equal(t, 60, found)
		require.NotZero(t, secretsIn(t, filepath.Dir(path), "gone"))
		return nil
	}))
	settled(s, done)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	require.NoError(t, s.Close())
	requireSound(t, path)
	requireGrown(t, path, "other", 30)
}

// Passes run while all write and read, and end although operations always wait.
func TestOverwriteUnderLoad(t *testing.T) {
	for name, options := range map[string]Options{"listed": {}, "unlisted": {listed: 1}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s, done := overwritingStore(t, path, options)
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			lengths := make([]int, 4)
			for n := range lengths {
				running.Go(func() {
					d := storagetest.NewSession("", fmt.Sprint(n), fmt.Sprint(n))
					err := s.CreateSession(t.Context(), &d.Commit)
					for ; err == nil && ctx.Err() == nil; lengths[n]++ {
						d = storagetest.Next(d.Session).Text(strings.Repeat("x", 10+lengths[n]*37%3000))
						if err = s.Commit(t.Context(), &d.Commit); err == nil {
							_, err = s.Messages(t.Context(), storage.RefOf(d.Session), uint32(lengths[n]/2), 1<<32-1, 10)
						}
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			for n := range 2 {
				id := fmt.Sprint("gone", n)
				grow(t, s, id, 20)
				require.NoError(t, s.DeleteSession(t.Context(), "", id))
				settled(s, done)
				require.Zero(t, secretsIn(t, filepath.Dir(path), id))
			}
			stop()
			running.Wait()
			require.NoError(t, s.Close())
			requireSound(t, path)
			s, err := Open(path, Options{ReadOnly: true})
			require.NoError(t, err)
			for n, length := range lengths {
				messages, err := s.Messages(t.Context(), storage.Ref{SessionID: fmt.Sprint(n), UID: fmt.Sprint(n)}, 0, 1<<32-1, 0)
				require.NoError(t, err)
				require.Len(t, messages, length)
			}
			require.NoError(t, s.Close())
		})
	}
}

// A snapshot leaves nothing in the blocks that it had, also one of a process that was killed.
func TestSnapshotIsOverwritten(t *testing.T) {
	skipWithoutLinks(t)
	path := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, path)
	left := path + snapshotSuffix + "OFAKILLEDPROCESS"
	require.NoError(t, os.WriteFile(left, []byte("a part of a copy"), 0o600))
	old := held(t, left)
	erased := make(chan error, 1)
	s, done := overwritingStore(t, path, Options{Erased: func(_ string, err error) { erased <- err }})
	require.NoError(t, <-erased)
	require.True(t, isZero(t, old))
	var copied *os.File
	require.NoError(t, s.Snapshot(t.Context(), func(file *os.File, _ int) error {
		copied = held(t, file.Name())
		return nil
	}))
	require.True(t, isZero(t, copied))
	settled(s, done)
	require.NoError(t, s.Close())
	requireAlone(t, path)
}

// A pass ends although an operation waits at each moment.
func TestOverwriteInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var s *Store
	var waits atomic.Bool
	s, done := overwritingStore(t, path, Options{synced: func([]change) {
		if waits.Load() {
			require.NoError(t, s.queue.push(&operation{
				prepare: func(*transaction) (func() error, error) { return func() error { return nil }, nil },
				ended:   never, done: make(chan error, 1),
			}))
		}
	}})
	grow(t, s, "gone", 40)
	settled(s, done)
	waits.Store(true)
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	settled(s, done)
	waits.Store(false)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	require.NoError(t, s.Close())
	requireSound(t, path)
}
