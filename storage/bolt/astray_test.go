package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// image is a store's file in memory, of which all was read before some of it is damaged.
type image struct {
	data  []byte
	meta  pages.Meta
	sound *pages.Sound
	// names are the requests of each session.
	names map[string][]string
}

func newImage(t *testing.T, path string, names map[string][]string) *image {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := os.Open(path)
	require.NoError(t, err)
	newest, err := newestSnapshot(file)
	require.NoError(t, err)
	meta, err := pages.NewestMeta(file)
	require.NoError(t, err)
	sound := pages.NewSound(newest)
	require.NoError(t, file.Close())
	i := &image{data: data[:needed(t, path)], meta: meta, sound: sound, names: names}
	missing, damaged := i.missing()
	require.Zero(t, missing)
	require.Zero(t, damaged)
	return i
}

// missing looks all requests up, and counts those that are said to be missing or damaged.
func (i *image) missing() (missing, damaged int) {
	disk := i.disk()
	disk.Remember(i.sound)
	tx := &transaction{disk: disk, sealed: true}
	for id, requests := range i.names {
		for _, request := range requests {
			err := guarded(func() error {
				header, _, err := incarnation(tx, storage.Ref{SessionID: id, UID: "uid-" + id})
				if err == nil && tx.Bucket(requestsBucket).Get(requestKey(header.ordinal, request)) == nil {
					err = storage.ErrNotFound
				}
				return err
			})
			switch {
			case err == nil:
			case errors.Is(err, storage.ErrCorrupt):
				damaged++
			default:
				missing++
			}
		}
	}
	return missing, damaged
}

// treePages returns the pages of the trees of sessions and requests.
func (i *image) treePages(t *testing.T) (branches, leaves []uint64) {
	t.Helper()
	disk := i.disk()
	for _, name := range [][]byte{sessionsBucket, requestsBucket} {
		tree, err := disk.Bucket(name)
		require.NoError(t, err)
		level := []uint64{tree.Root()}
		for len(level) > 0 && i.isBranch(level[0]) {
			branches = append(branches, level...)
			var below []uint64
			for _, id := range level {
				for n := range i.count(id) {
					below = append(below, binary.NativeEndian.Uint64(i.pointer(id, n)))
				}
			}
			level = below
		}
		leaves = append(leaves, level...)
	}
	return branches, leaves
}

func (i *image) disk() *pages.Snapshot {
	return pages.Mapped(i.data, i.meta.PageSize, i.meta.Root, i.meta.Transaction)
}

func (i *image) page(id uint64) []byte { return i.data[int(id)*i.meta.PageSize:][:i.meta.PageSize] }

func (i *image) isBranch(id uint64) bool { return binary.NativeEndian.Uint16(i.page(id)[8:]) == 1 }

func (i *image) count(id uint64) int             { return int(binary.NativeEndian.Uint16(i.page(id)[10:])) }
func (i *image) pointer(id uint64, n int) []byte { return i.page(id)[16+16*n+8:][:8] }

func busyImage(t *testing.T) *image {
	t.Helper()
	return imageAt(t, filepath.Join(t.TempDir(), "store.db"))
}

func imageAt(t *testing.T, path string) *image {
	t.Helper()
	i := newImage(t, path, requestsOf(busyStore(t, path)))
	require.True(t, i.meta.HasFreelist())
	return i
}

func requestsOf(sessions map[string]*content) map[string][]string {
	names := map[string][]string{}
	for id, content := range sessions {
		for request := range content.requests {
			names[id] = append(names[id], request)
		}
	}
	return names
}

// unlistedImage is a file that was copied while it was open and had no list of free pages.
func unlistedImage(t *testing.T) *image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, content := busy(t, path, Options{listed: 1})
	i := newImage(t, path, requestsOf(content))
	require.NoError(t, s.Close())
	require.False(t, i.meta.HasFreelist())
	return i
}

// sweptImage is a file that was copied while the log of a deleted session was being removed, and had no list of free pages.
func sweptImage(t *testing.T) *image {
	t.Helper()
	path, copied := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "copy.db")
	deleting := false
	s, content := busy(t, path, Options{listed: 1, synced: func([]change) {
		if !deleting {
			return
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied, data, 0o600))
	}})
	gone := storagetest.NewSession("", "gone", "uid-gone").Texts(sweepKeys + 100)
	require.NoError(t, s.CreateSession(t.Context(), &gone.Commit))
	deleting = true
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	require.NoError(t, s.Close())
	i := newImage(t, copied, requestsOf(content))
	require.False(t, i.meta.HasFreelist())
	require.True(t, new(Store).hasDead(&transaction{disk: i.disk(), sealed: true}))
	return i
}

