package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/compactord/compactord/storage"
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

// mapError converts bbolt's errors into those of package storage.
func mapError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return storage.ErrClosed
	case errors.Is(err, berrors.ErrDatabaseReadOnly):
		return ErrReadOnly
	case isFull(err):
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	default:
		return err
	}
}

// isFull reports whether a write failed for lack of space before it took effect. An error of the sync itself does not
// count, whatever its number: it is no PathError, and what it leaves on the disk is unknown.
func isFull(err error) bool {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return true
	}
	var path *fs.PathError
	return errors.As(err, &path) &&
		(errors.Is(path.Err, syscall.ENOSPC) || errors.Is(path.Err, syscall.EDQUOT) || errors.Is(path.Err, syscall.EFBIG))
}

// recovered returns the error for a panic: of ours, or of bbolt, which asserts what it reads from the disk.
func recovered(r any) error {
	if c, ok := r.(*corruption); ok {
		return c
	}
	return corrupt("%v", r)
}
