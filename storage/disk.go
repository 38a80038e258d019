package storage

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// ErrDisk means that the disk, the file system or the database under a store failed. Every DiskError is one.
var ErrDisk = errors.New("the disk failed")

// ErrLost means that the store can neither be read nor written any more, and not be opened again in this process. What
// was acknowledged before is as safe as the file is.
var ErrLost = errors.New("the store is lost")

// DiskCause is why the disk, or the database in its place, refuses.
type DiskCause string

// The causes.
const (
	// DiskFull means that the file system has no space left.
	DiskFull DiskCause = "disk_full"
	// QuotaUsedUp means that the user's quota is used up.
	QuotaUsedUp DiskCause = "quota"
	// FileTooLarge means that a limit on the size of a file is reached.
	FileTooLarge DiskCause = "file_too_large"
	// DiskLow means that there is room, but less than must stay free. No system says so: the daemon itself refuses.
	DiskLow DiskCause = "disk_low"
	// DiskReadOnly means that the file system can only be read, as some become after an error.
	DiskReadOnly DiskCause = "read_only"
	// DiskUnreachable means that the database of the store does not answer, or not in time. What was to be written may or may
	// not be there.
	DiskUnreachable DiskCause = "unreachable"
	// DiskBroken means any other error of the disk.
	DiskBroken DiskCause = "io"
)

// DiskCauses returns all causes.
func DiskCauses() []DiskCause {
	return []DiskCause{DiskFull, QuotaUsedUp, FileTooLarge, DiskLow, DiskReadOnly, DiskUnreachable, DiskBroken}
}

// diskCauses are the causes of errors of the system. Where an error has several, the last one counts: those for lack of
// room say that nothing was written, and come first.
var diskCauses = []struct {
	number syscall.Errno
	cause  DiskCause
}{
	{syscall.ENOSPC, DiskFull},
	{syscall.EDQUOT, QuotaUsedUp},
	{syscall.EFBIG, FileTooLarge},
	{syscall.EROFS, DiskReadOnly},
	{syscall.EIO, DiskBroken},
}

// DiskError is an error of the disk or the file system under a store.
type DiskError struct {
	Cause DiskCause
	Err   error
}

// NewDiskError returns an error of the disk with its cause. Some libraries keep only the text of the system's error.
func NewDiskError(err error) *DiskError {
	e := &DiskError{Cause: DiskBroken, Err: err}
	for _, known := range diskCauses {
		if errors.Is(err, known.number) || strings.HasSuffix(err.Error(), ": "+known.number.Error()) {
			e.Cause = known.cause
		}
	}
	return e
}

// IsDiskError reports whether an error is one by which a system says that a disk refuses.
func IsDiskError(err error) bool {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return false
	}
	for _, known := range diskCauses {
		if number == known.number {
			return true
		}
	}
	return false
}

// Error returns the cause and the system's error.
func (e *DiskError) Error() string {
	if e.Cause == DiskUnreachable {
		return fmt.Sprintf("the database does not serve (%s): %v", e.Cause, e.Err)
	}
	return fmt.Sprintf("%s (%s): %v", ErrDisk, e.Cause, e.Err)
}

// Unwrap returns the system's error.
func (e *DiskError) Unwrap() error { return e.Err }

// Full reports whether there is no room. Such an error leaves the store as it was.
func (e *DiskError) Full() bool {
	return e.Cause == DiskFull || e.Cause == QuotaUsedUp || e.Cause == FileTooLarge || e.Cause == DiskLow
}

// Is reports whether target is ErrDisk, or ErrFull where there is no room.
func (e *DiskError) Is(target error) bool {
	return target == ErrDisk || target == ErrFull && e.Full()
}

// Outage is a time in which writes fail.
type Outage struct {
	// Err is why they fail; nil once they succeed again.
	Err error
	// Since is when they began to fail.
	Since time.Time
	// Lost reports that they fail for ever, and reads as well.
	Lost bool
}

// Fallible is a Store that says when its writes begin to fail, and when they succeed again.
type Fallible interface {
	// WatchOutages calls fn with each outage when it begins, when the store is lost and when it ends, in this order, and
	// at once with one that is there already. fn must not wait, and must not call the store.
	WatchOutages(fn func(Outage))
}

// Folder is the path of a folder on a disk.
type Folder string
