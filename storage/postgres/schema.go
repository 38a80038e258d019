package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Version is the version of the schema that this program reads and writes: the number of its newest migration.
const Version = 4

// versionTable has a row for each migration that was made.
const versionTable = "compactord_schema"

// migrationLock is the number of the advisory lock that a migration holds, so that there is one at a time.
const migrationLock = 0x636f6d7061637464

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaError means that the schema of a database is not that of this program.
type SchemaError struct {
	// Found is the version of the schema, 0 where there is none, and Wanted that of the program.
	Found, Wanted int64
}

func (e *SchemaError) Error() string {
	switch {
	case e.Found == 0:
		return "the database has no tables of compactord yet"
	case e.Found < e.Wanted:
		return fmt.Sprintf("the database has version %d of the schema, and this program needs version %d", e.Found, e.Wanted)
	default:
		return fmt.Sprintf("a newer program has brought the database to version %d of the schema, and this one knows version %d",
			e.Found, e.Wanted)
	}
}

// Newer reports whether a newer program wrote the schema.
func (e *SchemaError) Newer() bool { return e.Found > e.Wanted }

// checkSchema returns a SchemaError where the schema is not that of this program.
func checkSchema(ctx context.Context, conn *pgx.Conn) error {
	found, err := schemaVersion(ctx, conn)
	if err == nil && found != Version {
		err = &SchemaError{Found: found, Wanted: Version}
	}
	return err
}

// schemaVersion returns the version of a database's schema; 0 where there is none.
func schemaVersion(ctx context.Context, conn *pgx.Conn) (version int64, err error) {
	err = conn.QueryRow(ctx, versionSQL).Scan(&version)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == undefinedTable {
		return 0, nil
	}
	return version, err
}

// Status returns the version of the schema of a database; 0 where it has none.
func Status(ctx context.Context, url string) (version int64, err error) {
	config, err := poolConfig(url)
	if err != nil {
		return 0, err
	}
	return status(ctx, config.ConnConfig)
}

func status(ctx context.Context, config *pgx.ConnConfig) (version int64, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, faultOf(err, true).err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	version, err = schemaVersion(ctx, conn)
	if f := faultOf(err, conn.IsClosed()); f != nil {
		return 0, f.err
	}
	return version, nil
}

// Migrate brings the schema of a database to the version of this program, and returns the versions that it made. Others
// that do the same at the same time wait. It returns a SchemaError for a newer schema.
func Migrate(ctx context.Context, url string) (made []int64, err error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	return migrate(ctx, config.ConnConfig)
}

// migrate makes the migrations that a schema lacks, each in a transaction of its own.
func migrate(ctx context.Context, config *pgx.ConnConfig) (made []int64, err error) {
	found, err := status(ctx, config)
	if err != nil {
		return nil, err
	}
	if found > Version {
		return nil, &SchemaError{Found: found, Wanted: Version}
	}
	config = config.Copy()
	// A migration of much data takes its time.
	config.RuntimeParams["statement_timeout"], config.RuntimeParams["lock_timeout"] = "0", "60s"
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	// It is tried every second, for five minutes.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLock), lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps,
		goose.WithSessionLocker(locker), goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	results, err := provider.Up(ctx)
	for _, r := range results {
		made = append(made, r.Source.Version)
	}
	if err != nil {
		return made, migrationError(err)
	}
	return made, nil
}

// migrationError returns the error of a migration without what the server may have quoted.
func migrationError(err error) error {
	var answer *pgconn.PgError
	var connecting *pgconn.ConnectError
	if errors.As(err, &answer) || errors.As(err, &connecting) {
		return fmt.Errorf("cannot migrate the schema: %w", faultOf(err, true).err)
	}
	return fmt.Errorf("cannot migrate the schema: %w", err)
}
