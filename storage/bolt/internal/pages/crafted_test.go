package pages

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// crafted is a file with one bucket of keys of equal length, and what its pages are.
type crafted struct {
	file         []byte
	root, commit uint64
	// branch is the page at the top of the bucket; its children are leaves.
	branch uint64
}

func craftedValue(key string) []byte { return fmt.Appendf(nil, "the value of %s, %040d", key, 0) }

func craft(t *testing.T) *crafted {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bolt.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	require.NoError(t, err)
	c := new(crafted)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket(soundBucket)
		for i := range 1000 {
			if err == nil {
				err = bucket.Put(fmt.Appendf(nil, "%05d", i), craftedValue(fmt.Sprintf("%05d", i)))
			}
		}
		return err
	}))
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		c.root, c.commit = uint64(tx.Cursor().Bucket().RootPage()), uint64(tx.ID())
		c.branch = uint64(tx.Bucket(soundBucket).RootPage())
		return nil
	}))
	require.NoError(t, db.Close())
	c.file, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, c.damages(), "sound before it is damaged")
	return c
}

func (c *crafted) snapshot() *Snapshot { return Mapped(c.file, os.Getpagesize(), c.root, c.commit) }

// page returns a page that can be read, to change it.
func (c *crafted) page(id uint64) *page {
	p, err := c.snapshot().readPage(id)
	if err != nil {
		panic(err)
	}
	return &p
}

// damages are what a walk over all pages finds.
func (c *crafted) damages() (found []string) {
	c.snapshot().Walk(func() bool { return false }, func(_ string, err error) { found = append(found, err.Error()) })
	return found
}

// seek returns the error of a search, and the key that it finds. Where sound is set, pages that it knows were checked.
func (c *crafted) seek(t *testing.T, key string, sound *Sound) (string, error) {
	t.Helper()
	s := c.snapshot()
	s.Remember(sound)
	found, _, err := bucketOf(t, s).Cursor().Seek([]byte(key))
	return string(found), err
}

// A page whose elements are whole is still damaged where its keys do not ascend, or are not those that the branch above
// says. Whoever reads it would miss keys that exist.
func TestCraftedPages(t *testing.T) {
	swapKeys := func(p *page, i, j int) {
		a, b := p.key(i), p.key(j)
		for n := range a {
			a[n], b[n] = b[n], a[n]
		}
	}
	tests := []struct {
		name   string
		damage func(c *crafted)
		want   string
		// again reports that it is also seen in pages that were checked before.
		again bool
	}{
		{"keys of a leaf in a wrong order", func(c *crafted) {
			leaf := c.page(c.page(c.branch).child(1))
			swapKeys(leaf, 3, 4)
		}, "does not follow the one before it", false},
		{"a key twice", func(c *crafted) {
			leaf := c.page(c.page(c.branch).child(1))
			copy(leaf.key(3), leaf.key(4))
		}, "does not follow the one before it", false},
		{"keys of a branch in a wrong order", func(c *crafted) {
			swapKeys(c.page(c.branch), 1, 2)
		}, "does not follow the one before it", true},
		{"children of a branch exchanged", func(c *crafted) {
			branch := c.page(c.branch)
			one, two := branch.child(1), branch.child(2)
			binary.NativeEndian.PutUint64(branch.bytes[headerSize+elementSize+8:], two)
			binary.NativeEndian.PutUint64(branch.bytes[headerSize+2*elementSize+8:], one)
		}, "its first key is not that of the branch above it", true},
		{"a child twice", func(c *crafted) {
			branch := c.page(c.branch)
			binary.NativeEndian.PutUint64(branch.bytes[headerSize+elementSize+8:], branch.child(2))
		}, "its first key is not that of the branch above it", true},
		{"a leaf that reaches into the next", func(c *crafted) {
			branch := c.page(c.branch)
			leaf, next := c.page(branch.child(1)), c.page(branch.child(2))
			copy(leaf.key(leaf.count-1), next.key(0))
		}, "its keys reach into the next page", true},
		{"a leaf without elements", func(c *crafted) {
			leaf := c.page(c.page(c.branch).child(1))
			binary.NativeEndian.PutUint16(leaf.bytes[10:], 0)
		}, "it has no elements", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := craft(t)
			sought := string(c.page(c.page(c.branch).child(1)).key(3))
			sound := NewSound(c.snapshot())
			_, err := c.seek(t, sought, sound)
			require.NoError(t, err)

			test.damage(c)
			var damage *DamageError
			_, err = c.seek(t, sought, nil)
			require.ErrorAs(t, err, &damage)
			require.Contains(t, damage.Error(), test.want)
			found := c.damages()
			require.NotEmpty(t, found)
			require.Contains(t, found[0], test.want)
			if _, err := c.seek(t, sought, sound); test.again {
				require.ErrorAs(t, err, &damage)
			}
		})
	}
}