// deepImage is a store with names so long that the tree of sessions has three levels.
func deepImage(t *testing.T) *image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	names := map[string][]string{}
	for n := range 120 {
		id := fmt.Sprintf("%03d", n) + strings.Repeat("-", 600)
		d := storagetest.NewSession("", id, "uid-"+id).Remember("request")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		names[id] = []string{"request"}
	}
	require.NoError(t, s.Close())
	return newImage(t, path, names)
}

// No bit of a page that says where its elements are hides a key, also where the page was sound when it was read first.
func TestElementsAstray(t *testing.T) {
	i := busyImage(t)
	branches, leaves := i.treePages(t)
	places, found := 0, 0
	for n, id := range append(branches, leaves...) {
		if testing.Short() && n%3 > 0 {
			continue
		}
		page := i.page(id)
		for at := 8; at < 16+16*min(i.count(id), 30); at++ {
			for bit := range 8 {
				page[at] ^= 1 << bit
				missing, damaged := i.missing()
				require.Zero(t, missing, "page %d, byte %d, bit %d", id, at, bit)
				page[at] ^= 1 << bit
				places++
				if damaged > 0 {
					found++
				}
			}
		}
	}
	missing, damaged := i.missing()
	require.Zero(t, missing+damaged)
	t.Logf("%d places, %d found", places, found)
	require.Greater(t, found, places/2)
}

// No pointer of a branch that leads to another page of the file hides a key: not to an older copy of the page, nor to one
// of another tree, nor to one that is deeper in its own tree.
func TestPointersAstray(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *image{
		"busy": busyImage, "busy, without a list of free pages": unlistedImage, "during a sweep": sweptImage, "deep": deepImage,
	} {
		t.Run(name, func(t *testing.T) {
			i := make(t)
			branches, _ := i.treePages(t)
			places, found := 0, 0
			for _, id := range branches {
				for n := range i.count(id) {
					pointer := i.pointer(id, n)
					right := binary.NativeEndian.Uint64(pointer)
					for to := range i.meta.End {
						if to == right || testing.Short() && (to+uint64(n))%5 > 0 {
							continue
						}
						binary.NativeEndian.PutUint64(pointer, to)
						missing, damaged := i.missing()
						require.Zero(t, missing, "element %d of page %d leads to page %d", n, id, to)
						places++
						if damaged > 0 {
							found++
						}
					}
					binary.NativeEndian.PutUint64(pointer, right)
				}
			}
			missing, damaged := i.missing()
			require.Zero(t, missing+damaged)
			t.Logf("%d places, %d found", places, found)
			require.Equal(t, places, found)
		})
	}
}

// A pointer that leads past a branch makes pages of the tree look free. They are not taken for free when the list of free
// pages is written anew.
func TestUsedBehindPointersAstray(t *testing.T) {
	i := deepImage(t)
	disk := i.disk()
	require.True(t, disk.Used().Whole())
	branches, _ := i.treePages(t)
	places := 0
	for _, id := range branches {
		for n := range i.count(id) {
			pointer := i.pointer(id, n)
			right := binary.NativeEndian.Uint64(pointer)
			if !i.isBranch(right) {
				continue
			}
			copy(pointer, i.pointer(right, 0))
			require.False(t, disk.Used().Whole(), "element %d of page %d", n, id)
			binary.NativeEndian.PutUint64(pointer, right)
			places++
		}
	}
	require.Greater(t, places, 3)
	require.True(t, disk.Used().Whole())
}

