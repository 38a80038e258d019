package api

import (
	"fmt"
	"os"
	"runtime"

	boltstore "github.com/compactord/compactord/storage/bolt"
)

// forOthers are the bits of a mode that let other users read or change a file.
const forOthers = 0o077

// OpenToOthers reports whether other users can open the file of a store, which a new one does not allow, and its mode.
func OpenToOthers(path string) (mode string, open bool) {
	info, err := os.Stat(path)
	// Windows has no such bits and reports all of them as set.
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" {
		return "", false
	}
	return fmt.Sprintf("%04o", info.Mode().Perm()), info.Mode().Perm()&forOthers != 0
}

// OpenStore opens the store of a command, and says so where other users can open it, too. Of a file that cannot be opened, only
// the reason matters.
func (a *App) OpenStore(path string, options boltstore.Options) (*boltstore.Store, error) {
	store, err := OpenStore(path, options)
	if err == nil {
		a.WarnOfOthers(path)
	}
	return store, err
}

// WarnOfOthers says so where other users can open the store of a command.
func (a *App) WarnOfOthers(path string) {
	if mode, open := OpenToOthers(path); open {
		a.Warn(fmt.Sprintf("other users can open the store %s (mode %s): chmod 600 takes that away", path, mode))
	}
}
