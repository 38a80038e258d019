package api

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
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

// DefaultStore returns the path of the daemon's default store, under $XDG_STATE_HOME or the system's equivalent. It is
// empty where the user has no home folder.
func DefaultStore() string {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		base = stateHome()
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "compactord", "compactord.db")
}

func stateHome() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		// These systems have no folder for state beside the one for settings.
		folder, err := os.UserConfigDir()
		if err != nil {
			return ""
		}
		return folder
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}
