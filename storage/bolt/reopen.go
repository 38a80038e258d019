package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// settle brings the store back to a known state after a sync of a header has failed: the kernel may have dropped what
// it could not write, so that another sync would succeed without it. It writes the headers that readers see once more,
// and opens the file again, since bbolt counts pages as free that readers of the transaction before may still read.
func (s *Store) settle() error {
	if s.fallen {
		if err := s.checkWritable(); err != nil {
			return err
		}
		s.reopening = true
	}
	if int64(s.unsettled) > s.acknowledged.Load() {
		if err := s.rewriteHeaders(); err != nil {
			return unknown(err)
		}
		// It is on the disk now, together with its pages, which were synced before.
		s.acknowledged.Store(int64(s.unsettled))
		s.reopening = true
	}
	if !s.reopening {
		return s.lost()
	}
	if err := s.reopen(); err != nil {
		if lost := s.lost(); lost != nil {
			return lost
		}
		return storage.NewDiskError(err)
	}
	s.reopening = false
	if s.fallen {
		return errFallen
	}
	return nil
}

// unknown returns the error of a write that readers see, but that may not be on the disk. An error for lack of room would
// say that nothing was written.
func unknown(err error) error {
	if errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	var disk *storage.DiskError
	if !errors.As(err, &disk) {
		disk = storage.NewDiskError(err)
	}
	if !disk.Full() {
		return disk
	}
	return &storage.DiskError{
		Cause: storage.DiskBroken, Err: fmt.Errorf("the last write is seen, and may not be on the disk: %w", disk.Err),
	}
}

// checkWritable returns the error of writes while the file system is still read-only.
func (s *Store) checkWritable() error {
	file, err := s.options.open(s.path, os.O_RDWR, 0)
	if err != nil {
		return storage.NewDiskError(err)
	}
	return file.Close()
}

// rewriteHeaders writes the two headers of the file as they are, and syncs them.
func (s *Store) rewriteHeaders() error {
	headers := make([]byte, 2*s.pageSize)
	if _, err := s.file.ReadAt(headers, 0); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(headers, 0); err != nil {
		return err
	}
	return s.file.Sync()
}

// unreadable returns the error of a read while the file is closed.
func (s *Store) unreadable() error {
	if now := s.outages.current().Err; now != nil {
		return now
	}
	return storage.ErrDisk
}

// open opens the file.
func (o Options) open(name string, flag int, mode os.FileMode) (*os.File, error) {
	if o.openFile != nil {
		return o.openFile(name, flag, mode)
	}
	return os.OpenFile(name, flag, mode)
}

// errReplaced means that another file has the store's name.
var errReplaced = errors.New("another file has its name")

// reopen closes the file and opens it again. Readers wait meanwhile. It fails for now, or else the store is lost:
// where the file is another one, is damaged, or lacks what was acknowledged.
func (s *Store) reopen() error {
	// It reads the file that is closed now.
	s.search.end()
	if err := s.reopenFile(); err != nil {
		return err
	}
	known := s.search.missing
	s.search.found, s.search.missing = nil, nil
	return s.searchFree(known)
}

func (s *Store) reopenFile() error {
	s.readers.Lock()
	defer s.readers.Unlock()
	if s.db != nil {
		// Its errors would be those of a file that is not used any more.
		_ = s.db.Close()
		s.db = nil
	}
	db, file, fallen, err := s.openAgain()
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errReplaced), errors.Is(err, ErrInUse), errors.Is(err, storage.ErrCorrupt):
		return s.lose("it cannot be opened again: %w", err)
	default:
		return err
	}
	if fallen || s.fallen {
		// What was open for reading only is made ready to be written now.
		options := s.optionsNow()
		options.Damaged = false
		if s.has, err = prepare(db, s.path, options, 0); err != nil {
			err = errors.Join(err, db.Close())
			if errors.Is(err, storage.ErrCorrupt) {
				return s.lose("it cannot be opened again: %w", err)
			}
			return err
		}
	}
	s.db, s.file, s.fallen = db, file, fallen
	switch err := s.noteNewest(); {
	case errors.Is(err, storage.ErrCorrupt):
		return s.lose("it cannot be opened again: %w", err)
	default:
		return err
	}
}

