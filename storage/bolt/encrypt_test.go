package boltstore

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/storagetest"
)

// keys returns a ring of keys with these ids. A key follows from its id, and one with ! behind it is another one.
func keys(tb testing.TB, ids ...string) *keyring.Ring {
	tb.Helper()
	ring, err := ringOf(ids...)
	require.NoError(tb, err)
	return ring
}

func ringOf(ids ...string) (*keyring.Ring, error) {
	var text strings.Builder
	for _, id := range ids {
		secret := bytes.Repeat([]byte(id+"-"), 32)[:32]
		text.WriteString(strings.TrimSuffix(id, "!") + ":" + base64.StdEncoding.EncodeToString(secret) + "\n")
	}
	return keyring.Parse([]byte(text.String()))
}

// A store whose values are encrypted does all that a plain one does.
func TestConformanceEncrypted(t *testing.T) {
	options := Options{Keys: keys(t, "k")}
	storagetest.Run(t, storagetest.Backend{
		Open: func(t *testing.T) storage.Store {
			t.Helper()
			return openNew(t, options)
		},
		Reopen: func(t *testing.T, s storage.Store) storage.Store {
			t.Helper()
			path := fileOf(t, s)
			require.NoError(t, s.Close())
			return openAt(t, path, options)
		},
	})
}

// planted is in each field that a client or a model fills.
const planted = "PLANTED-TEXT"

// plant fills each string and each list of bytes of a message, at all depths, with the planted text. Of each oneof it takes
// the field of this number, counted around. It reports whether there is a field with a higher number.
func plant(m protoreflect.Message, choice, depth int) (more bool) {
	if m.Descriptor().FullName() == (&timestamppb.Timestamp{}).ProtoReflect().Descriptor().FullName() || depth == 0 {
		return false
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if oneof := field.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
			n := oneof.Fields().Len()
			more = more || choice+1 < n
			if oneof.Fields().Get(choice%n) != field {
				continue
			}
		}
		switch {
		case field.IsMap():
			if field.MapValue().Kind() == protoreflect.StringKind {
				m.Mutable(field).Map().Set(protoreflect.ValueOfString(planted).MapKey(), protoreflect.ValueOfString(planted))
			}
		case field.IsList() && field.Message() != nil:
			more = plant(m.Mutable(field).List().AppendMutable().Message(), choice, depth-1) || more
		case field.IsList():
			if value := plantedValue(field); value.IsValid() {
				m.Mutable(field).List().Append(value)
			}
		case field.Message() != nil:
			more = plant(m.Mutable(field).Message(), choice, depth-1) || more
		default:
			if value := plantedValue(field); value.IsValid() {
				m.Set(field, value)
			}
		}
	}
	return more
}

func plantedValue(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(planted)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(planted))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	default:
		return protoreflect.Value{}
	}
}

// plantAll writes sessions in which each field of each kind of message, record, row and request has the planted text.
// Records and parts that are added later are among them.
func plantAll(t *testing.T, s *Store) (kinds map[string]bool) {
	t.Helper()
	kinds = map[string]bool{}
	d := storagetest.NewSession("", "s", "u").Text("first")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	const depth = 7
	for choice, more := 0, true; more; choice++ {
		row := &storagev1.Session{}
		plant(row.ProtoReflect(), choice, depth)
		d = storagetest.Next(d.Session)
		was := d.Session
		// What keys hold is readable, and so not planted; the rest has a meaning to the store.
		row.Tenant, row.SessionId, row.Uid, row.Labels, row.Parent = was.GetTenant(), was.GetSessionId(), was.GetUid(), nil, was.GetParent()
		row.CreatedAt, row.ChangedAt, row.Revision = was.GetCreatedAt(), was.GetChangedAt(), was.GetRevision()
		row.Head.NextIndex, row.Head.NextSequence = was.GetHead().GetNextIndex(), was.GetHead().GetNextSequence()
		d.Session = row
		record, message := &compactordv1.Record{}, &compactordv1.Message{}
		more = plant(record.ProtoReflect(), choice, depth)
		more = plant(message.ProtoReflect(), choice, depth) || more
		d.Message(message).Record(record)
		// A value that is too large for its bucket, too.
		d.Text(strings.Repeat(planted+" ", 10_000)).Remember("request")
		plant(d.Request.Stored.ProtoReflect(), choice, depth)
		d.Request.ID, d.Request.Stored.Schema = "request-"+strings.Repeat("i", choice+1), 1
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
		kinds[string(record.ProtoReflect().WhichOneof(record.ProtoReflect().Descriptor().Oneofs().ByName("kind")).Name())] = true
	}
	return kinds
}

