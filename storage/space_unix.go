//go:build linux || darwin || freebsd

package storage

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes the file system of the folder has left for this process.
func (f Folder) FreeSpace() (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(string(f), &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}
