package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// everybodyMayWrite is the bit of a mode that lets all users of the machine change a file.
const everybodyMayWrite = 0o002

// readTrusted reads at most this many bytes of a file that decides what the daemon does, or with which key. It refuses
// a file that everybody can change, and one that is not regular: opening a pipe would wait for a writer.
func readTrusted(path string, limit int64) ([]byte, error) {
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
	if mode := info.Mode().Perm(); mode&everybodyMayWrite != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("everybody on this machine can change it (mode %04o): take that away with chmod o-w", mode)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
