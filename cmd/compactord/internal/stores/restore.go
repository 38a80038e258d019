package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/backup"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
)

// Restore is `compactord restore`.
type Restore struct {
	From string `arg:"" help:"Backup to read; - is standard input." placeholder:"FILE"`
	at
	Force bool `help:"Replace a store that is there. All that it holds is lost."`
}

// Help is printed below the flags.
func (c *Restore) Help() string {
	return `The store that a backup holds becomes the one that --store names. It takes its place only once the whole backup was read and
its checksum is right. No daemon may have the store open. Compactions that ran when the backup was made are shown as abandoned.
For a backup of an encrypted store it needs the keys of that time, and the store becomes an encrypted one.`
}

// restored is the document of `restore --json`.
type restored struct {
	Store    string    `json:"store"`
	Sessions int       `json:"sessions"`
	Bytes    int64     `json:"bytes"`
	Created  time.Time `json:"created"`
}

// Run restores.
func (c *Restore) Run(ctx context.Context, a *api.App) error {
	if c.Store == "" {
		return errUnnamed()
	}
	if err := api.RefuseDatabase(c.Store); err != nil {
		return err
	}
	keys, err := c.Ring()
	if err != nil {
		return err
	}
	release, err := c.claim(a, keys)
	if err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	p.Stage("reading the backup", "bytes", 0)
	held, err := c.restore(ctx, a, keys, p)
	if err = errors.Join(err, release()); err != nil {
		if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
			return terminal.ErrInterrupted
		}
		return fmt.Errorf("cannot restore %s: %w", c.From, err)
	}
	p.Clear()
	if c.JSON {
		return terminal.PrintJSON(a.Out, restored{Store: c.Store, Sessions: held.Sessions, Bytes: held.Bytes, Created: held.Created})
	}
	fmt.Fprintf(a.Out, "%s: %s, as of %s.\n", terminal.Printable(c.Store), terminal.Count(held.Sessions, "session"),
		held.Created.Format(time.RFC3339))
	return nil
}

// claim makes sure that the place of the store is free, or holds a store that may be replaced and that nobody has open until
// release is called.
func (c *Restore) claim(a *api.App, keys *keyring.Ring) (release func() error, err error) {
	switch {
	case !api.Exists(c.Store):
		return func() error { return nil }, nil
	case !c.Force:
		return nil, terminal.Advise(fmt.Errorf("there is a store %s already", c.Store),
			"To lose all that it holds: %s", terminal.Again("--force"))
	}
	there, err := a.OpenStore(c.Store, boltstore.Options{ReadOnly: true, Damaged: true, Keys: keys})
	switch {
	case err == nil:
		return there.Close, nil
	case errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, boltstore.ErrNewer):
		// It is damaged, which is why it is replaced.
		return func() error { return nil }, nil
	default:
		return nil, err
	}
}

// restore writes the store beside its place, and puts it there.
func (c *Restore) restore(
	ctx context.Context, a *api.App, keys *keyring.Ring, p *terminal.Progress,
) (held backup.Contents, err error) {
	in := a.Stdin
	if c.From != standard {
		file, err := os.Open(c.From)
		if err != nil {
			return backup.Contents{}, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	to, err := os.CreateTemp(filepath.Dir(c.Store), filepath.Base(c.Store)+".restore-*")
	if err != nil {
		return backup.Contents{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	held, err = backup.Read(terminal.NewInput(ctx, in, p), to)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return backup.Contents{}, err
	}
	// A store that this program cannot read replaces none.
	store, err := api.OpenStore(to.Name(), boltstore.Options{ReadOnly: true, Keys: keys})
	if err != nil {
		return backup.Contents{}, err
	}
	if err := store.Close(); err != nil {
		return backup.Contents{}, err
	}
	if err := os.Rename(to.Name(), c.Store); err != nil {
		return backup.Contents{}, err
	}
	return held, syncFolder(filepath.Dir(c.Store))
}
