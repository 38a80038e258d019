package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// Defrag is `compactord defrag`.
type Defrag struct{ at }

// Help is printed below the flags.
func (c *Defrag) Help() string {
	return `The file of a store never becomes smaller by itself, and what was deleted can be left in it. This writes the store anew
beside its file, without what is deleted, and then puts the new file in its place. It needs as much room on the disk as the store
has in use, which it says before it begins. The old file is overwritten and removed. No daemon may have the store open. Where it
is interrupted, the store is as it was, or is the new one; the next run, or the next start of the daemon, overwrites what is left.`
}

// defragmented is the document of `defrag --json`.
type defragmented struct {
	Before   int64 `json:"bytes_before"`
	After    int64 `json:"bytes_after"`
	Sessions int   `json:"sessions"`
	// Kept: the old file has another name, and was not overwritten.
	Kept bool `json:"old_file_kept"`
}

// Run writes the store anew.
func (c *Defrag) Run(ctx context.Context, a *api.App) error {
	return c.rewrite(ctx, a, (*boltstore.Store).Defrag)
}

// rewrite has the store written anew.
func (c *at) rewrite(
	ctx context.Context, a *api.App,
	write func(store *boltstore.Store, ctx context.Context, progress func(bytes int64)) (boltstore.Copied, error),
) error {
	store, err := open(a, c.Store, c.StoreKeys)
	if err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	before, inUse, err := store.Size(ctx)
	if err == nil {
		err = enoughSpace(store, inUse)
	}
	if err != nil {
		return errors.Join(ended(ctx, c.Store, err), store.Close())
	}
	p.Stage("writing "+megabytes(inUse)+" anew", "bytes", inUse)
	copied, err := write(store, ctx, p.Update)
	var left *boltstore.LeftError
	if errors.As(err, &left) {
		return terminal.Advise(ended(ctx, c.Store, err), "The next %s, or the next start of the daemon, overwrites it.",
			terminal.Command("defrag"))
	}
	if err != nil {
		return ended(ctx, c.Store, fmt.Errorf("cannot write the store anew: %w", err))
	}
	p.Clear()
	if c.JSON {
		return terminal.PrintJSON(a.Out, defragmented{
			Before: before, After: copied.Bytes, Sessions: copied.Sessions, Kept: copied.Kept,
		})
	}
	fmt.Fprintf(a.Out, "%s: %s before, %s now, with %s.\n", terminal.Printable(c.Store), megabytes(before), megabytes(copied.Bytes),
		terminal.Count(copied.Sessions, "session"))
	if copied.Kept {
		fmt.Fprintln(a.Out, "The old file has another name, so it is left there as it was.")
	}
	return nil
}

// enoughSpace returns an error where the file system has not the room that a copy beside the store needs.
func enoughSpace(store *boltstore.Store, needed int64) error {
	// Where nobody can tell, the copy tells.
	if free, err := store.FreeSpace(); err == nil && free < needed {
		return noSpace(needed, free)
	}
	return nil
}

func noSpace(needed, free int64) error {
	return fmt.Errorf("the copy needs %s of room beside the store, and the disk has %s", megabytes(needed), megabytes(free))
}
