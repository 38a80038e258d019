package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
	"github.com/compactord/compactord/storage/storagetest"
)

// problems damages a sound store and returns the problems that the check finds.
func problems(t *testing.T, damage func(tx *bbolt.Tx) error) []storage.Problem {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	d := made(t, path)
	s, err := Open(path, Options{})
	require.NoError(t, err)
	// Sessions before and after it, whose logs are not the session's own.
	require.NoError(t, s.CreateSession(t.Context(), &storagetest.NewSession("", "behind", "u").Texts(3).Commit))
	next := storagetest.Next(d.Session).Prune(3, 4).Text("more").Remember("second")
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
	found, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, s.db.Update(damage))
	found, err = s.CheckStructure(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return found
}

// first is the ordinal of the first session of a store.
const first = 1

// edit changes the value at a key.
func edit(bucket, key []byte, change func(value []byte) []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		value := tx.Bucket(bucket).Get(key)
		if value == nil {
			return errors.New("the test's key is not there")
		}
		return putSealed(tx, bucket, key, change(bytes.Clone(value[sealSize:])))
	}
}

// remove removes a key.
func remove(bucket, key []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		if tx.Bucket(bucket).Get(key) == nil {
			return errors.New("the test's key is not there")
		}
		return tx.Bucket(bucket).Delete(key)
	}
}

// add puts a new key.
func add(bucket, key, value []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error { return putSealed(tx, bucket, key, value) }
}

// putSealed puts a value with sums that fit it.
func putSealed(tx *bbolt.Tx, bucket, key, value []byte) error {
	return tx.Bucket(bucket).Put(key, seal(bucket, key, value))
}

// editRow changes the row of the first session.
func editRow(change func(h *rowHeader, row *storagev1.Session)) func(*bbolt.Tx) error {
	return edit(sessionsBucket, sessionKey("", "s"), func(value []byte) []byte {
		header, encoding, err := splitRow(value)
		if err != nil {
			panic(err)
		}
		row, err := forms.Session(encoding)
		if err != nil {
			panic(err)
		}
		change(&header, row)
		if encoding, err = forms.Marshal.Marshal(row); err != nil {
			panic(err)
		}
		return encodeRow(header, encoding)
	})
}

