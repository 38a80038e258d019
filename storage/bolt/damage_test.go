package boltstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// damagePlaces is the number of places that are damaged, one in each copy of a store.
const damagePlaces = 600

// content is all that a session's methods return.
type content struct {
	row         *storagev1.Session
	messages    []*compactordv1.LoggedMessage
	records     []*storagev1.StoredRecord
	compactions []*storagev1.StoredRecord
	edits       []storage.IndexedEdits
	requests    map[string]*storagev1.StoredRequest
}

// busyStore writes a store that was used for a while: sessions of different sizes, large values, deletions.
func busyStore(t *testing.T, path string) map[string]*content {
	t.Helper()
	s, all := busy(t, path, Options{})
	require.NoError(t, s.Close())
	return all
}

// busy returns the store open.
func busy(t *testing.T, path string, options Options) (*Store, map[string]*content) {
	t.Helper()
	s, err := Open(path, options)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(5, 6))
	rows := map[string]*storagev1.Session{}
	requests := map[string][]string{}
	for round := range 25 {
		for n := range 8 {
			id := fmt.Sprintf("session-%d", n)
			var d *storagetest.Draft
			if rows[id] == nil {
				d = storagetest.NewSession("", id, "uid-"+id).Labels("k", fmt.Sprint(n%2))
			} else {
				d = storagetest.Next(rows[id])
			}
			request := fmt.Sprintf("%s-%d", id, round)
			d.Text(strings.Repeat(request+" ", 1+r.IntN(400))).Texts(r.IntN(5)).ChangedAt(round).Remember(request)
			switch {
			case r.IntN(4) == 0:
				d.Prune(0, d.Session.GetHead().GetNextIndex()-1)
			case r.IntN(6) == 0:
				d.Compaction(d.Session.GetHead().GetNextIndex()/2, strings.Repeat("summary ", r.IntN(500)))
			case r.IntN(12) == 0:
				d.Text(strings.Repeat("large ", 12000+r.IntN(20000)))
			}
			if rows[id] == nil {
				require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			} else {
				require.NoError(t, s.Commit(t.Context(), &d.Commit))
			}
			rows[id], requests[id] = d.Session, append(requests[id], request)
		}
		gone := storagetest.NewSession("", "gone", fmt.Sprint(round)).Texts(40)
		require.NoError(t, s.CreateSession(t.Context(), &gone.Commit))
		require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	}
	all := map[string]*content{}
	for id := range rows {
		read := readContent(t, s, id, requests[id])
		require.Empty(t, read.errs)
		all[id] = &read.content
	}
	return s, all
}

// reading is what could be read of a session; errs are the errors by method.
type reading struct {
	content
	errs map[string]error
}

func readContent(t *testing.T, s *Store, id string, requests []string) reading {
	t.Helper()
	read := reading{errs: map[string]error{}}
	note := func(method string, err error) {
		if err != nil {
			read.errs[method] = err
		}
	}
	var err error
	read.row, err = s.Session(t.Context(), "", id)
	note("session", err)
	ref := storage.Ref{SessionID: id, UID: "uid-" + id}
	read.messages, err = s.Messages(t.Context(), ref, 0, 1<<32-1, 0)
	note("messages", err)
	read.records, err = s.Records(t.Context(), ref, 0, 1<<32-1, 0)
	note("records", err)
	read.compactions, err = s.Compactions(t.Context(), ref, 0, 0)
	note("compactions", err)
	read.edits, err = s.Edits(t.Context(), ref, 0, 1<<32-1)
	note("edits", err)
	read.requests = map[string]*storagev1.StoredRequest{}
	for _, request := range requests {
		stored, err := s.Request(t.Context(), ref, request)
		note("request "+request, err)
		if err == nil {
			read.requests[request] = stored
		}
	}
	return read
}

