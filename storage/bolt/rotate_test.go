package boltstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/storagetest"
)

// sealedWith counts the encrypted values of a store by the key that sealed them.
func sealedWith(t *testing.T, path string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	meta(t, path, func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			err := tx.Bucket(name).ForEach(func(key, stored []byte) error {
				if encrypted, err := checkEncrypted(name, key, stored); err == nil {
					id, err := keyring.KeyOf(encrypted)
					require.NoError(t, err)
					counts[id]++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counts
}

// encryptedBytes are those of all encrypted values of a store, with their keys.
func encryptedBytes(t *testing.T, path string) (size int64) {
	t.Helper()
	meta(t, path, func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			err := tx.Bucket(name).ForEach(func(key, stored []byte) error {
				if _, err := checkEncrypted(name, key, stored); err == nil {
					size += int64(len(key) + len(stored))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return size
}

// After a rotation, the older key is not needed any more. It goes on where it was stopped, while others write.
func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	done, err := s.Rotate(t.Context(), RotateOptions{})
	require.NoError(t, err)
	require.Zero(t, done, "no value has an older key")
	require.NoError(t, s.Close())
	all := sealedWith(t, path)["a"]

	s, err = Open(path, Options{Keys: keys(t, "b", "a"), rotated: 50_000})
	require.NoError(t, err)
	require.Equal(t, 1, s.Statistics().OlderKeys)
	written := storagetest.NewSession("", "meanwhile", "uid-meanwhile")
	require.NoError(t, s.CreateSession(t.Context(), &written.Commit))
	ctx, stop := context.WithCancelCause(t.Context())
	steps := 0
	part, err := s.Rotate(ctx, RotateOptions{Progress: func(now Rotated) {
		require.Equal(t, now.Read, s.Statistics().RotationRead)
		if steps++; steps == 2 {
			stop(errStop)
		}
		written = storagetest.Next(written.Session).Text(strings.Repeat("written meanwhile ", 10)).Remember(fmt.Sprint(steps))
		require.NoError(t, s.Commit(t.Context(), &written.Commit))
	}})
	require.ErrorIs(t, err, errStop)
	require.NoError(t, s.Close())
	counts := sealedWith(t, path)
	require.Positive(t, counts["a"])
	whole := encryptedBytes(t, path)
	require.Greater(t, counts["b"], int(part.Values))

	s, err = Open(path, Options{Keys: keys(t, "b", "a"), rotated: 50_000})
	require.NoError(t, err)
	require.Equal(t, 1, s.Statistics().OlderKeys, "also of a rotation that goes on")
	done, err = s.Rotate(t.Context(), RotateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, done.Done)
	require.Zero(t, s.Statistics().OlderKeys)
	require.Zero(t, s.Statistics().RotationRead)
	require.Equal(t, int64(all), part.Values+done.Values, "each value is sealed anew once")
	require.Less(t, done.Read, whole, "it goes on where it was")
	requireAll(t, s, want)
	require.NoError(t, s.Close())
	require.Zero(t, sealedWith(t, path)["a"])

	s, err = Open(path, Options{Keys: keys(t, "b")})
	require.NoError(t, err)
	requireAll(t, s, want)
	messages, err := s.Messages(t.Context(), storage.RefOf(written.Session), 0, 100, 0)
	require.NoError(t, err)
	require.Len(t, messages, steps)
	require.NoError(t, s.Close())
}

// Where the older key seals again in the midst of a rotation, what it seals behind the rotation's place is found later.
func TestRotateThereAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	require.NoError(t, s.Close())
	last := storagetest.NewSession("", "last", "uid-last")
	for n, ring := range []*keyring.Ring{keys(t, "b", "a"), keys(t, "a", "b"), keys(t, "b", "a")} {
		s, err := Open(path, Options{Keys: ring, rotated: 50_000})
		require.NoError(t, err)
		ctx, stop := context.WithCancelCause(t.Context())
		if n == 1 {
			// Nothing is sealed anew: it only writes.
			stop(errStop)
			require.NoError(t, s.CreateSession(t.Context(), &last.Text("by the older key").Commit))
		}
		_, err = s.Rotate(ctx, RotateOptions{Progress: func(Rotated) {
			if n == 0 {
				stop(errStop)
			}
		}})
		if n < 2 {
			require.ErrorIs(t, err, errStop)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
		stop(nil)
	}
	require.Zero(t, sealedWith(t, path)["a"])
	s, err := Open(path, Options{Keys: keys(t, "b")})
	require.NoError(t, err)
	requireAll(t, s, want)
	messages, err := s.Messages(t.Context(), storage.RefOf(last.Session), 0, 1, 0)
	require.NoError(t, err)
	require.Len(t, messages, 1)
	require.NoError(t, s.Close())
}

// A damaged value ends a rotation, and the older key stays needed.
func TestRotateStopsAtDamage(t *testing.T) {
	for name, damaged := range map[string]func(stored []byte) []byte{
		"a flipped bit":       func(stored []byte) []byte { stored[len(stored)-1] ^= 1; return stored },
		"shorter than a sum":  func(stored []byte) []byte { return stored[:sealSize-1] },
		"nothing but the sum": func(stored []byte) []byte { return stored[:sealSize] },
		"empty":               func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s, _ := busy(t, path, Options{Keys: keys(t, "a")})
			require.NoError(t, s.Close())
			meta(t, path, func(tx *bbolt.Tx) error {
				key, stored := tx.Bucket(recordsBucket).Cursor().Last()
				return tx.Bucket(recordsBucket).Put(bytes.Clone(key), damaged(bytes.Clone(stored)))
			})
			s, err := Open(path, Options{Keys: keys(t, "b", "a"), rotated: 50_000})
			require.NoError(t, err)
			_, err = s.Rotate(t.Context(), RotateOptions{})
			require.ErrorIs(t, err, storage.ErrCorrupt)
			older, err := s.OlderKeys(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"a"}, older)
			require.NoError(t, s.Close())
		})
	}
}

func TestWhatRotateNeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, _ := busy(t, path, Options{})
	done, err := s.Rotate(t.Context(), RotateOptions{})
	require.NoError(t, err)
	require.Zero(t, done, "a plain store has no keys")
	_, err = s.Encrypt(t.Context(), keys(t, "a"), nil)
	require.NoError(t, err)
	s, err = Open(path, Options{Keys: keys(t, "b", "a"), ReadOnly: true})
	require.NoError(t, err)
	_, err = s.Rotate(t.Context(), RotateOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
	require.NoError(t, s.Close())
}

// rotateEnv passes the store's path to the process that will be killed while it rotates keys.
const rotateEnv = "COMPACTORD_TEST_ROTATE_STORE"

// rotateChild rotates keys, with a line for each transaction.
func rotateChild(path string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	ring, err := ringOf("b", "a")
	fail(err)
	s, err := Open(path, Options{Keys: ring, rotated: 50_000})
	fail(err)
	_, err = s.Rotate(context.Background(), RotateOptions{Progress: func(done Rotated) {
		_, err := fmt.Fprintln(os.Stdout, done.Values)
		fail(err)
	}})
	fail(err)
	fail(s.Close())
}

// A process that rotates keys is killed again and again. Each time all can be read, nothing is sealed anew twice, and the
// last process finishes.
func TestRotateKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	require.NoError(t, s.Close())
	left := sealedWith(t, path)["a"]
	for round, ended := 0, false; !ended; round++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), rotateEnv+"="+path)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		for n := 0; lines.Scan(); n++ {
			if n == 1+round%3 {
				if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
					require.NoError(t, err)
				}
			}
		}
		_ = cmd.Wait()
		require.Empty(t, stderr.String())
		ended = cmd.ProcessState.Success()

		s, err := Open(path, Options{Keys: keys(t, "b", "a")})
		require.NoError(t, err)
		requireAll(t, s, want)
		require.NoError(t, s.Close())
		now := sealedWith(t, path)["a"]
		// One that is killed at its very end leaves nothing to the next one.
		require.True(t, now < left || left == 0, "each process comes further")
		require.True(t, !ended || now == 0)
		left = now
	}
	s, err := Open(path, Options{Keys: keys(t, "b")})
	require.NoError(t, err)
	requireAll(t, s, want)
	require.NoError(t, s.Close())
}