// noteNewest notes the transaction that a file which was just opened ends with. Of its pages none is known to be sound yet.
func (s *Store) noteNewest() error {
	s.has.sound = nil
	var last int
	var sound *pages.Sound
	err := s.guarded(func(begun func(*bbolt.Tx)) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			begun(tx)
			disk := begin(tx, s.has).disk
			// What the opening itself has written may be damaged already.
			if err := disk.CheckNewest(); err != nil && !s.options.Damaged {
				return unusable(err)
			}
			last, sound = tx.ID(), pages.NewSound(disk)
			s.freeUnknown.Store(disk.LacksFree())
			return nil
		})
	})
	if err != nil {
		return err
	}
	if before := s.acknowledged.Load(); int64(last) < before {
		return s.lose("transaction %d was acknowledged, and the file ends with %d", before, last)
	}
	s.acknowledged.Store(int64(last))
	if s.has.sums {
		s.has.sound = sound
	}
	return nil
}

// optionsNow are those with which the file was opened, and the keys that it has now.
func (s *Store) optionsNow() Options {
	options := s.options
	options.missing = s.search.missing
	if keys := s.keys.Load(); keys != nil {
		options.Keys = keys
	}
	return options
}

// openAgain opens the file that was open before, and no other one.
func (s *Store) openAgain() (db *bbolt.DB, file *os.File, fallen bool, err error) {
	if _, err := checkLength(s.path); err != nil {
		return nil, nil, false, err
	}
	options := s.optionsNow()
	options.openFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		// Without O_CREATE: an empty file in place of the store would look like a new one.
		file, err := s.options.open(name, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		now, err := file.Stat()
		if err == nil && !os.SameFile(s.identity, now) {
			err = errReplaced
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
	db, file, fallen, err = openOrFall(s.path, options)
	if s.fallen && errors.Is(err, ErrInUse) {
		// Another process reads it too.
		options.ReadOnly = true
		db, file, err = openBolt(s.path, options)
		fallen = true
	}
	return db, file, fallen, err
}

// checkWhole returns an error where the file has become shorter than what was written to it. What is written then would
// be as lost as what is missing.
func (s *Store) checkWhole(tx *bbolt.Tx) error {
	info, err := s.file.Stat()
	if err != nil {
		return storage.NewDiskError(err)
	}
	if info.Size() < tx.Size() {
		return errCut(info)
	}
	return nil
}

// checkPlace gives the store up where its file has been removed, or another one has its name: the next start would find
// nothing of what is written from now on.
func (s *Store) checkPlace() error {
	there, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.lose("its file was removed: %w", err)
	case err == nil && !os.SameFile(s.identity, there):
		return s.lose("%w", errReplaced)
	}
	// Whether a file that nothing is known about can be written, the write shows.
	return nil
}

// errCut is the error of a file that somebody else has made shorter.
func errCut(info os.FileInfo) error {
	return storage.NewDiskError(fmt.Errorf("the file was cut to %d bytes by somebody else", info.Size()))
}

// fault is a read of the mapped file that the system refused.
type fault struct{ addr uintptr }

func (f *fault) Error() string { return fmt.Sprintf("%s: a page cannot be read", storage.ErrCorrupt) }

// Is makes a fault count as damage as long as nothing else is known of it.
func (f *fault) Is(target error) bool { return target == storage.ErrCorrupt }

// faultOf returns the fault that a panic reports; nil for any other panic.
func faultOf(r any) *fault {
	var addressed interface{ Addr() uintptr }
	if err, ok := r.(runtime.Error); ok && errors.As(err, &addressed) {
		return &fault{addr: addressed.Addr()}
	}
	return nil
}

// explained returns the true cause of a fault: an error of the disk where the page is within the file, which begins at
// mapped in memory. What is behind its end is damage.
func (s *Store) explained(err error, mapped uintptr) error {
	var f *fault
	if !errors.As(err, &f) || s.file == nil {
		return err
	}
	info, statErr := s.file.Stat()
	if statErr != nil {
		return storage.NewDiskError(statErr)
	}
	if mapped == 0 || f.addr < mapped {
		return err
	}
	offset := int64(f.addr - mapped)
	if offset >= info.Size() {
		// No write would do now.
		s.outages.begins(errCut(info), false)
		return forms.Damaged("the file ends at byte %d, and byte %d is needed", info.Size(), offset)
	}
	if _, readErr := s.file.ReadAt(make([]byte, 1), offset); readErr != nil {
		return storage.NewDiskError(readErr)
	}
	// It can be read now: the disk has failed in between.
	return storage.NewDiskError(fmt.Errorf("%w at byte %d of the file", syscall.EIO, offset))
}
