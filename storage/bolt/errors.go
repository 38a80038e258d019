package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// Errors of this backend.
var (
	// ErrInUse means that another process has the store open.
	ErrInUse = errors.New("store is in use by another process")
	// ErrNewer means that a newer version of the program wrote the store. It wraps storage.ErrCorrupt.
	ErrNewer = fmt.Errorf("%w: written by a newer version", storage.ErrCorrupt)
	// ErrReadOnly means that the store was opened for reading only.
	ErrReadOnly = errors.New("store is open for reading only")
)

// VersionError is ErrNewer with the versions.
type VersionError struct {
	// Found is the version of the store, and Newest the newest one that this program reads.
	Found, Newest uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: store version %d, this program reads up to %d", ErrNewer, e.Found, e.Newest)
}
func (*VersionError) Unwrap() error { return ErrNewer }

// errOtherFormat is a file whose format is of another version than bbolt's. There has been no earlier one.
var errOtherFormat = fmt.Errorf("%w: the format of its file", ErrNewer)

// mapError converts bbolt's errors into those of package storage.
func mapError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return storage.ErrClosed
	case errors.Is(err, berrors.ErrDatabaseReadOnly):
		return ErrReadOnly
	case errors.Is(err, berrors.ErrMaxSizeReached):
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case isOfDisk(err):
		return storage.NewDiskError(err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		// bbolt compares the version before the checksum. Whole headers of another version are errOtherFormat.
		return unusable(pages.ErrNoHeader)
	case strings.HasPrefix(err.Error(), "file size too small"):
		// bbolt keeps only this text.
		return forms.Damaged("it is too short for a store")
	default:
		return err
	}
}

// errFallen is the error of writes while the file is open for reading, since its file system is read-only.
var errFallen = storage.NewDiskError(fmt.Errorf("it is open for reading only until its file system can be written: %w", syscall.EROFS))

// isReadOnly reports whether a file system refused a write since it is read-only.
func isReadOnly(err error) bool {
	var disk *storage.DiskError
	return errors.As(err, &disk) && disk.Cause == storage.DiskReadOnly
}

// isOfDisk reports whether the system refused to read, write or grow the file. bbolt keeps only the text of the last. An
// error of a sync is a mere number, and not one of these: what it leaves on the disk is unknown.
func isOfDisk(err error) bool {
	var path *fs.PathError
	if errors.As(err, &path) {
		return storage.IsDiskError(path.Err)
	}
	return strings.HasPrefix(err.Error(), "file resize error: ")
}

// recovered returns the error for a panic: of ours, or of bbolt, which asserts what it reads from the disk.
func recovered(r any) error {
	switch r := r.(type) {
	case *forms.DamageError:
		return r
	case *storage.DiskError:
		return r
	case *pages.DamageError:
		return unusable(r)
	case *pages.ReadError:
		return unusable(r)
	}
	if f := faultOf(r); f != nil {
		return f
	}
	return forms.Damaged("%v", r)
}