// The check finds each problem, and names the session.
func TestCheckFinds(t *testing.T) {
	large := blobID{kind: messageBlob, id: 50}
	flip := func(value []byte) []byte {
		value[len(value)/2] ^= 1
		return value
	}
	created := newPlace(storagetest.At(0), first)
	all := listing{order: storage.ByCreation}
	runs := listing{order: byRunning}
	running := []*storagev1.RunningCompaction{{OperationId: "op"}}
	labelled := listing{order: storage.ByChange, labelled: true, label: "k", value: "v"}
	// The log: record 0, messages 0 to 49 with sequences 1 to 50, prune 51, compaction 52, large message 50 with 53;
	// prune 54, message 51 with 55.
	for name, test := range map[string]struct {
		damage func(*bbolt.Tx) error
		want   string
		// whole reports that the problem is the store's and not the session's.
		whole bool
	}{
		"message missing":        {remove(messagesBucket, numberKey(first, 7)), "message 8 follows message 6", false},
		"message garbled":        {edit(messagesBucket, numberKey(first, 7), func([]byte) []byte { return []byte{1, 0xff} }), "message 7", false},
		"message of a version":   {edit(messagesBucket, numberKey(first, 7), func(v []byte) []byte { v[0] = 9; return v }), "a value of version 9", false},
		"schema of a version":    {edit(messagesBucket, numberKey(first, 7), func(v []byte) []byte { v[2] = 9; return v }), "schema version 9", false},
		"message empty":          {edit(messagesBucket, numberKey(first, 7), func([]byte) []byte { return nil }), "an empty value", false},
		"message exchanged":      {copyKey(messagesBucket, numberKey(first, 7), numberKey(first, 8)), "is stored in the place of message 8", false},
		"sequence twice":         {copyKey(messagesBucket, numberKey(first, 7), numberKey(first, 8)), "is given twice", false},
		"message too many":       {copyKey(messagesBucket, numberKey(first, 7), numberKey(first, 52)), "53 messages, its head counts 52", false},
		"message key":            {add(messagesBucket, ordinalKey(first), nil), "bucket messages: malformed key", false},
		"record missing":         {remove(recordsBucket, numberKey(first, 51)), "neither message nor record", false},
		"record garbled":         {edit(recordsBucket, numberKey(first, 51), flip), "record 51", false},
		"record exchanged":       {copyKey(recordsBucket, numberKey(first, 0), numberKey(first, 51)), "is stored in the place of record 51", false},
		"record beyond":          {copyKey(recordsBucket, numberKey(first, 0), numberKey(first, 60)), "is stored in the place of record 60", false},
		"compaction missing":     {remove(compactionsBucket, pairKey(first, 2, 52)), "record 52 points to no compaction", false},
		"compaction misplaced":   {copyKey(compactionsBucket, pairKey(first, 2, 52), pairKey(first, 3, 52)), "no record points to compaction 52", false},
		"compaction not filed":   {unfile, "is a compaction, but not in bucket compactions", false},
		"edits missing":          {remove(editsBucket, pairKey(first, 3, 54)), "1 of the edits of records are missing in bucket edits", false},
		"edits misplaced":        {copyKey(editsBucket, pairKey(first, 3, 54), pairKey(first, 9, 54)), "edits of message 9 are not those of record 54", false},
		"edits of another":       {copyKey(editsBucket, pairKey(first, 3, 54), pairKey(first, 4, 54)), "edits of message 4 are not those", false},
		"chunk missing":          {remove(blobsBucket, blobKey(first, large, 2)), "message 50: a blob lacks a chunk", false},
		"chunk garbled":          {edit(blobsBucket, blobKey(first, large, 2), flip), "message 50: a blob has a wrong length or checksum", false},
		"chunk cut":              {edit(blobsBucket, blobKey(first, large, 4), func(v []byte) []byte { return v[1:] }), "message 50: a blob has a wrong length or checksum", false},
		"chunk unreferenced":     {add(blobsBucket, blobKey(first, large, 5), []byte("x")), "chunk 5 of blob 50 of kind 1 has no pointer to it", false},
		"blob unreferenced":      {add(blobsBucket, blobKey(first, blobID{recordBlob, 50}, 0), []byte("x")), "blob 50 of kind 2 has no pointer to it", false},
		"pointer cut":            {edit(messagesBucket, numberKey(first, 50), func(v []byte) []byte { return v[:9] }), "a pointer to a blob is cut short", false},
		"request missing":        {remove(requestsBucket, requestKey(first, "request")), "1 requests are stored, and the row counts 2", false},
		"request twice":          {copyKey(requestsBucket, requestKey(first, "request"), requestKey(first, "third")), "a request has revision 1, which does not exist or has another request", false},
		"request early":          {edit(requestsBucket, requestKey(first, "request"), func(v []byte) []byte { v[3] = 9; return v }), "a request has revision 9", false},
		"request garbled":        {edit(requestsBucket, requestKey(first, "request"), func(v []byte) []byte { return v[:9] }), "the request of revision 1", false},
		"request cut":            {edit(requestsBucket, requestKey(first, "request"), func(v []byte) []byte { return v[:3] }), "bucket requests: a request is cut short", false},
		"requests counted":       {editRow(func(h *rowHeader, _ *storagev1.Session) { h.requests++ }), "2 requests are stored, and the row counts 3", false},
		"running not listed":     {editRow(func(_ *rowHeader, row *storagev1.Session) { row.Running = running }), "missing in a listing of bucket by_time", false},
		"running listed":         {add(byTimeBucket, runs.key(created), []byte("s")), "bucket by_time lists it in a wrong place", false},
		"row garbled":            {edit(sessionsBucket, sessionKey("", "s"), func(v []byte) []byte { return v[:10] }), "a row is cut short", false},
		"row of a version":       {edit(sessionsBucket, sessionKey("", "s"), func(v []byte) []byte { v[0] = 7; return v }), "a row of version 7", false},
		"row of another":         {editRow(func(_ *rowHeader, row *storagev1.Session) { row.SessionId = "t" }), "the row is that of another", false},
		"row with two uids":      {editRow(func(h *rowHeader, _ *storagev1.Session) { h.uid = "other" }), "the row has two uids", false},
		"row with two ends":      {editRow(func(h *rowHeader, _ *storagev1.Session) { h.nextIndex++ }), "the row has two counts of messages: 52 and 53", false},
		"row without head":       {editRow(func(_ *rowHeader, row *storagev1.Session) { row.Head = nil }), "no revision or no head", false},
		"row of a new ordinal":   {editRow(func(h *rowHeader, _ *storagev1.Session) { h.ordinal = 77 }), "the ordinal 77 was not given", false},
		"row of a taken ordinal": {editRow(func(h *rowHeader, _ *storagev1.Session) { h.ordinal = 2 }), "the ordinal 2 is also that of", false},
		"head short":             {editRow(func(_ *rowHeader, row *storagev1.Session) { row.Head.NextSequence-- }), "1 sequences are not below 55", false},
		"not listed":             {remove(byTimeBucket, all.key(created)), "missing in a listing of bucket by_time", false},
		"not listed by label":    {remove(byLabelBucket, labelled.key(created)), "missing in a listing of bucket by_label", false},
		"child not listed":       {editRow(func(_ *rowHeader, row *storagev1.Session) { row.Parent = &compactordv1.ParentSession{Uid: "p"} }), "missing in a listing of bucket by_label", false},
		"child listed":           {add(byLabelBucket, childrenOf(storage.ByCreation, "", "p").key(created), []byte("s")), "bucket by_label lists it in a wrong place", false},
		"listed twice":           {add(byTimeBucket, all.key(newPlace(storagetest.At(1), first)), []byte("s")), "bucket by_time lists it in a wrong place", false},
		"listing garbled":        {add(byLabelBucket, []byte{0}, []byte("s")), "bucket by_label: malformed key", true},
		"log without session":    {add(messagesBucket, numberKey(99, 0), nil), "bucket messages: the ordinal 99 belongs to no session", true},
		"ordinal cut":            {add(blobsBucket, []byte{1}, nil), "bucket blobs: malformed key", true},
		"deleted, never given":   {add(deadBucket, ordinalKey(99), nil), "an ordinal that was never given", true},
		"deleted, still in use":  {add(deadBucket, ordinalKey(first), nil), "the ordinal 1 was not given to it", false},
		"unknown bucket":         {func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err }, `bucket "other" is unknown`, true},
		"nested bucket": {func(tx *bbolt.Tx) error {
			_, err := tx.Bucket(metaBucket).CreateBucket([]byte("nested"))
			return err
		}, `bucket "meta": page`, true},
	} {
		t.Run(name, func(t *testing.T) {
			found := problems(t, test.damage)
			require.NotEmpty(t, found)
			for _, problem := range found {
				session := "s"
				if test.whole {
					session = ""
				}
				if strings.Contains(problem.What, test.want) && (problem.SessionID == session || problem.SessionID == "behind") {
					return
				}
			}
			t.Fatalf("%q is not among %q", test.want, found)
		})
	}
}