// An element that stands in for another one in its page, with sums that are right, is not served in its place, and is not
// written again: the damage could not be seen any more.
func TestElementInPlaceOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "uid-s").Remember("request-00")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	names := []string{"request-00"}
	for n := 1; n < 20; n++ {
		names = append(names, fmt.Sprintf("request-%02d", n))
		d = storagetest.Next(d.Session).Text("text").Remember(names[n])
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
	}
	i := newImage(t, path, map[string][]string{"s": names})
	_, leaves := i.treePages(t)
	id := leaves[len(leaves)-1]
	require.Equal(t, len(names), i.count(id))
	ref := storage.RefOf(d.Session)
	for _, name := range names {
		_, err := s.Request(t.Context(), ref, name)
		require.NoError(t, err)
	}

	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	at := int64(id)*int64(i.meta.PageSize) + 16 + 16*5 + 4
	place := binary.NativeEndian.Uint32(i.data[at:])
	next := binary.NativeEndian.Uint32(i.data[at+16:]) + 16
	write := func(place uint32) {
		_, err := file.WriteAt(binary.NativeEndian.AppendUint32(nil, place), at)
		require.NoError(t, err)
	}
	write(next)
	_, err = s.Request(t.Context(), ref, names[5])
	require.ErrorIs(t, err, storage.ErrCorrupt)
	more := storagetest.Next(d.Session).Text("more").Remember("request-20")
	require.ErrorIs(t, s.Commit(t.Context(), &more.Commit), storage.ErrCorrupt)
	write(place)
	require.NoError(t, s.Commit(t.Context(), &more.Commit))
	for _, name := range names {
		_, err := s.Request(t.Context(), ref, name)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// A pointer that is damaged while the store is open leads to no older copy of its page, although no commit has written a
// list of free pages for a while, and goes on to be found after further commits, also by them.
func TestPointerAstrayWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, content := busy(t, path, Options{listed: 1})
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	ref, request, astray := withOlderCopy(t, s, path, content)
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, astray.older), astray.at)
	require.NoError(t, err)

	require.ErrorIs(t, missed(s.Request(t.Context(), ref, request)), storage.ErrCorrupt)
	other := storagetest.NewSession("", "other", "uid-other").Texts(3)
	require.NoError(t, s.CreateSession(t.Context(), &other.Commit))
	require.ErrorIs(t, missed(s.Request(t.Context(), ref, request)), storage.ErrCorrupt)
	again := storagetest.Next(content[ref.SessionID].row).Text("again").Remember(request)
	require.ErrorIs(t, s.Commit(t.Context(), &again.Commit), storage.ErrCorrupt)

	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, astray.leaf), astray.at)
	require.NoError(t, err)
	require.NoError(t, missed(s.Request(t.Context(), ref, request)))
	require.ErrorIs(t, s.Commit(t.Context(), &again.Commit), storage.ErrRequestKnown)
	require.NoError(t, file.Close())
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// astray is a leaf and an older copy of it. at is where the pointer to the leaf stands in the file.
type astray struct {
	at          int64
	leaf, older uint64
}

// withOlderCopy has one of the sessions remember another request, and returns the file with an older copy of its leaf that
// lacks it. Such a copy stands in the file only up to the next commit, which may take its page, and not where the newest
// commit has split the leaf.
func withOlderCopy(t *testing.T, s *Store, path string, content map[string]*content) (ref storage.Ref, request string, found astray) {
	t.Helper()
	for id, c := range content {
		request := id + "-more"
		d := storagetest.Next(c.row).Text("more").Remember(request)
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
		read := readContent(t, s, id, append(slices.Collect(maps.Keys(c.requests)), request))
		require.Empty(t, read.errs)
		*c = read.content
		i := newImage(t, path, requestsOf(content))
		require.False(t, i.meta.HasFreelist())
		ref := storage.RefOf(c.row)
		header, _, err := incarnation(&transaction{disk: i.disk(), sealed: true}, ref)
		require.NoError(t, err)
		branches, _ := i.treePages(t)
		for _, branch := range branches {
			if found, ok := i.olderBelow(branch, requestKey(header.ordinal, request)); ok {
				return ref, request, found
			}
		}
	}
	require.Fail(t, "no older copy lacks a request")
	return ref, request, found
}

func (i *image) olderBelow(branch uint64, key []byte) (found astray, ok bool) {
	for n := range i.count(branch) {
		leaf := binary.NativeEndian.Uint64(i.pointer(branch, n))
		if i.isBranch(leaf) || !bytes.Contains(i.page(leaf), key) {
			continue
		}
		for older := uint64(2); older < i.meta.End; older++ {
			if i.isLeaf(older) && bytes.Equal(i.firstKey(older), i.firstKey(leaf)) && !bytes.Contains(i.page(older), key) {
				return astray{at: int64(branch)*int64(i.meta.PageSize) + int64(16+16*n+8), leaf: leaf, older: older}, true
			}
		}
	}
	return astray{}, false
}

func (i *image) isLeaf(id uint64) bool {
	return binary.NativeEndian.Uint64(i.page(id)) == id && binary.NativeEndian.Uint16(i.page(id)[8:]) == 2 && i.count(id) > 0
}

func (i *image) firstKey(leaf uint64) []byte {
	element := i.page(leaf)[16:]
	start, size := binary.NativeEndian.Uint32(element[4:]), binary.NativeEndian.Uint32(element[8:])
	return element[min(int(start), len(element)):min(int(start+size), len(element))]
}

func missed[T any](_ T, err error) error { return err }
