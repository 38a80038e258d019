package stores

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/transfer"
)

// Group is `compactord store`.
type Group struct {
	Copy Copy `cmd:"" help:"Copy all sessions from one store to another, such as from a file to a PostgreSQL database."`
}

// Copy is `compactord store copy`.
type Copy struct {
	From  string `arg:"" help:"Store to copy: the path of a file, or the URL of a PostgreSQL database. It is only read." placeholder:"PATH|URL" type:"store"`
	To    string `arg:"" help:"Store to fill. A file is made where there is none." placeholder:"PATH|URL" type:"store"`
	JSON  bool   `help:"Print one JSON document." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
	api.StoreKeys
}

// Help is printed below the flags.
func (c *Copy) Help() string {
	return `It copies all sessions of all tenants between the file of a store and a PostgreSQL database, in either direction: logs, labels,
remembered requests, and the ids by which clients know what they have, so that their tokens of views stay valid. Then it reads both
stores and compares all that they hold. No daemon may have either store open; one that was killed is taken for dead after 30
seconds. The target is empty, or holds the same already. Where the copying is interrupted, no daemon opens the target, and the
same command goes on. A new database needs compactord migrate first. The keys are those of the file: of an encrypted one
that is read, and of a new one that becomes encrypted. In a database compactord encrypts nothing.`
}

// copied is the document of `store copy --json`.
type copied struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Sessions int    `json:"sessions"`
	// Copied are how many of the sessions this run has written. The others were there.
	Copied   int   `json:"copied"`
	Messages int64 `json:"messages"`
}

// Run copies.
func (c *Copy) Run(ctx context.Context, a *api.App) error {
	keys, err := c.keysOfFiles()
	if err != nil {
		return err
	}
	if !api.Exists(c.From) {
		return fmt.Errorf("there is no store %s", c.From)
	}
	if c.same() {
		return terminal.Usagef("FROM and TO are the same store")
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	done, err := c.copy(ctx, a, keys, p)
	if err != nil {
		return c.explain(ctx, err)
	}
	p.Clear()
	if c.JSON {
		return terminal.PrintJSON(a.Out, copied{
			From: c.From, To: c.To, Sessions: done.Sessions, Copied: done.Copied, Messages: done.Messages,
		})
	}
	fmt.Fprintf(a.Out, "%s holds the same as %s: %s with %s. This run has copied %s.\n", terminal.Printable(c.To),
		terminal.Printable(c.From), terminal.Count(done.Sessions, "session"), terminal.Count(int(done.Messages), "message"), terminal.Count(done.Copied, "session"))
	return nil
}

// keysOfFiles returns the keys of the stores in files; nil where none are named.
func (c *Copy) keysOfFiles() (*keyring.Ring, error) {
	keys, err := c.Ring()
	if err == nil && keys != nil && api.IsDatabase(c.From) && api.IsDatabase(c.To) {
		return nil, terminal.Usagef("keys are for the file of a store, and both stores are databases, which compactord does not encrypt")
	}
	return keys, err
}

// same reports whether both arguments name one store, as far as one can tell.
func (c *Copy) same() bool {
	from, fromErr := os.Stat(c.From)
	to, toErr := os.Stat(c.To)
	return c.From == c.To || fromErr == nil && toErr == nil && os.SameFile(from, to)
}

func (c *Copy) copy(ctx context.Context, a *api.App, keys *keyring.Ring, p *terminal.Progress) (done transfer.Done, err error) {
	from, err := c.open(ctx, a, c.From, boltstore.Options{ReadOnly: true, Keys: keys})
	if err != nil {
		return transfer.Done{}, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	// A copy that has not ended holds a part of something else.
	switch receiving, err := from.Receiving(ctx); {
	case err != nil:
		return transfer.Done{}, err
	case receiving:
		return transfer.Done{}, api.ExplainUnfinished(c.From)
	}
	to, err := c.open(ctx, a, c.To, boltstore.Options{Receiving: true, Keys: keys})
	if err != nil {
		return transfer.Done{}, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	step := transfer.Step("")
	return transfer.Copy(ctx, from, to, func(now transfer.Step, done, total int64) {
		if now != step {
			step = now
			p.Stage(string(now)+" "+terminal.Count(int(total), "message"), "messages", total)
		}
		p.Update(done)
	})
}

// open opens a store that nobody else has open.
func (c *Copy) open(ctx context.Context, a *api.App, name string, options boltstore.Options) (storage.Receiver, error) {
	if api.IsDatabase(name) {
		return api.OpenDatabaseAlone(ctx, name)
	}
	return a.OpenStore(name, options)
}

// explain says what to do about an error.
func (c *Copy) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	case errors.Is(err, transfer.ErrOther):
		return terminal.Advise(fmt.Errorf("cannot copy into %s: %w", c.To, err), "Nothing was changed. Name an empty store.")
	case errors.Is(err, storage.ErrCorrupt) && !api.IsDatabase(c.From):
		return ended(ctx, c.From, fmt.Errorf("cannot copy %s: %w", c.From, err))
	default:
		return fmt.Errorf("cannot copy %s: %w", c.From, err)
	}
}
