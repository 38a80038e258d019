// Package trusted reads files that decide what the daemon does, with which key, or whom it lets in, and tells whether they
// have changed.
package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// ErrExposed says that users who must not can read or change a file.
var ErrExposed = errors.New("too many users can read or change it")

// rule is what the mode of a file must not allow, and whom and what to say otherwise.
type rule struct {
	bits  fs.FileMode
	whom  string
	mends string
}

// Read returns at most this many bytes of a file. It refuses a file that everybody can change, and one that is not
// regular: opening a pipe would wait for a writer. The errors do not name the file.
func Read(path string, limit int64) ([]byte, error) {
	return read(path, limit, rule{0o002, "everybody on this machine can change it", "chmod o-w"})
}

// ReadSecret is Read for a secret that a group may share: it also refuses a file that everybody can read.
func ReadSecret(path string, limit int64) ([]byte, error) {
	return read(path, limit, rule{0o006, "everybody on this machine can read or change it", "chmod o-rw"})
}

// ReadPrivate is Read for a secret of one user: it refuses a file that anybody but its owner can read or change.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	return read(path, limit, rule{0o077, "others than its owner can read or change it", "chmod 600"})
}

func read(path string, limit int64, forbidden rule) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = file.Close() }()
	// The mode of what was opened: the name may mean another file by now.
	if info, err = file.Stat(); err != nil {
		return nil, withoutPath(err)
	}
	// Windows has no such bits and reports all of them as set.
	if mode := info.Mode().Perm(); mode&forbidden.bits != 0 && runtime.GOOS != "windows" {
		return nil, &exposedError{mode, forbidden}
	}
	content, err := io.ReadAll(io.LimitReader(file, limit))
	return content, withoutPath(err)
}

// exposedError is ErrExposed with whom the mode lets in.
type exposedError struct {
	mode fs.FileMode
	rule
}

// Error says whom the mode lets in, and how to mend that.
func (e *exposedError) Error() string {
	return fmt.Sprintf("%s (mode %04o): take that away with %s", e.whom, e.mode, e.mends)
}

// Is reports that the error is ErrExposed.
func (e *exposedError) Is(target error) bool { return target == ErrExposed }

// withoutPath returns the system's error without the path, which who reads a file names.
func withoutPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