// damage changes a copy of a store's file somewhere, and says what it did.
func damage(r *rand.Rand, b []byte, pageSize int) string {
	count := len(b) / pageSize
	at := r.IntN(count)
	page := b[at*pageSize : (at+1)*pageSize]
	switch r.IntN(10) {
	case 0:
		clear(page)
		return fmt.Sprintf("page %d of zeros", at)
	case 1:
		for i := range page {
			page[i] = byte(r.Uint32())
		}
		return fmt.Sprintf("page %d of noise", at)
	case 2:
		from := r.IntN(count)
		copy(page, b[from*pageSize:(from+1)*pageSize])
		return fmt.Sprintf("page %d has the content of page %d", at, from)
	case 3, 4, 5:
		// Where pages say what they hold.
		i, bit := r.IntN(160), r.IntN(8)
		page[i] ^= 1 << bit
		return fmt.Sprintf("page %d, byte %d, bit %d", at, i, bit)
	default:
		i, bit := r.IntN(pageSize), r.IntN(8)
		page[i] ^= 1 << bit
		return fmt.Sprintf("page %d, byte %d, bit %d", at, i, bit)
	}
}

// Whatever is damaged, each answer is the one before or an error that says so, no other session is touched, nothing
// panics, and the check finds all that is not served.
func TestDamagedStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	places := damagePlaces
	if testing.Short() {
		places = 80
		t.Logf("%d places of %d: -short", places, damagePlaces)
	}
	refused, harmed, sessions := 0, 0, 0
	for seed := range places {
		r := rand.New(rand.NewPCG(uint64(seed), 18))
		b := append([]byte(nil), sound[:needed(t, path)]...)
		what := fmt.Sprintf("seed %d: %s", seed, damage(r, b, os.Getpagesize()))
		damaged := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(damaged, b, 0o600))
		hurt, opened := examineDamaged(t, what, damaged, want)
		if !opened || !appendToDamaged(t, what, damaged, want, hurt) {
			refused++
		}
		if len(hurt) > 0 {
			harmed++
			sessions += len(hurt)
		}
		require.NoError(t, os.Remove(damaged))
	}
	t.Logf("%d places: %d harmed sessions, %d in all, and %d stores were refused", places, harmed, sessions, refused)
	require.Less(t, refused, places/5, "nearly all damage leaves a store that can be used")
	require.Greater(t, harmed, places/10)
}

// examineDamaged reads a damaged store, and returns the sessions of which something could not be read.
func examineDamaged(t *testing.T, what, path string, want map[string]*content) (hurt map[string]bool, opened bool) {
	t.Helper()
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		require.ErrorIs(t, err, storage.ErrCorrupt, what)
		return nil, false
	}
	hurt = map[string]bool{}
	for id, sound := range want {
		var requests []string
		for request := range sound.requests {
			requests = append(requests, request)
		}
		if !requireSoundOrSaid(t, what, id, readContent(t, s, id, requests), sound) {
			hurt[id] = true
		}
	}
	listed := requireListed(t, what, s, want)
	found, err := s.CheckStructure(t.Context())
	require.NoError(t, err, what)
	if len(hurt) > 0 || !listed {
		require.NotEmpty(t, found, what)
	}
	require.NoError(t, s.Close(), what)
	return hurt, true
}

