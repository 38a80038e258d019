package api

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/keyring"
	"github.com/compactord/compactord/storage/postgres"
)

// IsDatabase reports whether the name of a store is the URL of a PostgreSQL database, and not the path of a file.
func IsDatabase(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// Stores reads the values of flags that name a store: the path of a file, which it makes absolute, or the URL of a database.
// Such a flag has the type "store".
func Stores() kong.Option {
	return kong.NamedMapper("store", kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var name string
		if err := ctx.Scan.PopValueInto("store", &name); err != nil {
			return err
		}
		if name != "" && !IsDatabase(name) {
			name = kong.ExpandPath(name)
		}
		target.SetString(name)
		return nil
	}))
}

// errPassword is an error about a URL with a password, which the list of processes, logs and settings would show.
var errPassword = errors.New("a password does not belong in the URL of a store: put it into PGPASSWORD, or into a file that PGPASSFILE names")

// CheckDatabase returns an error for the URL of a database with a password.
func CheckDatabase(store string) error {
	u, err := url.Parse(store)
	if err != nil {
		// The error quotes the URL.
		return errors.New("the URL of the store cannot be read")
	}
	_, given := u.User.Password()
	if given || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return errPassword
	}
	return nil
}

// errKeys is an error about keys for a database.
var errKeys = errors.New("a store in PostgreSQL is not encrypted by compactord yet: leave --store-keys and --store-keys-env out, and encrypt the disk of the database")

// OpenDatabase opens the store in a PostgreSQL database. Its errors say what to do.
func OpenDatabase(ctx context.Context, store string, migrate bool) (*postgres.Store, error) {
	return openDatabase(ctx, store, postgres.Options{URL: store, Migrate: migrate})
}

// OpenDatabaseAlone opens the store in a database that no other process has open, to copy all of it or to fill it.
func OpenDatabaseAlone(ctx context.Context, store string) (*postgres.Store, error) {
	return openDatabase(ctx, store, postgres.Options{URL: store, Exclusive: true})
}

func openDatabase(ctx context.Context, store string, options postgres.Options) (*postgres.Store, error) {
	if err := CheckDatabase(store); err != nil {
		return nil, terminal.Usagef("%w", err)
	}
	s, err := postgres.Open(ctx, options)
	if err != nil {
		return nil, ExplainDatabase(store, err)
	}
	return s, nil
}

// ExplainUnfinished returns the error for a store that lacks a part of what it is to be a copy of, with what to do.
func ExplainUnfinished(store string) error {
	return terminal.Advise(fmt.Errorf("cannot open the store %s: %w", store, storage.ErrUnfinished),
		"To copy the rest: %s", terminal.Command("store", "copy", "FROM", store))
}

// ExplainDatabase adds to an error of a database which one it is, and what to do.
func ExplainDatabase(store string, err error) error {
	named := fmt.Errorf("cannot open the store %s: %w", store, err)
	var schema *postgres.SchemaError
	var disk *storage.DiskError
	switch {
	case postgres.Code(err) == postgres.NoRights:
		return terminal.Advise(fmt.Errorf("the role lacks rights in the database %s: %w", store, err),
			"The owner of the tables has to grant them: see \"Start\" in %s", terminal.Command("help", "scaling"))
	case errors.As(err, &disk) && disk.Cause == storage.DiskUnreachable:
		return terminal.Advise(fmt.Errorf("cannot reach the database %s: %w", store, disk.Err), toReach(disk.Err))
	case postgres.Code(err) == postgres.NoDatabase:
		return terminal.Advise(fmt.Errorf("cannot reach the database %s: %w", store, err), toReach(err))
	case errors.Is(err, storage.ErrUnfinished):
		return ExplainUnfinished(store)
	case errors.Is(err, postgres.ErrInUse):
		return terminal.Advise(named, "While a store is copied, nothing else has it open: stop the daemons and commands on it, or wait for "+
			"the copying to end.\nOne that was killed counts for 30 seconds.")
	case !errors.As(err, &schema):
		return named
	case schema.Newer():
		return terminal.Advise(named, "Use a version of compactord that knows it.")
	default:
		return terminal.Advise(named, "To make the tables, as the role that owns them: %s\nOr start the daemon as that role, with --migrate.",
			terminal.Command("migrate", "--store", store))
	}
}

// toReach returns what to do where a database cannot be reached.
func toReach(err error) string {
	switch code := postgres.Code(err); {
	case code == postgres.NoDatabase:
		return "Make the database, for example with createdb, or name another one in the URL or with PGDATABASE."
	case code == postgres.NotAuthorized:
		return "The server does not let the role in: check that it exists and may connect from here with this sslmode. The URL or PGUSER names it."
	case code == postgres.WrongPassword:
		return "Check the password of the role: it comes from PGPASSWORD, or from the file that PGPASSFILE names (~/.pgpass)."
	case code != "":
		return "The server runs, but does not take the connection now: try again later."
	case strings.Contains(err.Error(), "tls"):
		return "Check how the server speaks TLS: sslmode in the URL says what is wanted (disable, require, verify-full), and " +
			"sslrootcert which certificates are trusted."
	default:
		return "Check that the server runs, and its host and port: they are in the URL, or in PGHOST and PGPORT."
	}
}

// RefuseDatabase returns an error for a command that works on the file of a store, and is given a database.
func RefuseDatabase(store string) error {
	if !IsDatabase(store) {
		return nil
	}
	return terminal.Usagef("this command works on the file of a store, and the store is a PostgreSQL database, which has tools of its own, such as pg_dump")
}

// embedDatabase starts the service in this process, on the store in a database, for the sessions of a tenant.
func (a *App) embedDatabase(ctx context.Context, store string, keys *keyring.Ring, owner string) (*Client, error) {
	if keys != nil {
		return nil, terminal.Usagef("%w", errKeys)
	}
	s, err := OpenDatabase(ctx, store, false)
	if err != nil {
		return nil, err
	}
	return a.embedOn(ctx, quietly{s}, owner)
}
