// Package trusted reads files that decide what the daemon does, with which key, or whom it lets in.
package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

const (
	// everybodyMayWrite is the bit of a mode that lets all users of the machine change a file.
	everybodyMayWrite = 0o002
	// everybodyMayRead is the bit that lets all of them read it.
	everybodyMayRead = 0o004
)

// Read returns at most this many bytes of a file. It refuses a file that everybody can change, and one that is not
// regular: opening a pipe would wait for a writer.
func Read(path string, limit int64) ([]byte, error) {
	return read(path, limit, func(mode fs.FileMode) error {
		if mode&everybodyMayWrite != 0 {
			return fmt.Errorf("everybody on this machine can change it (mode %04o): take that away with chmod o-w", mode)
		}
		return nil
	})
}

// ReadSecret is Read for a secret that is of no use once others know it: it also refuses a file that everybody can read.
func ReadSecret(path string, limit int64) ([]byte, error) {
	return read(path, limit, func(mode fs.FileMode) error {
		if mode&(everybodyMayRead|everybodyMayWrite) != 0 {
			return fmt.Errorf("everybody on this machine can read or change it (mode %04o): take that away with chmod o-rw", mode)
		}
		return nil
	})
}

func read(path string, limit int64, check func(fs.FileMode) error) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	// The mode of what was opened: the name may mean another file by now.
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	// Windows has no such bits and reports all of them as set.
	if runtime.GOOS != "windows" {
		if err := check(info.Mode().Perm()); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
