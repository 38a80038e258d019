package api

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/compactord/compactord/service/access"
)

// folders are temporary folders. They are removed however the process ends.
type folders struct {
	mu    sync.Mutex
	paths map[string]bool
}

// Make creates a folder that only this user can read, in another one, or in the system's if that is empty.
func (f *folders) Make(in string) (path string, remove func() error, err error) {
	path, err = os.MkdirTemp(in, "compactord-")
	if err != nil {
		return "", nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paths == nil {
		f.paths = make(map[string]bool)
	}
	f.paths[path] = true
	return path, func() error { return f.remove(path) }, nil
}

func (f *folders) remove(path string) error {
	f.mu.Lock()
	delete(f.paths, path)
	f.mu.Unlock()
	return os.RemoveAll(path)
}

// RemoveAll removes the remaining folders, when the process ends without closing its clients.
func (f *folders) RemoveAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path := range f.paths {
		_ = os.RemoveAll(path)
	}
}

// MissingFolder returns the first folder on the way to a file that is not there; empty where all are.
func MissingFolder(file string) string {
	missing := ""
	for folder := filepath.Dir(file); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = folder
		if folder == filepath.Dir(folder) {
			return missing
		}
	}
}

// DefaultStore returns the path of the daemon's default store. It is empty where the user has no home folder.
func DefaultStore() string {
	folder := access.StateFolder()
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "compactord.db")
}
