package boltstore

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// transaction is a transaction of bbolt. Each page is checked before bbolt reads it, and each value before it is
// returned. What cannot be used is a panic with a *forms.DamageError or a *storage.DiskError, which guard makes an error: it
// can come from every step.
type transaction struct {
	// bolt is nil before bbolt has opened the file.
	bolt *bbolt.Tx
	// disk is what the file held when the transaction began.
	disk *pages.Snapshot
	// sealed reports whether the values have sums; those of a store of version 1 that is only read have none.
	sealed bool
	// form is how the values are stored.
	form form
	// cut is the length of a file that lacks its end; 0 for a whole one.
	cut int64
	// buckets are those that were asked for. Each was looked up once.
	buckets []*bucket
	// explain returns the true cause of a fault; nil before the store is open.
	explain func(error) error
}

// begin returns a transaction of bbolt as one of ours.
func (s *Store) begin(tx *bbolt.Tx) *transaction {
	t, mapped := begin(tx, s.has), tx.DB().Info().Data
	t.form = s.form()
	t.explain = func(err error) error { return s.explained(err, mapped) }
	return t
}

// guarded runs a part of the transaction whose damage does not end the rest of it.
func (tx *transaction) guarded(fn func() error) error {
	err := guarded(fn)
	if err != nil && tx.explain != nil {
		return tx.explain(err)
	}
	return err
}

// begin returns a transaction of a file that may not be open yet.
func begin(tx *bbolt.Tx, has contents) *transaction {
	committed := uint64(tx.ID())
	if tx.Writable() {
		committed--
	}
	info := tx.DB().Info()
	root := uint64(tx.Cursor().Bucket().RootPage())
	length := tx.Size()
	if has.cut > 0 {
		length = min(length, has.cut)
	}
	disk := pages.Mapped(mapped(info.Data, int(length)), info.PageSize, root, committed)
	if !has.list {
		disk = disk.WithoutList()
	}
	disk.Remember(has.sound)
	return &transaction{bolt: tx, sealed: has.sums, form: has.form, cut: has.cut, disk: disk}
}

// contents says what a file has beside the values.
type contents struct {
	// sums: the values are sealed. Those of a store of version 1 that is only read are not.
	sums bool
	// version is the version of the store, and form how its values are stored.
	version uint32
	form    form
	// olderKeys is how many keys were named, beside the one that seals, when the file was opened.
	olderKeys int
	// list: there is a list of free pages that is as it was written.
	list bool
	// cut is the length of a file that lacks its end; 0 for a whole one.
	cut int64
	// sound are the pages that were checked since the file was opened; nil while it is being opened.
	sound *pages.Sound
}

// damagedWhole returns what is wrong with the headers and the length of the file.
func (tx *transaction) damagedWhole() (damage []string) {
	if tx.cut > 0 {
		damage = append(damage, fmt.Sprintf("the file is cut short: it has %d bytes of %d", tx.cut, tx.bolt.Size()))
	}
	for _, err := range tx.disk.CheckHeaders() {
		damage = append(damage, err.Error())
	}
	return damage
}

// bucket is a bucket in a transaction.
type bucket struct {
	tx   *transaction
	name []byte
	tree *pages.Tree
	// bolt has the changes of the transaction; nil in one that only reads.
	bolt *bbolt.Bucket
}

// Bucket returns a bucket, which every store has.
func (tx *transaction) Bucket(name []byte) *bucket {
	for _, b := range tx.buckets {
		if string(b.name) == string(name) {
			return b
		}
	}
	tree, err := tx.disk.Bucket(name)
	must(err)
	if tree == nil {
		panic(forms.Damaged("bucket %s is missing", name))
	}
	b := &bucket{tx: tx, name: name, tree: tree}
	if tx.bolt != nil && tx.bolt.Writable() {
		b.bolt = tx.bolt.Bucket(name)
	}
	tx.buckets = append(tx.buckets, b)
	return b
}

func must(err error) {
	if err != nil {
		panic(unusable(err))
	}
}

// Get returns a value; nil where there is none.
func (b *bucket) Get(key []byte) []byte {
	disk, found, value, err := b.tree.Find(key)
	must(err)
	exists := bytes.Equal(found, key) && found != nil
	if !exists {
		b.checkGap(disk, found, value)
	}
	if b.bolt != nil {
		value = b.bolt.Get(key)
		exists = value != nil
	}
	if !exists {
		return nil
	}
	value, err = b.open(key, value)
	must(err)
	return value
}

