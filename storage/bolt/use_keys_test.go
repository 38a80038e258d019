package boltstore

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/storagetest"
)

// Another key seals while the store is read and written, also in the midst of a rotation to the key before. Nobody is refused,
// and in the end the newest key opens all.
func TestUseKeysWhileOthersReadAndWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "k0")})
	require.NoError(t, s.Close())
	s, err := Open(path, Options{Keys: keys(t, "k0"), rotated: 50_000})
	require.NoError(t, err)
	stop := make(chan struct{})
	var others sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(stop)
		others.Wait()
	})
	defer end()
	written := make([]int, 3)
	for n := range written {
		others.Go(func() {
			d := storagetest.NewSession("", fmt.Sprint("meanwhile-", n), fmt.Sprint("uid-", n))
			if err := s.CreateSession(t.Context(), &d.Commit); err != nil {
				t.Error(err)
				return
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
				d = storagetest.Next(d.Session).Text(fmt.Sprint("message ", written[n]))
				if err := s.Commit(t.Context(), &d.Commit); err != nil {
					t.Error(err)
					return
				}
				written[n]++
				messages, err := s.Messages(t.Context(), storage.RefOf(d.Session), 0, d.Session.GetHead().GetNextIndex(), 0)
				if err != nil || len(messages) != written[n] {
					t.Errorf("%d of %d messages: %v", len(messages), written[n], err)
					return
				}
			}
		})
	}
	ring := []string{"k0"}
	for round := 1; round <= 4; round++ {
		ring = append([]string{fmt.Sprint("k", round)}, ring...)
		require.NoError(t, s.UseKeys(t.Context(), keys(t, ring...)))
		require.Equal(t, 1, s.Statistics().OlderKeys)
		requireAll(t, s, want)
		turned := false
		done, err := s.Rotate(t.Context(), RotateOptions{Progress: func(now Rotated) {
			require.Equal(t, now.Read, s.Statistics().RotationRead)
			if round%2 == 1 && !turned {
				// To a still newer one in the midst.
				turned = true
				round++
				ring = append([]string{fmt.Sprint("k", round)}, ring...)
				require.NoError(t, s.UseKeys(t.Context(), keys(t, ring...)))
			}
		}})
		require.NoError(t, err)
		require.True(t, turned)
		slices.Sort(done.Done)
		require.Equal(t, []string{fmt.Sprint("k", round-2), fmt.Sprint("k", round-1)}, done.Done)
		require.Zero(t, s.Statistics().OlderKeys)
		require.Zero(t, s.Statistics().RotationRead)
		// Its older keys are taken out.
		ring = ring[:1]
		require.NoError(t, s.UseKeys(t.Context(), keys(t, ring...)))
	}
	end()
	requireAll(t, s, want)
	require.NoError(t, s.Close())
	sealed := sealedWith(t, path)
	require.Len(t, sealed, 1)
	require.Positive(t, sealed["k4"])

	s, err = Open(path, Options{Keys: keys(t, "k4")})
	require.NoError(t, err)
	requireAll(t, s, want)
	for n, count := range written {
		require.Positive(t, count)
		row, err := s.Session(t.Context(), "", fmt.Sprint("meanwhile-", n))
		require.NoError(t, err)
		require.Equal(t, uint32(count), row.GetHead().GetNextIndex())
	}
	require.NoError(t, s.Close())
}

// Keys without one that the store needs change nothing, and the error names it.
func TestUseKeysWithoutOneThatIsNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	for _, c := range []struct {
		keys *keyring.Ring
		want KeyError
	}{
		{nil, KeyError{ID: "a", None: true}},
		{keys(t, "b"), KeyError{ID: "a"}},
		{keys(t, "b", "a!"), KeyError{ID: "a", Given: true}},
	} {
		err := s.UseKeys(t.Context(), c.keys)
		var missing *KeyError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, c.want, *missing)
		older, err := s.OlderKeys(t.Context())
		require.NoError(t, err)
		require.Empty(t, older)
	}
	d := storagetest.NewSession("", "after", "uid-after").Text("x")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.Close())
	require.Len(t, sealedWith(t, path), 1)
	s, err := Open(path, Options{Keys: keys(t, "a")})
	require.NoError(t, err)
	requireAll(t, s, want)
	require.NoError(t, s.Close())

	plain := openNew(t, Options{})
	require.ErrorIs(t, plain.UseKeys(t.Context(), keys(t, "a")), ErrPlain)
	require.NoError(t, plain.UseKeys(t.Context(), nil))
}

// An older key that seals again is needed, although a rotation to the newer one has come far.
func TestUseKeysThereAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	require.NoError(t, s.Close())
	s, err := Open(path, Options{Keys: keys(t, "b", "a"), rotated: 50_000})
	require.NoError(t, err)
	steps := 0
	done, err := s.Rotate(t.Context(), RotateOptions{Progress: func(Rotated) {
		if steps++; steps == 2 {
			require.NoError(t, s.UseKeys(t.Context(), keys(t, "a", "b")))
			d := storagetest.NewSession("", "last", "uid-last").Text("by the older key, behind the place")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			require.NoError(t, s.UseKeys(t.Context(), keys(t, "b", "a")))
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, done.Done)
	requireAll(t, s, want)
	require.NoError(t, s.Close())
	require.Zero(t, sealedWith(t, path)["a"])
}

// A rotation that is refused room ends with that error, and goes on later from where it was.
func TestRotateAsksForRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, want := busy(t, path, Options{Keys: keys(t, "a")})
	require.NoError(t, s.Close())
	all := sealedWith(t, path)["a"]
	s, err := Open(path, Options{Keys: keys(t, "b", "a"), rotated: 50_000})
	require.NoError(t, err)
	asked, running := 0, 0
	admit := func(n int) func(int) (func(), error) {
		return func(size int) (func(), error) {
			if size == 0 || running > 0 {
				t.Errorf("%d bytes, beside %d transactions", size, running)
			}
			if asked++; asked > n {
				return nil, &storage.DiskError{Cause: storage.DiskLow, Err: errStop}
			}
			running++
			return func() { running-- }, nil
		}
	}
	part, err := s.Rotate(t.Context(), RotateOptions{Admit: admit(2)})
	require.ErrorIs(t, err, storage.ErrFull)
	require.Zero(t, running)
	require.Positive(t, part.Values)
	require.Equal(t, 1, s.Statistics().OlderKeys)
	require.NoError(t, s.outages.current().Err, "the store itself takes writes")
	asked = 0
	done, err := s.Rotate(t.Context(), RotateOptions{Admit: admit(1000)})
	require.NoError(t, err)
	require.Zero(t, running)
	require.Equal(t, int64(all), part.Values+done.Values)
	requireAll(t, s, want)
	require.NoError(t, s.Close())
}
