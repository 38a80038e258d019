package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/postgres"
)

// Check is `compactord check`.
type Check struct {
	Store string `default:"${default_store}" env:"COMPACTORD_STORE" help:"Store to check (default: ${default})." placeholder:"PATH|URL" type:"store"`
	JSON  bool   `help:"Print one JSON document: problems, each with session, tenant and what, and the version of the store." name:"json"`
	Quiet bool   `help:"Print no progress on stderr." short:"q"`
	api.StoreKeys
}

// Help is printed below the flags.
func (c *Check) Help() string {
	return `It reads the whole store, with the sessions of all tenants, and changes nothing. No daemon may have the file of a store open: stop the daemon first, or check a copy. Daemons may go on with a database. Of an encrypted store it needs the keys.`
}

// Run checks.
func (c *Check) Run(ctx context.Context, a *api.App) (err error) {
	if c.Store == "" {
		return terminal.Usagef("name a store with --store: there is no default without a home folder")
	}
	if api.IsDatabase(c.Store) {
		return c.checkDatabase(ctx, a)
	}
	if !api.Exists(c.Store) {
		return fmt.Errorf("there is no store %s", c.Store)
	}
	keys, err := c.Ring()
	if err != nil {
		return err
	}
	store, err := a.OpenStore(c.Store, boltstore.Options{ReadOnly: true, Damaged: true, Keys: keys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := a.Progress(c.Quiet)
	defer p.Clear()
	problems, err := examine(ctx, store, p)
	if err := unchecked(ctx, err); err != nil {
		return err
	}
	p.Clear()
	return c.report(a, checked{store.Version(), store.Encrypted()}, problems)
}

// checkDatabase checks the logs in a database, whose structure it checks itself. Daemons may go on.
func (c *Check) checkDatabase(ctx context.Context, a *api.App) (err error) {
	if c.StoreKeys != (api.StoreKeys{}) {
		return terminal.Usagef("a store in PostgreSQL has no keys: leave --store-keys and --store-keys-env out")
	}
	store, err := api.OpenDatabase(ctx, c.Store, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := a.Progress(c.Quiet)
	defer p.Clear()
	p.Stage("checking the logs", "", 0)
	problems, err := sessionlog.CheckAll(ctx, store)
	if err := unchecked(ctx, err); err != nil {
		return err
	}
	p.Clear()
	return c.report(a, checked{version: postgres.Version}, problems)
}

// unchecked returns the error of a check that did not come to its end.
func unchecked(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	case err != nil:
		return fmt.Errorf("cannot check the store to its end: %w", err)
	default:
		return nil
	}
}

// checked is what the report says of a store that was checked.
type checked struct {
	version   uint32
	encrypted bool
}

// examine checks the structure of the file first. It checks the logs only if the structure is sound.
func examine(ctx context.Context, store *boltstore.Store, p *terminal.Progress) ([]storage.Problem, error) {
	p.Stage("checking the file", "", 0)
	problems, err := store.CheckStructure(ctx)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	p.Stage("checking the logs", "", 0)
	return sessionlog.CheckAll(ctx, store)
}

// problemJSON is one problem in the document of `check --json`.
type problemJSON struct {
	Session string `json:"session,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	What    string `json:"what"`
}

func (c *Check) report(a *api.App, store checked, problems []storage.Problem) error {
	list := make([]problemJSON, len(problems))
	for i, found := range problems {
		list[i] = problemJSON{found.SessionID, found.Tenant, found.What}
	}
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, map[string]any{
			"problems": list, "version": store.version, "encrypted": store.encrypted,
		}); err != nil {
			return err
		}
	} else {
		for _, found := range list {
			if found.Session != "" {
				fmt.Fprintf(a.Out, "session %s: ", nameOf(found.Tenant, found.Session))
			}
			fmt.Fprintln(a.Out, terminal.Printable(found.What))
		}
	}
	switch {
	case len(problems) > 0:
		return fmt.Errorf("%s found in %s", terminal.Count(len(problems), "problem"), c.Store)
	case !c.JSON:
		form := "plain"
		if store.encrypted {
			form = "encrypted"
		}
		fmt.Fprintf(a.Out, "%s is sound. Its version is %d, %s.\n", c.Store, store.version, form)
	}
	return nil
}

// nameOf names a session for people. Most stores have only the default tenant, which is not named.
func nameOf(owner, session string) string {
	if owner == tenant.Default {
		return terminal.Printable(session)
	}
	return terminal.Printable(session) + " of tenant " + terminal.Printable(owner)
}