// Of a page that was checked before, what says how many elements it has and where they are is checked again. Whatever
// changes in it, no read goes out of it, and where a key that is there is not found, one of those around its place is not
// what was written: then a sum shows it.
func TestPagesThatAreDamagedLater(t *testing.T) {
	c := craft(t)
	leaf := c.page(c.page(c.branch).child(1))
	sought := string(leaf.key(3))
	sound := NewSound(c.snapshot())
	_, err := c.seek(t, sought, sound)
	require.NoError(t, err)
	require.True(t, sound.has(leaf.id))
	for bit := range 8 * (headerSize + 6*elementSize) {
		leaf.bytes[bit/8] ^= 1 << (bit % 8)
		found, err := c.around(t, sought, sound)
		if err == nil && !found {
			require.Fail(t, "a key was passed over", "bit %d of byte %d", bit%8, bit/8)
		}
		if at := bit / 8; at < headerSize {
			// The count, the kind and the length; the number of the page comes before them.
			require.Error(t, err, "bit %d of byte %d", bit%8, at)
		}
		leaf.bytes[bit/8] ^= 1 << (bit % 8)
	}
}

// around reports whether a key is found, or one of its neighbours is not what was written. A panic of a page that was
// damaged after it was checked is an error.
func (c *crafted) around(t *testing.T, key string, sound *Sound) (told bool, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			damage, ok := r.(*DamageError)
			require.True(t, ok, "%v", r)
			err = damage
		}
	}()
	s := c.snapshot()
	s.Remember(sound)
	cursor := bucketOf(t, s).Cursor()
	found, value, err := cursor.Seek([]byte(key))
	if err != nil || string(found) == key || string(value) != string(craftedValue(string(found))) {
		return true, err
	}
	before, value, err := cursor.Before([]byte(key))
	return string(value) != string(craftedValue(string(before))), err
}

// Each leaf is checked before it is written, though another one was checked before in the same transaction, and though it
// was sound when the file was opened.
func TestEachLeafIsVerified(t *testing.T) {
	c := craft(t)
	sound := NewSound(c.snapshot())
	s := c.snapshot()
	s.Remember(sound)
	tree := bucketOf(t, s)
	first, second := c.page(c.page(c.branch).child(1)), c.page(c.page(c.branch).child(2))
	for _, leaf := range []*page{first, second} {
		require.NoError(t, tree.Verify(leaf.key(3)))
	}
	a, b := second.key(3), second.key(4)
	for n := range a {
		a[n], b[n] = b[n], a[n]
	}

	s = c.snapshot()
	s.Remember(sound)
	tree = bucketOf(t, s)
	for range 2 {
		require.NoError(t, tree.Verify(first.key(1)))
		require.NoError(t, tree.VerifyAround(first.key(0)[:1]))
		require.ErrorContains(t, tree.Verify(second.key(1)), "does not follow the one before it")
		require.ErrorContains(t, tree.VerifyAround(second.key(1)), "does not follow the one before it")
	}
}
