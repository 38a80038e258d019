package boltstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// A value under another session's key has the right sum of its own, and is never served.
func TestValuesOfOtherSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	var refs []storage.Ref
	for _, id := range []string{"one", "two", "zzz"} {
		d := storagetest.NewSession("", id, "u").Text("of " + id).Prune(0).Remember("request")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		refs = append(refs, storage.RefOf(d.Session))
	}
	reads := map[string]func(ref storage.Ref) error{
		string(sessionsBucket): func(ref storage.Ref) error {
			_, err := s.Session(t.Context(), "", ref.SessionID)
			return err
		},
		string(messagesBucket): func(ref storage.Ref) error {
			_, err := s.Messages(t.Context(), ref, 0, 1, 0)
			return err
		},
		string(recordsBucket): func(ref storage.Ref) error {
			_, err := s.Records(t.Context(), ref, 0, 9, 0)
			return err
		},
		string(editsBucket): func(ref storage.Ref) error {
			_, err := s.Edits(t.Context(), ref, 0, 9)
			return err
		},
		string(requestsBucket): func(ref storage.Ref) error {
			_, err := s.Request(t.Context(), ref, "request")
			return err
		},
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			var key, mine []byte
			exchange := func(tx *bbolt.Tx) error {
				bucket, cursor := tx.Bucket([]byte(name)), tx.Bucket([]byte(name)).Cursor()
				key, mine = cursor.First()
				key, mine = bytes.Clone(key), bytes.Clone(mine)
				last, other := cursor.Last()
				require.Equal(t, len(key), len(last))
				return bucket.Put(key, bytes.Clone(other))
			}
			require.NoError(t, read(refs[0]))
			require.NoError(t, s.db.Update(exchange))
			var damaged *storage.DamagedError
			require.ErrorAs(t, read(refs[0]), &damaged)
			require.Equal(t, "one", damaged.SessionID)
			require.ErrorContains(t, damaged, "does not belong to its key")
			require.NoError(t, read(refs[2]), "other sessions go on")
			require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(name)).Put(key, mine) }))
			require.NoError(t, read(refs[0]))
		})
	}
	require.NoError(t, s.Close())
}

// openDamagePlaces is the number of places that are damaged while a store is open.
const openDamagePlaces = 800

// Damage that appears in the file of a store that is open, of which all was read before, is said as that of a closed one
// is: no wrong answer, no panic, and the other sessions go on.
func TestDamageWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	sound = sound[:needed(t, path)]
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	read := func(what string) (hurt int) {
		for id, content := range want {
			var requests []string
			for request := range content.requests {
				requests = append(requests, request)
			}
			if !requireSoundOrSaid(t, what, id, readContent(t, s, id, requests), content) {
				hurt++
			}
		}
		return hurt
	}
	require.Zero(t, read("sound"))
	places := openDamagePlaces
	if testing.Short() {
		places = 150
		t.Logf("%d places of %d: -short", places, openDamagePlaces)
	}
	harmed, whole := 0, 0
	for seed := range places {
		r := rand.New(rand.NewPCG(uint64(seed), 19))
		b := slices.Clone(sound)
		what := fmt.Sprintf("seed %d: %s", seed, damage(r, b, os.Getpagesize()))
		_, err := file.WriteAt(b, 0)
		require.NoError(t, err, what)
		hurt := read(what)
		if hurt > 0 {
			harmed++
		}
		if hurt == len(want) {
			whole++
		}
		_, err = file.WriteAt(sound, 0)
		require.NoError(t, err, what)
		require.Zero(t, read(what+", mended"))
	}
	t.Logf("%d places: %d harmed sessions, %d of them all", places, harmed, whole)
	require.Greater(t, harmed, places/10)
	require.Less(t, whole, harmed/2, "most damage is one session's")
	require.NoError(t, s.Close())
	require.NoError(t, file.Close())
}

// What is before a damaged value can be read, up to the value itself.
func TestReadsUpToDamage(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "one", "u")
	for range 4 {
		d.Text(strings.Repeat("large ", 20000)).Prune(0)
	}
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	ref := storage.RefOf(d.Session)
	sequences := []uint32{d.Records[1].GetRecord().GetSequence(), d.Records[2].GetRecord().GetSequence()}
	spoil := func(bucket, key []byte) {
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			value := bytes.Clone(tx.Bucket(bucket).Get(key))
			value[len(value)-1] ^= 1
			return tx.Bucket(bucket).Put(key, value)
		}))
	}
	spoil(recordsBucket, numberKey(first, sequences[1]))
	records, err := s.Records(t.Context(), ref, sequences[0], 1<<31, 1)
	require.NoError(t, err)
	require.Len(t, records, 1)
	_, err = s.Records(t.Context(), ref, sequences[0], 1<<31, 2)
	require.ErrorIs(t, err, storage.ErrCorrupt)

	for _, bucket := range [][]byte{blobsBucket, messagesBucket} {
		var keys [][]byte
		require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).ForEach(func(key, _ []byte) error {
				keys = append(keys, bytes.Clone(key))
				return nil
			})
		}))
		// The first key of the third message.
		spoil(bucket, keys[len(keys)/2])
		messages, err := s.Messages(t.Context(), ref, 0, 2, 0)
		require.NoError(t, err, "%s", bucket)
		require.Len(t, messages, 2)
		_, err = s.Messages(t.Context(), ref, 0, 3, 0)
		require.ErrorIs(t, err, storage.ErrCorrupt)
	}
	require.NoError(t, s.Close())
}

// A session with a damaged value can be deleted: what its values hold does not matter any more.
func TestDamagedSessionCanBeDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	for _, id := range []string{"one", "two"} {
		d := storagetest.NewSession("", id, "uid-"+id).Text("text of " + id)
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.NoError(t, s.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Positive(t, bytes.Count(data, []byte("text of one")))
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(data, []byte("text of one"), []byte("TEXT of one")), 0o600))

	s, err = Open(path, Options{})
	require.NoError(t, err)
	_, err = s.Messages(t.Context(), storage.Ref{SessionID: "one", UID: "uid-one"}, 0, 1, 0)
	require.ErrorIs(t, err, storage.ErrCorrupt)
	require.NoError(t, s.DeleteSession(t.Context(), "", "one"))
	messages, err := s.Messages(t.Context(), storage.Ref{SessionID: "two", UID: "uid-two"}, 0, 1, 0)
	require.NoError(t, err)
	require.Len(t, messages, 1)
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// A deletion takes no value that stands under a key of the session and belongs to another one.
func TestDeletionLeavesValuesOfOthers(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	require.NoError(t, err)
	for _, id := range []string{"one", "two"} {
		d := storagetest.NewSession("", id, "uid-"+id).Text("text of " + id)
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		messages := tx.Bucket(messagesBucket)
		return messages.Put(numberKey(first, 0), bytes.Clone(messages.Get(numberKey(first+1, 0))))
	}))
	require.ErrorIs(t, s.DeleteSession(t.Context(), "", "one"), storage.ErrCorrupt)
	_, err = s.Session(t.Context(), "", "one")
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