// Of an encrypted store, whatever its records are, the file has nothing in plain that clients and models said; of a plain
// one it has. A bucket that is added later is encrypted, too.
func TestNothingSaidIsInTheFileOfAnEncryptedStore(t *testing.T) {
	folder := t.TempDir()
	for name, ring := range map[string]*keyring.Ring{"plain": nil, "encrypted": keys(t, "k")} {
		path := filepath.Join(folder, name)
		s, err := Open(path, Options{Keys: ring})
		require.NoError(t, err)
		written := plantAll(t, s)
		all := (&compactordv1.Record{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
		require.Len(t, written, all.Len(), "a kind of record is not in this test")
		require.NoError(t, s.Close())
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, ring == nil, bytes.Contains(file, []byte(planted)), name)
		require.True(t, bytes.Contains(file, []byte("request-i")), "ids are readable, as the docs say")

		readable := []string{"meta", "by_time", "by_label", "dead"}
		meta(t, path, func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(key, value []byte) error {
					if slices.Contains(readable, string(name)) {
						return nil
					}
					_, err := checkEncrypted(name, key, value)
					require.Equal(t, ring != nil, err == nil, "bucket %s", name)
					return nil
				})
			})
		})
	}
}

// A store is only opened with all the keys that it names, and is not changed before.
func TestKeysOfAnEncryptedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{Keys: keys(t, "old")})
	require.NoError(t, err)
	require.True(t, s.Encrypted())
	require.Equal(t, uint32(3), s.Version())
	d := storagetest.NewSession("", "s", "u").Texts(3)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for what, c := range map[string]struct {
		keys *keyring.Ring
		want KeyError
		says string
	}{
		"none":    {nil, KeyError{ID: "old", None: true}, `it is encrypted with the key "old", and no keys are given`},
		"missing": {keys(t, "new"), KeyError{ID: "old"}, `it is encrypted with the key "old", which is not among those given`},
		"wrong":   {keys(t, "new", "old!"), KeyError{ID: "old", Given: true}, `the key "old", and the key given with this id is another one`},
	} {
		for _, readOnly := range []bool{false, true} {
			_, err := Open(path, Options{Keys: c.keys, ReadOnly: readOnly, Damaged: readOnly})
			var missing *KeyError
			require.ErrorAs(t, err, &missing, what)
			require.Equal(t, c.want, *missing)
			require.ErrorContains(t, err, c.says)
			require.NotErrorIs(t, err, storage.ErrCorrupt)
		}
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "what is refused is not changed")

	// From the first opening with a new key on, both are needed.
	s, err = Open(path, Options{Keys: keys(t, "new", "old")})
	require.NoError(t, err)
	older, err := s.OlderKeys(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, older)
	require.NoError(t, s.Close())
	for _, one := range []string{"old", "new"} {
		_, err = Open(path, Options{Keys: keys(t, one)})
		var missing *KeyError
		require.ErrorAs(t, err, &missing)
	}
}

// A plain store is not written with keys, so that it never becomes an encrypted one by half. Reading it harms nothing.
func TestKeysForAPlainStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	for version := uint32(2); version > 0; version-- {
		if version == 1 {
			unseal1(t, path)
		}
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = Open(path, Options{Keys: keys(t, "k")})
		require.ErrorIs(t, err, ErrPlain)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after))
		s, err := Open(path, Options{Keys: keys(t, "k"), ReadOnly: true})
		require.NoError(t, err)
		require.False(t, s.Encrypted())
		require.Equal(t, version, s.Version())
		requireAll(t, s, want)
		require.NoError(t, s.Close())
	}
}

// requireAll requires that a store holds these sessions.
func requireAll(t *testing.T, s *Store, want map[string]*content) {
	t.Helper()
	for id, sound := range want {
		var requests []string
		for request := range sound.requests {
			requests = append(requests, request)
		}
		got := readContent(t, s, id, requests)
		require.Empty(t, got.errs)
		require.True(t, requireSoundOrSaid(t, "", id, got, sound))
		require.Len(t, got.requests, len(sound.requests))
	}
	problems, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
}