// appendToDamaged appends to all sessions of a damaged store. Those that could be read get what is appended, or an error
// that says what is damaged, and keep what they had. It returns false for a store that is refused.
func appendToDamaged(
	t *testing.T, what, path string, want map[string]*content, hurt map[string]bool,
) bool {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		require.ErrorIs(t, err, storage.ErrCorrupt, what)
		t.Logf("%s: refused: %v", what, err)
		return false
	}
	appended := map[string]bool{}
	for range 3 {
		for id, sound := range want {
			row := sound.row
			if appended[id] {
				if row, err = s.Session(t.Context(), "", id); err != nil {
					require.ErrorIs(t, err, storage.ErrCorrupt, what)
					continue
				}
			}
			d := storagetest.Next(row).Text("more").Prune(0).Remember(fmt.Sprint("more", row.GetRevision()))
			if err := s.Commit(t.Context(), &d.Commit); err != nil {
				require.ErrorIs(t, err, storage.ErrCorrupt, what)
				continue
			}
			appended[id] = true
		}
	}
	for id, sound := range want {
		got, err := s.Messages(t.Context(), storage.RefOf(sound.row), 0, sound.row.GetHead().GetNextIndex(), 0)
		if err != nil {
			require.ErrorIs(t, err, storage.ErrCorrupt, what)
			require.True(t, hurt[id], "%s: an append damaged %s", what, id)
			continue
		}
		require.True(t, sameAll(got, sound.messages), what)
	}
	require.NoError(t, s.Close(), what)
	s, err = Open(path, Options{})
	require.NoError(t, err, what)
	require.NoError(t, s.Close(), what)
	return true
}

// requireSoundOrSaid reports whether all of a session could be read.
func requireSoundOrSaid(t *testing.T, what, id string, got reading, want *content) bool {
	t.Helper()
	for method, err := range got.errs {
		var named *storage.DamagedError
		require.ErrorAs(t, err, &named, "%s: %s of %s", what, method, id)
		require.Equal(t, id, named.SessionID, what)
		require.ErrorIs(t, err, storage.ErrCorrupt, what)
	}
	sound := func(method string, same func() bool) {
		if got.errs[method] == nil {
			require.True(t, same(), "%s: %s of %s was served damaged", what, method, id)
		}
	}
	sound("session", func() bool { return proto.Equal(got.row, want.row) })
	sound("messages", func() bool { return sameAll(got.messages, want.messages) })
	sound("records", func() bool { return sameAll(got.records, want.records) })
	sound("compactions", func() bool { return sameAll(got.compactions, want.compactions) })
	sound("edits", func() bool { return sameEdits(got.edits, want.edits) })
	for request, stored := range got.requests {
		require.True(t, proto.Equal(stored, want.requests[request]), what)
	}
	return len(got.errs) == 0
}

func sameAll[M proto.Message](a, b []M) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !proto.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameEdits(a, b []storage.IndexedEdits) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Index != b[i].Index || a[i].Sequence != b[i].Sequence || !sameAll(a[i].Edits, b[i].Edits) {
			return false
		}
	}
	return true
}

// requireListed reports whether a listing has all sessions; those that it lacks are named, or the listing fails.
func requireListed(t *testing.T, what string, s *Store, want map[string]*content) bool {
	t.Helper()
	missing := map[string]bool{}
	rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{
		Limit: 1000, Damaged: func(d *storage.DamagedError) { missing[d.SessionID] = true },
	})
	if err != nil {
		require.ErrorIs(t, err, storage.ErrCorrupt, what)
		t.Logf("%s: refused: %v", what, err)
		return false
	}
	for _, row := range rows {
		require.True(t, proto.Equal(row, want[row.GetSessionId()].row), what)
	}
	require.Equal(t, len(want), len(rows)+len(missing), what)
	return len(missing) == 0
}

// A store of version 1 is read as it is, and gets its sums when it is opened for writing, also where that is
// interrupted.
func TestVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	unseal1(t, path)
	requireContent := func(o Options, sealed bool) {
		s, err := Open(path, o)
		require.NoError(t, err)
		require.Equal(t, sealed, s.has.sums)
		for id, sound := range want {
			require.True(t, requireSoundOrSaid(t, "", id, readContent(t, s, id, nil), sound))
		}
		problems, err := s.CheckStructure(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, s.Close())
	}
	requireContent(Options{ReadOnly: true}, false)

	for done := false; !done; {
		meta(t, path, func(tx *bbolt.Tx) (err error) {
			done, err = sealSome(tx, 300_000)
			return err
		})
		if !done {
			_, err := Open(path, Options{ReadOnly: true})
			require.ErrorIs(t, err, errHalfSealed)
		}
	}
	requireContent(Options{}, true)

	unseal1(t, path)
	requireContent(Options{}, true)
	requireContent(Options{ReadOnly: true}, true)
}

