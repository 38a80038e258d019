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
	"github.com/compactord/compactord/storage/backup"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// Backup is `compactord backup`.
type Backup struct {
	To   string `arg:"" help:"File to make, which must not exist; - writes to standard output." placeholder:"FILE"`
	Addr string `env:"COMPACTORD_ADDR" help:"Address of the daemon whose store to copy (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	api.Security
	Store string `help:"Copy this store, which no daemon has open." placeholder:"PATH" type:"store"`
	JSON  bool   `help:"Print one JSON document." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
	api.StoreKeys
}

// Help is printed below the flags.
func (c *Backup) Help() string {
	return `It copies all sessions of all tenants as they are at one moment, and checks each value on the way. A daemon takes calls
meanwhile, and needs a token with the role admin. A plain copy of the file of a store that a daemon has open is most likely
damaged: use this instead. The backup ends with a checksum, and compactord restore takes none that is damaged or incomplete: to try a backup, restore it into a new store, and check that.
Of an encrypted store the backup is encrypted, with the key that seals at that time; with --store it needs the keys.`
}

// Run makes the backup.
func (c *Backup) Run(ctx context.Context, a *api.App) error {
	switch {
	case c.To == standard && a.OutTerminal:
		return terminal.Usagef("a backup is no text for a terminal: name a file, or send the output elsewhere")
	case c.To == standard && c.JSON:
		return terminal.Usagef("--json: standard output has the backup itself")
	case c.To != standard && api.Exists(c.To):
		return fmt.Errorf("%s exists already: a backup makes a new file", c.To)
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	made, err := c.make(ctx, a, p)
	if err != nil {
		return ended(ctx, c.Store, err)
	}
	p.Clear()
	switch {
	case c.To == standard:
		return nil
	case c.JSON:
		return terminal.PrintJSON(a.Out, made)
	default:
		fmt.Fprintf(a.Out, "%s: %s, %s, SHA-256 %s.\n", terminal.Printable(c.To), terminal.Count(made.Sessions, "session"),
			megabytes(made.Bytes), made.SHA256)
		fmt.Fprintf(a.Out, "To make a store of it, which reads and checks the whole: %s\n",
			a.Hinted(terminal.Command("restore", c.To, "--store", "NEW.db").But("store")))
		return nil
	}
}

// make makes the backup where it is wanted.
func (c *Backup) make(ctx context.Context, a *api.App, p *terminal.Progress) (backup.Contents, error) {
	switch {
	case c.Store == "":
		return c.ofDaemon(ctx, a, p)
	case a.Given["addr"]:
		return backup.Contents{}, terminal.Usagef("--addr and --store exclude each other: a daemon has its own store")
	}
	store, err := open(a, c.Store, c.StoreKeys)
	if err != nil {
		return backup.Contents{}, err
	}
	var made backup.Contents
	if c.To == standard {
		made, err = c.stream(ctx, a, store, p)
	} else {
		made, err = c.inParts(func(part string) (backup.Contents, error) {
			copied, err := c.copy(ctx, store, part, p)
			if err != nil {
				return backup.Contents{}, err
			}
			return complete(part, copied.Sessions)
		})
	}
	return made, errors.Join(err, store.Close())
}

// inParts has a file written under another name until it is complete.
func (c *Backup) inParts(write func(part string) (backup.Contents, error)) (backup.Contents, error) {
	part := c.To + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return backup.Contents{}, err
	}
	made, err := write(part)
	if err == nil {
		err = os.Rename(part, c.To)
	}
	if err != nil {
		if removeErr := os.Remove(part); !errors.Is(removeErr, os.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
		return backup.Contents{}, err
	}
	return made, syncFolder(filepath.Dir(c.To))
}

func (c *Backup) copy(ctx context.Context, store *boltstore.Store, path string, p *terminal.Progress) (boltstore.Copied, error) {
	_, inUse, err := store.Size(ctx)
	if err != nil {
		return boltstore.Copied{}, err
	}
	p.Stage("copying "+megabytes(inUse), "bytes", inUse)
	return store.Copy(ctx, path, p.Update)
}

// complete reads the copy of a store from the disk again, and makes it a backup.
func complete(path string, sessions int) (made backup.Contents, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return backup.Contents{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if made, err = backup.Complete(file, sessions, time.Now().Truncate(time.Second)); err == nil {
		err = file.Sync()
	}
	return made, err
}

// stream writes a backup to standard output, from a copy in the folder for temporary files.
func (c *Backup) stream(
	ctx context.Context, a *api.App, store *boltstore.Store, p *terminal.Progress,
) (made backup.Contents, err error) {
	folder, remove, err := a.Temporary.Make("")
	if err != nil {
		return backup.Contents{}, fmt.Errorf("cannot make a folder for the copy: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	path := filepath.Join(folder, "copy.db")
	copied, err := c.copy(ctx, store, path, p)
	if err != nil {
		return backup.Contents{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return backup.Contents{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	p.Clear()
	return backup.Write(a.Out, terminal.NewInput(ctx, file, nil), copied.Sessions, time.Now().Truncate(time.Second))
}
