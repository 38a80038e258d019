package config

import (
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// checkDatabase returns what is wrong with the settings of a store in a database, or with those that only such a store has.
func (c *Config) checkDatabase(from Sources) (problems []error) {
	refuse := func(flag, why string) { problems = append(problems, fmt.Errorf("%s: %s", from.Of(flag), why)) }
	if !api.IsDatabase(c.Store) {
		if c.Migrate {
			refuse("migrate", "only a store in a PostgreSQL database is migrated: --store postgres://...")
		}
		return problems
	}
	if err := api.CheckDatabase(c.Store); err != nil {
		refuse("store", err.Error())
	}
	const unencrypted = "a store in PostgreSQL is not encrypted by compactord yet: encrypt the disk of the database"
	if c.StoreKeys != "" {
		refuse("store-keys", unencrypted)
	}
	if c.StoreKeysEnv != "" {
		refuse("store-keys-env", unencrypted)
	}
	if c.OverwriteFreed {
		refuse("overwrite-freed", "only the file of a store is overwritten, and the store is a PostgreSQL database")
	}
	return problems
}