// unseal1 makes a store one of version 1.
func unseal1(t *testing.T, path string) {
	t.Helper()
	meta(t, path, func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			var keys, values [][]byte
			err := tx.Bucket(name).ForEach(func(key, value []byte) error {
				if sealedKey(name, key) {
					keys = append(keys, append([]byte(nil), key...))
					values = append(values, append([]byte(nil), value[sealSize:]...))
				}
				return nil
			})
			if err != nil {
				return err
			}
			for i, key := range keys {
				if err := tx.Bucket(name).Put(key, values[i]); err != nil {
					return err
				}
			}
		}
		return tx.Bucket(metaBucket).Put(versionKey, []byte{0, 0, 0, 1})
	})
}

// Of a file that has been cut short, all that is left can be read, where it is asked for; the rest is said to be damaged.
func TestFilesCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	sound = sound[:needed(t, path)]
	opened, part := 0, 0
	for length := len(sound) - 1; length > 0; length -= 21 * os.Getpagesize() {
		what := fmt.Sprintf("%d bytes of %d", length, len(sound))
		require.NoError(t, os.WriteFile(path, sound[:length], 0o600))
		for _, options := range []Options{{}, {ReadOnly: true}, {Damaged: true}} {
			_, err := Open(path, options)
			require.ErrorIs(t, err, storage.ErrCorrupt, what)
			require.ErrorContains(t, err, "it is incomplete", what)
		}
		s, err := Open(path, Options{ReadOnly: true, Damaged: true})
		if err != nil {
			require.ErrorIs(t, err, storage.ErrCorrupt, what)
			continue
		}
		opened++
		whole := 0
		for id, content := range want {
			var requests []string
			for request := range content.requests {
				requests = append(requests, request)
			}
			if requireSoundOrSaid(t, what, id, readContent(t, s, id, requests), content) {
				whole++
			}
		}
		if whole < len(want) {
			part++
		}
		problems, err := s.CheckStructure(t.Context())
		require.NoError(t, err, what)
		require.NotEmpty(t, problems, what)
		names, damage, err := s.Names(t.Context())
		require.NoError(t, err, what)
		require.NotEmpty(t, damage, what)
		require.Contains(t, damage[0], "the file is cut short", what)
		require.GreaterOrEqual(t, len(names), whole, what)
		require.NoError(t, s.outages.current().Err, "%s: what is behind the end was not read", what)
		require.NoError(t, s.Close(), what)
	}
	// Of one of these lengths bbolt itself says what is wrong with it, in others a page does.
	for _, length := range []int{1, 100, os.Getpagesize(), os.Getpagesize() + 1, 2 * os.Getpagesize()} {
		require.NoError(t, os.WriteFile(path, sound[:length], 0o600))
		_, err := Open(path, Options{ReadOnly: true, Damaged: true})
		require.ErrorIs(t, err, storage.ErrCorrupt, "%d bytes", length)
		if length >= os.Getpagesize() {
			require.ErrorContains(t, err, fmt.Sprintf("it is incomplete: %d bytes of %d", length, len(sound)))
		}
	}
	t.Logf("%d lengths could be opened, with a part of the sessions in %d", opened, part)
	require.Positive(t, opened)
}

// A file without a whole header is refused with what is wrong and what to do.
func TestFileWithoutHeaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	made(t, path)
	for header := range int64(2) {
		flip(t, path, header*int64(os.Getpagesize())+20, 3)
	}
	for _, options := range []Options{{}, {ReadOnly: true}, {ReadOnly: true, Damaged: true}} {
		_, err := Open(path, options)
		require.ErrorIs(t, err, storage.ErrCorrupt)
		require.ErrorContains(t, err, "both headers of the file are damaged")
		require.ErrorContains(t, err, "restore it from a backup")
	}
}