// copyKey copies the value of a key to another.
func copyKey(bucket, from, to []byte) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return putSealed(tx, bucket, to, tx.Bucket(bucket).Get(from)[sealSize:])
	}
}

// unfile moves a compaction into the bucket of records.
func unfile(tx *bbolt.Tx) error {
	value := bytes.Clone(tx.Bucket(compactionsBucket).Get(pairKey(first, 2, 52)))
	if err := tx.Bucket(compactionsBucket).Delete(pairKey(first, 2, 52)); err != nil {
		return err
	}
	return putSealed(tx, recordsBucket, numberKey(first, 52), value[sealSize:])
}

// Reads, too, return an error for what this version does not write; they never skip it.
func TestReadsRefuse(t *testing.T) {
	unknownKind := &storagev1.StoredMessage{Schema: forms.Schema, Logged: &compactordv1.LoggedMessage{
		Index: 7, Sequence: 8, Message: &compactordv1.Message{Parts: []*compactordv1.Part{{}}},
	}}
	unknownRole := &storagev1.StoredMessage{Schema: forms.Schema, Logged: &compactordv1.LoggedMessage{
		Index: 7, Sequence: 8, Message: &compactordv1.Message{Role: 99},
	}}
	unknownEdit := &storagev1.StoredRecord{Schema: forms.Schema, Record: &compactordv1.Record{
		Sequence: 51,
		Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
			Edits: []*compactordv1.Edit{{Kind: 99}},
		}},
	}}
	value := func(m interface{ Reset() }) func([]byte) []byte {
		return func([]byte) []byte {
			var encoding []byte
			var err error
			switch m := m.(type) {
			case *storagev1.StoredMessage:
				encoding, err = forms.Marshal.Marshal(m)
			case *storagev1.StoredRecord:
				encoding, err = forms.Marshal.Marshal(m)
			}
			require.NoError(t, err)
			return append([]byte{inlineTag}, encoding...)
		}
	}
	unknownField := func(v []byte) []byte { return append(v, 0xf8, 0x7f, 1) }
	ref := storage.Ref{SessionID: "s", UID: "u"}
	messages := func(ctx context.Context, s *Store) error {
		_, err := s.Messages(ctx, ref, 0, 100, 0)
		return err
	}
	records := func(ctx context.Context, s *Store) error {
		_, err := s.Records(ctx, ref, 0, 100, 0)
		return err
	}
	for name, test := range map[string]struct {
		damage func(*bbolt.Tx) error
		read   func(context.Context, *Store) error
	}{
		"part":             {edit(messagesBucket, numberKey(first, 7), value(unknownKind)), messages},
		"role":             {edit(messagesBucket, numberKey(first, 7), value(unknownRole)), messages},
		"field":            {edit(messagesBucket, numberKey(first, 7), unknownField), messages},
		"message missing":  {remove(messagesBucket, numberKey(first, 7)), messages},
		"last message":     {remove(messagesBucket, numberKey(first, 50)), messages},
		"message in place": {copyKey(messagesBucket, numberKey(first, 7), numberKey(first, 8)), messages},
		"chunk":            {remove(blobsBucket, blobKey(first, blobID{messageBlob, 50}, 1)), messages},
		"edit in record":   {edit(recordsBucket, numberKey(first, 51), value(unknownEdit)), records},
		"record":           {edit(recordsBucket, numberKey(first, 0), value(&storagev1.StoredRecord{Schema: forms.Schema, Record: &compactordv1.Record{}})), records},
		"record in place":  {copyKey(recordsBucket, numberKey(first, 0), numberKey(first, 51)), records},
		"pointer":          {remove(compactionsBucket, pairKey(first, 2, 52)), records},
		"compaction": {edit(compactionsBucket, pairKey(first, 2, 52), unknownField), func(ctx context.Context, s *Store) error {
			_, err := s.Compactions(ctx, ref, 0, 0)
			return err
		}},
		"no first record": {remove(recordsBucket, numberKey(first, 0)), func(ctx context.Context, s *Store) error {
			_, err := s.RecordAtOrBefore(ctx, ref, 5)
			return err
		}},
		"edits": {edit(editsBucket, pairKey(first, 0, 51), unknownField), func(ctx context.Context, s *Store) error {
			_, err := s.Edits(ctx, ref, 0, 9)
			return err
		}},
		"request": {edit(requestsBucket, requestKey(first, "request"), unknownField), func(ctx context.Context, s *Store) error {
			_, err := s.Request(ctx, ref, "request")
			return err
		}},
		"row": {edit(sessionsBucket, sessionKey("", "s"), unknownField), func(ctx context.Context, s *Store) error {
			_, err := s.Session(ctx, "", "s")
			return err
		}},
		"listed row": {remove(sessionsBucket, sessionKey("", "s")), func(ctx context.Context, s *Store) error {
			_, _, err := s.Sessions(ctx, storage.SessionQuery{Limit: 9})
			return err
		}},
		"running row": {add(byTimeBucket, listing{order: byRunning}.key(place{}), []byte("none")), func(ctx context.Context, s *Store) error {
			_, err := s.Abandoned(ctx)
			return err
		}},
		"next ordinal": {func(tx *bbolt.Tx) error { return putSealed(tx, metaBucket, nextOrdinalKey, nil) }, func(ctx context.Context, s *Store) error {
			return s.CreateSession(ctx, &storagetest.NewSession("", "t", "u").Commit)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			made(t, path)
			s, err := Open(path, Options{})
			require.NoError(t, err)
			require.NoError(t, s.db.Update(test.damage))
			require.ErrorIs(t, test.read(t.Context(), s), storage.ErrCorrupt)
			require.NoError(t, s.Close())
		})
	}
}

