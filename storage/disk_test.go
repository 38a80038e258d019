package storage_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
)

// The cause is that of the system's error, also where only its text is left. Of several, the one that claims least about
// what was written counts.
func TestCausesOfDiskErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want storage.DiskCause
		full bool
	}{
		{fmt.Errorf("write: %w", syscall.ENOSPC), storage.DiskFull, true},
		{errors.New("file resize error: truncate /x: " + syscall.EFBIG.Error()), storage.FileTooLarge, true},
		{syscall.EDQUOT, storage.QuotaUsedUp, true},
		{syscall.EROFS, storage.DiskReadOnly, false},
		{syscall.EIO, storage.DiskBroken, false},
		{errors.New("another one"), storage.DiskBroken, false},
		{errors.Join(syscall.ENOSPC, syscall.EIO), storage.DiskBroken, false},
		{errors.Join(syscall.EIO, syscall.EFBIG), storage.DiskBroken, false},
		{errors.Join(syscall.EROFS, syscall.ENOSPC), storage.DiskReadOnly, false},
	} {
		for range 20 {
			got := storage.NewDiskError(c.err)
			require.Equal(t, c.want, got.Cause, c.err)
			require.Equal(t, c.full, errors.Is(got, storage.ErrFull))
			require.ErrorIs(t, got, storage.ErrDisk)
		}
	}
	require.True(t, storage.IsDiskError(fmt.Errorf("read: %w", syscall.EIO)))
	require.False(t, storage.IsDiskError(fmt.Errorf("read: %w", syscall.EACCES)))
}
