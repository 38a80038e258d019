package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// Salvage is `compactord salvage`.
type Salvage struct {
	From  string `arg:"" help:"Damaged store. It is only read." type:"path"`
	To    string `arg:"" help:"Store to make. It must not exist." type:"path"`
	JSON  bool   `help:"Print one JSON document: sessions, each with what was taken over, and damage." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
}

// Help is printed below the arguments.
func (c *Salvage) Help() string {
	return `It copies every session that can be read: the whole, or its log up to the first damage. What is lost is listed. No
daemon may have the store open. The exit code is 0 if all was copied, and 4 if only a part was. Answers to requests that
were already made are not copied: one that is sent again is carried out again.`
}

// salvagedJSON is a session in the document of `salvage --json`.
type salvagedJSON struct {
	Session  string `json:"session"`
	Whole    bool   `json:"whole"`
	Messages uint32 `json:"messages"`
	Of       uint32 `json:"of,omitempty"`
	Lost     string `json:"lost,omitempty"`
}

// Run copies.
func (c *Salvage) Run(ctx context.Context, a *api.App) (err error) {
	if !api.Exists(c.From) {
		return fmt.Errorf("there is no store %s", c.From)
	}
	if api.Exists(c.To) {
		return fmt.Errorf("%s exists already: salvage makes a new store", c.To)
	}
	from, err := api.OpenStore(c.From, boltstore.Options{ReadOnly: true, Damaged: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := api.MakeStore(c.To)
	if err != nil {
		// An empty file would refuse the next attempt.
		if api.Exists(c.To) {
			err = errors.Join(err, os.Remove(c.To))
		}
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	sessions, damage, err := c.copy(ctx, from, to, p)
	if err = errors.Join(err, to.Close()); err != nil {
		if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
			err = terminal.ErrInterrupted
		}
		return errors.Join(err, os.Remove(c.To))
	}
	p.Clear()
	return c.report(a, sessions, damage)
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
			Session: name.SessionID, Whole: found.Lost == nil, Messages: found.Messages, Of: found.Of,
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
				fmt.Fprintf(a.Out, "session %s: %s\n", terminal.Printable(each.Session), each.loss())
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
