package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
)

// Salvage is `compactord salvage`.
type Salvage struct {
	From  string `arg:"" help:"Damaged store. It is only read." type:"store"`
	To    string `arg:"" help:"Store to make. It must not exist." type:"store"`
	JSON  bool   `help:"Print one JSON document: sessions, each with what was taken over, and damage." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
	api.StoreKeys

	keys *keyring.Ring
}

// Help is printed below the arguments.
func (c *Salvage) Help() string {
	return `It copies every session of all tenants that can be read: the whole, or its log up to the first damage. What is lost is listed. Of a
file that was cut short, or that cannot be opened, it reads all pages one by one, and needs room beside the new store for
what they hold. No daemon may have the store open. The exit code is 0 if all was copied, and 4 if only a part was. Answers to requests that
were already made are not copied: one that is sent again is carried out again. Of an encrypted store it needs the keys, and with
keys it makes an encrypted store.`
}

// salvagedJSON is a session in the document of `salvage --json`.
type salvagedJSON struct {
	Session  string `json:"session"`
	Tenant   string `json:"tenant,omitempty"`
	Whole    bool   `json:"whole"`
	Messages uint32 `json:"messages"`
	Of       uint32 `json:"of,omitempty"`
	Lost     string `json:"lost,omitempty"`
}

// Run copies.
func (c *Salvage) Run(ctx context.Context, a *api.App) (err error) {
	if err := errors.Join(api.RefuseDatabase(c.From), api.RefuseDatabase(c.To)); err != nil {
		return err
	}
	if !api.Exists(c.From) {
		return fmt.Errorf("there is no store %s", c.From)
	}
	if api.Exists(c.To) {
		return fmt.Errorf("%s exists already: salvage makes a new store", c.To)
	}
	if c.keys, err = c.Ring(); err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	from, err := c.open(ctx, a, p)
	if err != nil {
		return c.interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, from.close()) }()
	to, err := api.MakeStore(c.To, c.keys)
	if err != nil {
		// An empty file would refuse the next attempt.
		if api.Exists(c.To) {
			err = errors.Join(err, os.Remove(c.To))
		}
		return err
	}
	sessions, damage, err := c.copy(ctx, from.Store, to, p)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(c.interrupted(ctx, err), os.Remove(c.To))
	}
	p.Clear()
	return c.report(a, sessions, append(from.damage, damage...))
}

// interrupted returns the error of a run that Ctrl-C has ended, or else err.
func (*Salvage) interrupted(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
		return terminal.ErrInterrupted
	}
	return err
}

// source is the store that is copied.
type source struct {
	*boltstore.Store
	// damage is what is known to be wrong with it as a whole.
	damage []string
	// remove removes a store that was made for the copying; nil where there is none.
	remove func() error
}

func (s *source) close() error {
	err := s.Close()
	if s.remove != nil {
		err = errors.Join(err, s.remove())
	}
	return err
}

// open opens the damaged store. Where pages that lead to others are lost, since the file is cut short or cannot be opened,
// it makes a store of what the single pages hold.
func (c *Salvage) open(ctx context.Context, a *api.App, p *terminal.Progress) (*source, error) {
	a.WarnOfOthers(c.From)
	from, err := c.openAsItIs()
	if err == nil {
		if err = from.Incomplete(); err == nil {
			return &source{Store: from}, nil
		}
		// Rebuilding takes the lock on the file.
		if err := from.Close(); err != nil {
			return nil, err
		}
	}
	if !errors.Is(err, storage.ErrCorrupt) {
		return nil, err
	}
	rebuilt, rebuildErr := c.rebuild(ctx, a, p)
	if rebuildErr != nil {
		return nil, rebuildErr
	}
	if rebuilt == nil {
		from, err := c.openAsItIs()
		return &source{Store: from}, err
	}
	rebuilt.damage = append([]string{err.Error(), "the sessions were put together from single pages: " +
		"of some the last changes may be missing, and some may have been deleted"}, rebuilt.damage...)
	return rebuilt, nil
}

func (c *Salvage) openAsItIs() (*boltstore.Store, error) {
	return api.OpenStore(c.From, boltstore.Options{ReadOnly: true, Damaged: true, Keys: c.keys})
}

// rebuild makes a store beside the new one; nil where no session was found.
func (c *Salvage) rebuild(ctx context.Context, a *api.App, p *terminal.Progress) (found *source, err error) {
	p.Stage("reading the pages", "", 0)
	folder, remove, err := a.Temporary.Make(filepath.Dir(c.To))
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder beside the new store: %w", err)
	}
	defer func() {
		if found == nil {
			err = errors.Join(err, remove())
		}
	}()
	path := filepath.Join(folder, "rebuilt.db")
	sessions, damage, err := boltstore.Rebuild(ctx, c.From, path, c.keys)
	if err != nil || sessions == 0 {
		return nil, err
	}
	store, err := api.OpenStore(path, boltstore.Options{ReadOnly: true, Keys: c.keys})
	if err != nil {
		return nil, err
	}
	return &source{Store: store, damage: damage, remove: remove}, nil
}

// copy copies one session after the other.
func (c *Salvage) copy(
	ctx context.Context, from, to *boltstore.Store, p *terminal.Progress,
) (sessions []salvagedJSON, damage []string, err error) {
	names, damage, err := from.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.Stage("copying the sessions", "sessions", int64(len(names)))
	for i, name := range names {
		found, err := sessionlog.Salvage(ctx, from, to, name.Tenant, name.SessionID)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot copy session %q: %w", name.SessionID, err)
		}
		each := salvagedJSON{
			Session: name.SessionID, Tenant: name.Tenant, Whole: found.Lost == nil, Messages: found.Messages, Of: found.Of,
		}
		if found.Lost != nil {
			each.Lost = lostBy(found.Lost)
		}
		sessions = append(sessions, each)
		p.Update(int64(i + 1))
	}
	return sessions, damage, nil
}

// lostBy says what is damaged, without the session's name.
func lostBy(err error) string {
	var named *storage.DamagedError
	if errors.As(err, &named) {
		return named.Cause.Error()
	}
	return err.Error()
}

func (c *Salvage) report(a *api.App, sessions []salvagedJSON, damage []string) error {
	whole := 0
	for _, each := range sessions {
		if each.Whole {
			whole++
		}
	}
	if c.JSON {
		if sessions == nil {
			sessions = []salvagedJSON{}
		}
		if damage == nil {
			damage = []string{}
		}
		if err := terminal.PrintJSON(a.Out, map[string]any{"sessions": sessions, "damage": damage}); err != nil {
			return err
		}
	} else {
		for _, each := range sessions {
			if !each.Whole {
				fmt.Fprintf(a.Out, "session %s: %s\n", nameOf(each.Tenant, each.Session), each.loss())
			}
		}
		for _, what := range damage {
			fmt.Fprintln(a.Out, terminal.Printable(what))
		}
		fmt.Fprintf(a.Out, "%d of %s copied whole to %s.\n", whole, terminal.Count(len(sessions), "session"), c.To)
	}
	if whole < len(sessions) || len(damage) > 0 {
		return terminal.PartError{What: "only a part of " + c.From + " could be read"}
	}
	return nil
}

// loss says what was lost of a session.
func (s salvagedJSON) loss() string {
	lost := terminal.Printable(s.Lost)
	if s.Of == 0 && s.Messages == 0 {
		return "lost: " + lost
	}
	return fmt.Sprintf("%d of %s copied: %s", s.Messages, terminal.Count(int(s.Of), "message"), lost)
}
