//go:build linux || darwin || freebsd

package boltstore

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FreeSpace returns how many bytes the file system of the store has left for this process.
func (s *Store) FreeSpace() (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(s.path), &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}
