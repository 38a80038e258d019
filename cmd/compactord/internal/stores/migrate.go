package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/postgres"
)

// Migrate is `compactord migrate`.
type Migrate struct {
	Store  string `default:"${default_store}" env:"COMPACTORD_STORE" help:"URL of the database." placeholder:"URL" type:"store"`
	Status bool   `help:"Change nothing, and say which version the schema has."`
	JSON   bool   `help:"Print one JSON document." name:"json"`
}

// Help is printed below the flags.
func (c *Migrate) Help() string {
	return `It makes the tables of compactord in a PostgreSQL database, or brings them to the version of this program. There is no way back
but a backup made before. Several at once do no harm: each step is made once. Connect to the database itself, and not through a
pool in transaction mode. The password comes from PGPASSWORD or the file of PGPASSFILE. With --status it fails where
the version is another one.`
}

// migrated is the document of `migrate --json`.
type migrated struct {
	Store string `json:"store"`
	// Version is that of the schema, and Wanted that of the program.
	Version int64 `json:"version"`
	Wanted  int64 `json:"wanted"`
	// Made are the versions that this run has made.
	Made []int64 `json:"made"`
}

// Run migrates.
func (c *Migrate) Run(ctx context.Context, a *api.App) error {
	if !api.IsDatabase(c.Store) {
		return terminal.Usagef("name a PostgreSQL database with --store postgres://...: the file of a store needs no migration")
	}
	if err := api.CheckDatabase(c.Store); err != nil {
		return terminal.Usagef("%w", err)
	}
	m := migrated{Store: c.Store, Wanted: postgres.Version, Made: []int64{}}
	var err error
	if !c.Status {
		var made []int64
		if made, err = postgres.Migrate(ctx, c.Store); err == nil {
			m.Made = append(m.Made, made...)
		}
	}
	if err == nil {
		m.Version, err = postgres.Status(ctx, c.Store)
	}
	switch {
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	case postgres.Code(err) == postgres.NoRights && !c.Status:
		return terminal.Advise(fmt.Errorf("the role cannot make the tables in the database %s: %w", c.Store, err),
			"Migrate as the role that owns the tables, or that may make tables in the schema.")
	case err != nil:
		return api.ExplainDatabase(c.Store, err)
	}
	if err := c.report(a, m); err != nil {
		return err
	}
	if m.Version != m.Wanted {
		return api.ExplainDatabase(c.Store, &postgres.SchemaError{Found: m.Version, Wanted: m.Wanted})
	}
	return nil
}

func (c *Migrate) report(a *api.App, m migrated) error {
	if c.JSON {
		return terminal.PrintJSON(a.Out, m)
	}
	what := "already has"
	switch {
	case m.Version != m.Wanted:
		what = fmt.Sprintf("needs version %d and has", m.Wanted)
	case len(m.Made) > 0:
		what = "now has"
	}
	fmt.Fprintf(a.Out, "%s %s version %d of the schema.\n", terminal.Printable(m.Store), what, m.Version)
	return nil
}
