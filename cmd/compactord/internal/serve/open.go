package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
)

// opened is the store that a daemon serves.
type opened struct {
	storage.Store
	// file is nil where the store is a database.
	file *boltstore.Store
	keys *keyring.Ring
	// spent is the file of what tenants have used of the models today.
	spent spentFile
}

// open opens the store.
func (c *Command) open(ctx context.Context, logger *slog.Logger) (*opened, error) {
	if api.IsDatabase(c.Store) {
		return c.openDatabase(ctx)
	}
	// Create only the folder of the default: another path may be a typing error.
	if c.Store == api.DefaultStore() {
		if err := os.MkdirAll(filepath.Dir(c.Store), 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the folder of the store: %w", err)
		}
	}
	report := storeFileReports(ctx, logger, c.Store)
	keys, err := c.Keys()
	if err != nil {
		return nil, terminal.Usagef("the keys of the store: %w", err)
	}
	store, err := api.OpenStore(c.Store, boltstore.Options{
		Reserve: deletionReserve, ReadOnlyFallback: true, Keys: keys, Migrating: reportMigration(ctx, logger, c.Store),
		OverwriteFreed: c.OverwriteFreed, Erased: reportErased(ctx, logger), ListFreeLater: true,
		FreeSearched: reportFree(ctx, logger),
	})
	if err != nil {
		return nil, err
	}
	report()
	for _, damage := range store.DamagedHeaders() {
		logger.WarnContext(ctx, "a header of the store was damaged; the other one is used, and nothing is missing",
			"store", c.Store, "damage", damage)
	}
	return &opened{Store: store, file: store, keys: keys, spent: spentBeside(c.Store)}, nil
}

// openDatabase opens a store in a database. The settings are checked already.
func (c *Command) openDatabase(ctx context.Context) (*opened, error) {
	// What tenants have used is counted by each daemon, and those of one machine differ in their addresses.
	folder := filepath.Dir(api.DefaultStore())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the daemon's own files: %w", err)
	}
	address := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:/\`, r) {
			return '_'
		}
		return r
	}, c.Listen)
	store, err := api.OpenDatabase(ctx, c.Store, c.Migrate)
	if err != nil {
		return nil, err
	}
	return &opened{Store: store, spent: spentBeside(filepath.Join(folder, address))}, nil
}