// A store is encrypted, gets another key, and becomes plain again by copies that take its place. Nothing of what it was is
// left in the file. A copy of an encrypted one is encrypted.
func TestEncrypt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	said := []byte("session-3-7 session-3-7")
	for n, step := range []struct{ now, next *keyring.Ring }{
		{nil, keys(t, "a")}, {keys(t, "a"), keys(t, "b")}, {keys(t, "b"), nil},
	} {
		s, err := Open(path, Options{ReadOnly: true, Keys: step.now})
		require.NoError(t, err)
		to := path + ".copy"
		_, err = s.Copy(t.Context(), to, nil)
		require.NoError(t, err)
		other, err := Open(to, Options{ReadOnly: true, Keys: step.now})
		require.NoError(t, err)
		require.Equal(t, step.now != nil, other.Encrypted())
		requireAll(t, other, want)
		require.NoError(t, other.Close())
		require.NoError(t, os.Remove(to))

		_, err = s.Encrypt(t.Context(), step.next, nil)
		require.NoError(t, err)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, step.next == nil, bytes.Contains(file, said), n)
		s, err = Open(path, Options{Keys: step.next})
		require.NoError(t, err)
		require.Equal(t, step.next != nil, s.Encrypted())
		require.Equal(t, map[bool]uint32{true: 3, false: 2}[step.next != nil], s.Version())
		older, err := s.OlderKeys(t.Context())
		require.NoError(t, err)
		require.Empty(t, older)
		requireAll(t, s, want)
		require.NoError(t, s.Close())
	}
}

// Where the sums of a value are made to fit, only its authentication shows that it was changed.
func TestAlteredValuesOfAnEncryptedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	ring := keys(t, "k")
	s, err := Open(path, Options{Keys: ring})
	require.NoError(t, err)
	for _, id := range []string{"one", "two"} {
		d := storagetest.NewSession("", id, "uid-"+id).Text("text of " + id).Text(strings.Repeat("large ", 20_000))
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.NoError(t, s.Close())
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	one, two := numberKey(first, 0), numberKey(first+1, 0)
	large := blobKey(first, blobID{kind: messageBlob, id: 1}, 0)
	summed := func(bucket, key, stored []byte) []byte {
		stored = bytes.Clone(stored)
		binary.BigEndian.PutUint32(stored, ^keySum(bucket, key))
		binary.BigEndian.PutUint32(stored[4:], crc32.Checksum(stored[sealSize:], castagnoli))
		return stored
	}
	for name, c := range map[string]struct {
		bucket, key []byte
		change      func(b *bbolt.Bucket, stored []byte) []byte
		says        string
	}{
		"a bit": {messagesBucket, one, func(_ *bbolt.Bucket, stored []byte) []byte {
			stored[len(stored)-20] ^= 1
			return summed(messagesBucket, one, stored)
		}, "cannot be decrypted"},
		"a bit without its sum": {messagesBucket, one, func(_ *bbolt.Bucket, stored []byte) []byte {
			stored[len(stored)-20] ^= 1
			return stored
		}, "wrong checksum"},
		"another session's value": {messagesBucket, one, func(b *bbolt.Bucket, _ []byte) []byte {
			return summed(messagesBucket, one, b.Get(two))
		}, "cannot be decrypted"},
		"another session's value without its sum": {messagesBucket, one, func(b *bbolt.Bucket, _ []byte) []byte {
			return b.Get(two)
		}, "does not belong to its key"},
		"a shorter one": {messagesBucket, one, func(_ *bbolt.Bucket, stored []byte) []byte {
			return summed(messagesBucket, one, stored[:len(stored)-1])
		}, "cannot be decrypted"},
		"nothing behind the sums": {messagesBucket, one, func(_ *bbolt.Bucket, stored []byte) []byte {
			return summed(messagesBucket, one, stored[:sealSize])
		}, "cannot be decrypted"},
		"a plain one": {messagesBucket, one, func(_ *bbolt.Bucket, _ []byte) []byte {
			encoding, err := forms.Marshal.Marshal(&storagev1.StoredMessage{Schema: forms.Schema, Logged: &compactordv1.LoggedMessage{}})
			require.NoError(t, err)
			return seal(messagesBucket, one, append([]byte{inlineTag}, encoding...))
		}, "does not belong to its key"},
		"another key's id": {messagesBucket, one, func(_ *bbolt.Bucket, stored []byte) []byte {
			stored[sealSize+1] = 'z'
			return summed(messagesBucket, one, stored)
		}, `the key "z", which is not given`},
		"a chunk": {blobsBucket, large, func(b *bbolt.Bucket, _ []byte) []byte {
			return summed(blobsBucket, large, b.Get(blobKey(first+1, blobID{kind: messageBlob, id: 1}, 0)))
		}, "cannot be decrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, sound, 0o600))
			meta(t, path, func(tx *bbolt.Tx) error {
				b := tx.Bucket(c.bucket)
				return b.Put(c.key, bytes.Clone(c.change(b, bytes.Clone(b.Get(c.key)))))
			})
			s, err := Open(path, Options{ReadOnly: true, Keys: ring})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			_, err = s.Messages(t.Context(), storage.Ref{SessionID: "one", UID: "uid-one"}, 0, 2, 0)
			var damaged *storage.DamagedError
			require.ErrorAs(t, err, &damaged)
			require.Equal(t, "one", damaged.SessionID)
			require.ErrorIs(t, err, storage.ErrCorrupt)
			require.ErrorContains(t, err, c.says)
			_, err = s.Messages(t.Context(), storage.Ref{SessionID: "two", UID: "uid-two"}, 0, 2, 0)
			require.NoError(t, err)
			problems, err := s.CheckStructure(t.Context())
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(problems, func(p storage.Problem) bool {
				return strings.Contains(p.What, c.says) && (p.SessionID == "one" || p.SessionID == "")
			}), "%v", problems)
		})
	}
}