// A page that was overwritten makes a read or the check return an error, and does not end the process.
func TestDamagedPage(t *testing.T) {
	for name, test := range map[string]struct {
		offset int64
		bytes  []byte
	}{
		// After the page's number (8 bytes) come its kind and its number of elements. The first element of a branch is
		// at 16, and the page that it points to at 8 in it.
		"kind":                {8, []byte{0xff, 0xff}},
		"no element":          {10, []byte{0, 0}},
		"beyond the file":     {24, binary.NativeEndian.AppendUint64(nil, 1<<17)},
		"beyond the map":      {24, binary.NativeEndian.AppendUint64(nil, 1<<30)},
		"beyond all measure":  {24, binary.NativeEndian.AppendUint64(nil, 1<<60)},
		"a key out of bounds": {16, []byte{0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			d := made(t, path)
			s, err := Open(path, Options{})
			require.NoError(t, err)
			var root int64
			require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
				root = int64(tx.Bucket(messagesBucket).RootPage())
				return nil
			}))
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = file.WriteAt(test.bytes, root*int64(s.db.Info().PageSize)+test.offset)
			require.NoError(t, err)
			require.NoError(t, file.Close())

			_, err = s.Messages(t.Context(), d.Ref(), 0, 50, 0)
			require.ErrorIs(t, err, storage.ErrCorrupt)
			found, err := s.CheckStructure(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, found)
			row, err := s.Session(t.Context(), "", "s")
			require.NoError(t, err, "what lies elsewhere can still be read")
			require.Equal(t, d.Session.GetUid(), row.GetUid())
			require.NoError(t, s.Close())
		})
	}
}

