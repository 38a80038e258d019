//go:build unix

package boltstore

import (
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another one.
func keepOwner(of os.FileInfo, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	wanted, known := of.Sys().(*syscall.Stat_t)
	if !ok || !known || is.Uid == wanted.Uid && is.Gid == wanted.Gid {
		return nil
	}
	return os.Chown(file, int(wanted.Uid), int(wanted.Gid))
}

// hasNames reports whether a file has this many names, or more.
func hasNames(file os.FileInfo, many int) bool {
	info, ok := file.Sys().(*syscall.Stat_t)
	return ok && int(info.Nlink) >= many
}