// A store without its list of keys, or with one that does not parse, is damaged.
func TestDamagedListsOfKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, list := range [][]byte{nil, {}, {0}, {0, 0}, {0, 9, 1}, append([]byte{0, 42, 1, '!'}, make([]byte, 40)...)} {
		require.NoError(t, os.RemoveAll(path))
		s, err := Open(path, Options{Keys: keys(t, "k")})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		meta(t, path, func(tx *bbolt.Tx) error {
			if list == nil {
				return tx.Bucket(metaBucket).Delete(keysKey)
			}
			return putSealed(tx, metaBucket, keysKey, list)
		})
		_, err = Open(path, Options{Keys: keys(t, "k")})
		require.ErrorIs(t, err, storage.ErrCorrupt, "%v", list)
	}
}

// The pages of an encrypted store that was cut short give what they have, with its keys.
func TestRebuildOfAnEncryptedStore(t *testing.T) {
	folder := t.TempDir()
	path, ring := filepath.Join(folder, "store.db"), keys(t, "k", "older")
	s, want := busy(t, path, Options{Keys: ring})
	require.NoError(t, s.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(file[:2*os.Getpagesize()])
	require.NoError(t, os.WriteFile(path, file, 0o600))
	for name, c := range map[string]struct {
		keys *keyring.Ring
		want KeyError
	}{
		"none":    {nil, KeyError{ID: "k", None: true}},
		"missing": {keys(t, "older"), KeyError{ID: "k"}},
		"wrong":   {keys(t, "k!"), KeyError{ID: "k", Given: true}},
	} {
		_, _, err := Rebuild(t.Context(), path, filepath.Join(folder, name), c.keys)
		var missing *KeyError
		require.ErrorAs(t, err, &missing, name)
		require.Equal(t, c.want, *missing)
	}
	to := filepath.Join(folder, "rebuilt.db")
	_, damage, err := Rebuild(t.Context(), path, to, ring)
	require.NoError(t, err)
	require.Empty(t, damage)
	s, err = Open(to, Options{ReadOnly: true, Keys: ring})
	require.NoError(t, err)
	require.True(t, s.Encrypted())
	for id, sound := range want {
		got := readContent(t, s, id, nil)
		require.Empty(t, got.errs)
		require.True(t, proto.Equal(sound.row, got.row))
		require.True(t, sameAll(got.messages, sound.messages) && sameAll(got.records, sound.records) && sameEdits(got.edits, sound.edits))
	}
	require.NoError(t, s.Close())
	rebuilt, err := os.ReadFile(to)
	require.NoError(t, err)
	require.False(t, bytes.Contains(rebuilt, []byte("session-3-7 session-3-7")))
}

var errStop = errors.New("stop")