// has reports whether the file has a key.
func (b *bucket) has(key []byte) bool {
	_, found, _, err := b.tree.Find(key)
	must(err)
	return bytes.Equal(found, key)
}

// checkGap checks the keys around the place where a key is missing. Where they are what was written there, no damage
// has changed the key that is sought.
func (b *bucket) checkGap(disk *pages.Cursor, next, value []byte) {
	if next != nil {
		must(b.checkKey(next, value))
	}
	before, value := disk.BeforeGap()
	if before != nil {
		must(b.checkKey(before, value))
	}
}

func (b *bucket) sealed(key []byte) bool { return b.tx.sealed && sealedKey(b.name, key) }

func (b *bucket) checkKey(key, value []byte) error {
	if !b.sealed(key) {
		return nil
	}
	return b.tx.form.checkKey(b.name, key, value)
}

// open returns the value that the file holds under a key.
func (b *bucket) open(key, value []byte) ([]byte, error) {
	if !b.sealed(key) {
		return value, nil
	}
	return b.tx.form.unseal(b.name, key, value)
}

// Put writes a value. bbolt uses the memory of the key until the transaction ends.
func (b *bucket) Put(key, value []byte) error {
	must(b.tree.Verify(key))
	if b.sealed(key) {
		value = b.tx.form.seal(b.name, key, value)
	}
	return b.bolt.Put(key, value)
}

// Delete removes a key.
func (b *bucket) Delete(key []byte) error {
	must(b.tree.VerifyAround(key))
	return b.bolt.Delete(key)
}

// cursor walks over the keys of a bucket that have a prefix.
type cursor struct {
	bucket *bucket
	prefix []byte
	disk   *pages.Cursor
	// bolt is nil in a transaction that only reads. Otherwise disk goes the same way before it.
	bolt *bbolt.Cursor
	// keys: of the values only the sums of their keys are compared, and the values are returned as they are stored.
	keys bool
}

// Cursor returns a cursor over the keys with a prefix.
func (b *bucket) Cursor(prefix []byte) *cursor {
	c := &cursor{bucket: b, prefix: prefix, disk: b.tree.Cursor()}
	if b.bolt != nil {
		c.bolt = b.bolt.Cursor()
	}
	return c
}

// Keys returns a cursor for values that are not used.
func (b *bucket) Keys(prefix []byte) *cursor {
	c := b.Cursor(prefix)
	c.keys = true
	return c
}

// Seek moves to the first key that is not below key. The key is nil where there is none.
func (c *cursor) Seek(key []byte) (found, value []byte) {
	found, value, err := c.seek(key)
	must(err)
	return found, value
}

// Next moves to the next key.
func (c *cursor) Next() (key, value []byte) {
	key, value, err := c.next()
	must(err)
	return key, value
}

// First moves to the first key.
func (c *cursor) First() (key, value []byte) { return c.Seek(c.prefix) }

// seek and next return the key beside the error if only its value is damaged.
func (c *cursor) seek(key []byte) (found, value []byte, err error) {
	found, value, err = c.disk.Seek(key)
	if err != nil {
		return nil, nil, unusable(err)
	}
	if !bytes.Equal(found, key) {
		c.bucket.checkGap(c.disk, found, value)
	}
	if c.bolt != nil {
		found, value = c.bolt.Seek(key)
	}
	return c.within(found, value)
}

func (c *cursor) next() (key, value []byte, err error) {
	if key, value, err = c.disk.Next(); err != nil {
		return nil, nil, unusable(err)
	}
	if c.bolt != nil {
		key, value = c.bolt.Next()
	}
	return c.within(key, value)
}

// Before returns the last key below key.
func (c *cursor) Before(key []byte) (found, value []byte) {
	found, value, err := c.disk.Before(key)
	must(err)
	found, value, err = c.within(found, value)
	must(err)
	return found, value
}

// within opens a value whose key has the prefix. Of another one, such as that of the next session, only the key must be
// sound.
func (c *cursor) within(key, value []byte) (found, opened []byte, err error) {
	if key == nil {
		return nil, nil, nil
	}
	if !bytes.HasPrefix(key, c.prefix) {
		return nil, nil, c.bucket.checkKey(key, value)
	}
	if c.keys {
		return key, value, c.bucket.checkKey(key, value)
	}
	opened, err = c.bucket.open(key, value)
	return key, opened, err
}
