package boltstore

import (
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// listedPages is the most free pages whose list is written with each commit. A longer list would make commits slow; the
// next opening then looks for the free pages itself, as after a power failure.
const listedPages = 16384

// makeReady makes a file one that bbolt opens without reading it: it has a list of free pages that can be trusted.
// bbolt would look for the free pages itself, in a goroutine in which a damaged page ends the process.
func makeReady(file *os.File, timeout time.Duration) error {
	if err := lock(file, timeout); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil
	}
	snapshot, err := newestSnapshot(file)
	if err != nil {
		return err
	}
	// What this version cannot read is not changed.
	if _, err := stateOf(&transaction{disk: snapshot.WithoutList(), sealed: true}); err != nil {
		return err
	}
	if snapshot.HasSealedList() {
		return nil
	}
	used := snapshot.Used()
	if snapshot.HasList() && used.Whole() && snapshot.CheckFreelist(used) == nil {
		return nil
	}
	return snapshot.WriteList(file, used)
}

func newestSnapshot(file *os.File) (*pages.Snapshot, error) {
	meta, err := pages.NewestMeta(file)
	if err != nil && isOfDisk(err) {
		return nil, storage.NewDiskError(err)
	}
	if err != nil {
		return nil, corrupt("%v", err)
	}
	return pages.Stored(file, meta), nil
}

// limitList decides before a commit whether it writes the list of free pages.
func (s *Store) limitList() {
	stats := s.db.Stats()
	s.db.NoFreelistSync = stats.FreePageN+stats.PendingPageN > listedPages
}

// sealList seals the list of free pages that the last commit wrote, and forgets that these pages were sound. An error
// only makes the next opening slower.
func (s *Store) sealList() {
	known := false
	_ = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			disk := begin(tx, s.has).disk
			s.has.sound.Committed(disk)
			known = true
			if seal, at := disk.ListSeal(); seal != nil {
				_, err := s.file.WriteAt(seal, at)
				return err
			}
			return nil
		})
	})
	if !known {
		s.has.sound.Forget()
	}
}