// A check ends with its context.
func TestCheckCancelled(t *testing.T) {
	s := openNew(t, Options{})
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	_, err := s.CheckStructure(ctx)
	require.ErrorIs(t, err, over)
}

// A damaged value is one problem: what is missing elsewhere for that is not said too.
func TestADamagedValueIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u").Texts(3).Text(strings.Repeat("large ", 20000)).Prune(0, 1)
	d.Compaction(2, "summary").Remember("request")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	for _, name := range logBuckets {
		t.Run(string(name), func(t *testing.T) {
			var key, value []byte
			require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
				key, value = tx.Bucket(name).Cursor().First()
				key, value = bytes.Clone(key), bytes.Clone(value)
				spoiled := bytes.Clone(value)
				spoiled[len(spoiled)-1] ^= 1
				return tx.Bucket(name).Put(key, spoiled)
			}))
			problems, err := s.CheckStructure(t.Context())
			require.NoError(t, err)
			require.Len(t, problems, 1)
			require.Equal(t, "s", problems[0].SessionID)
			require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(name).Put(key, value) }))
			problems, err = s.CheckStructure(t.Context())
			require.NoError(t, err)
			require.Empty(t, problems)
		})
	}
	require.NoError(t, s.Close())
}

// Each damaged value is said with its place, and none twice.
func TestDamagedValuesAreToldApart(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	require.NoError(t, err)
	large := func(letter string) string { return strings.Repeat(letter, 3*chunkSize) }
	d := storagetest.NewSession("", "s", "u").Texts(6).Text(large("a")).Text(large("b")).Prune(0, 1).Prune(2).Remember("request")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{messagesBucket, recordsBucket, editsBucket, requestsBucket, blobsBucket} {
			var keys, values [][]byte
			cursor := tx.Bucket(name).Cursor()
			for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
				keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
			}
			for i, key := range keys {
				if values[i][sealSize] == blobTag && string(name) == string(messagesBucket) {
					continue
				}
				values[i][len(values[i])-1] ^= 1
				if err := tx.Bucket(name).Put(key, values[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	problems, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	var said []string
	for _, p := range problems {
		require.Equal(t, "s", p.SessionID)
		what, _, _ := strings.Cut(p.What, ": bucket")
		said = append(said, what)
	}
	require.ElementsMatch(t, []string{
		"message 0", "message 1", "message 2", "message 3", "message 4", "message 5", "message 6", "message 7",
		"record 0", "record 9", "record 10",
		"edits of message 0 by record 9", "edits of message 1 by record 9", "edits of message 2 by record 10",
		`request "request"`,
	}, said)
	require.NoError(t, s.Close())
}

// A damaged page is one problem of no session.
func TestADamagedPageIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	i := imageAt(t, path)
	branches, _ := i.treePages(t)
	flip(t, path, int64(branches[0])*int64(i.meta.PageSize), 3)
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	problems, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	said := map[string]int{}
	for _, p := range problems {
		if p.SessionID == "" && strings.Contains(p.What, fmt.Sprintf("it says that it is page %d", branches[0]^8)) {
			said[p.What]++
		}
	}
	require.Len(t, said, 1)
	require.NoError(t, s.Close())
}
