//go:build !windows && !plan9 && !solaris && !aix && !android

package boltstore

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a lock is tried again.
const lockPoll = 10 * time.Millisecond

// lock takes the lock on the file that bbolt takes too. It belongs to the open file, so bbolt gets it at once.
func lock(file *os.File, timeout time.Duration) error {
	for start := time.Now(); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case time.Since(start) >= timeout:
			return ErrInUse
		}
	}
}
