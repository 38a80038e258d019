package boltstore

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// makeReady makes a file one that bbolt opens without reading it: it has a list of free pages that can be trusted.
// bbolt would look for the free pages itself, in a goroutine in which a damaged page ends the process. It returns how
// many pages are free.
func makeReady(file *os.File, timeout time.Duration, options Options) (free int, err error) {
	if err := lock(file, timeout); err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	if err := ensureList(file, options); err != nil {
		return 0, err
	}
	snapshot, err := newestSnapshot(file)
	if err != nil {
		return 0, err
	}
	return snapshot.FreePages(), nil
}

// storeFile is what ensureList needs of a file.
type storeFile interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}

// ensureList writes the list of free pages where there is none that can be trusted.
func ensureList(file storeFile, options Options) error {
	snapshot, err := newestSnapshot(file)
	if err != nil {
		return err
	}
	// What cannot be read, by this version or with these keys, is not changed.
	if _, err := openableOf(&transaction{disk: snapshot.WithoutList(), sealed: true}, options); err != nil {
		return err
	}
	switch {
	case snapshot.HasSealedList() || snapshot.HasFollowingList():
		return nil
	case options.missing.belongTo(snapshot):
		var damage *pages.DamageError
		if err := snapshot.CompleteList(file, options.missing.pages); errors.As(err, &damage) {
			return unusable(err)
		}
		// Where there was no room for a longer list, the file can be used as it is. It is tried again later.
		return nil
	case options.listLater && snapshot.HasIncompleteList():
		return nil
	case options.listLater:
		return snapshot.WriteIncompleteList(file)
	case snapshot.HasCheckedList():
		return nil
	}
	used := snapshot.Used()
	if err := used.Unread(); err != nil {
		return unusable(err)
	}
	if snapshot.HasList() && used.Whole() && !snapshot.LacksFree() && snapshot.CheckFreelist(used) == nil {
		return nil
	}
	return snapshot.WriteList(file, used)
}

func newestSnapshot(file io.ReaderAt) (*pages.Snapshot, error) {
	meta, err := pages.NewestMeta(file)
	if err != nil {
		return nil, unusable(err)
	}
	return pages.Stored(file, meta), nil
}
