// Package stores has the commands on the file of a store as a whole: copies of it, and the room that it takes.
package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// standard is the name of a file that means standard input or output.
const standard = terminal.StandardInput

// at are the flags of a command on one store.
type at struct {
	Store string `default:"${default_store}" env:"COMPACTORD_STORE" help:"The store (default: ${default})." placeholder:"PATH" type:"store"`
	JSON  bool   `help:"Print one JSON document." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
	api.StoreKeys
}

// open opens a store for reading. No daemon may have it open.
func open(a *api.App, path string, keys api.StoreKeys) (*boltstore.Store, error) {
	if path == "" {
		return nil, errUnnamed()
	}
	if err := api.RefuseDatabase(path); err != nil {
		return nil, err
	}
	if !api.Exists(path) {
		return nil, fmt.Errorf("there is no store %s", path)
	}
	ring, err := keys.Ring()
	if err != nil {
		return nil, err
	}
	return a.OpenStore(path, boltstore.Options{ReadOnly: true, Keys: ring})
}

func errUnnamed() error {
	return terminal.Usagef("name a store with --store: there is no default without a home folder")
}

// ended returns the error of a run: that Ctrl-C has ended it, or what to do about a damaged store.
func ended(ctx context.Context, store string, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	case errors.Is(err, storage.ErrCorrupt):
		return terminal.Advise(err, "What is damaged: %s\nTo copy the rest: %s",
			terminal.Command("check"), terminal.Command("salvage", store, "NEW"))
	default:
		return err
	}
}

// syncFolder waits until the name of a new file is on the disk.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// megabytes is a size for people.
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
