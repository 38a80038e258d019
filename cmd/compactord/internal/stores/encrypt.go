package stores

import (
	"context"
	"errors"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// Encrypt is `compactord encrypt`.
type Encrypt struct{ at }

// Help is printed below the flags.
func (c *Encrypt) Help() string {
	return `It writes the store anew beside its file, as compactord defrag does, with all that was said encrypted with the first key that
--store-keys or --store-keys-env gives, and then puts the new file in its place. A store that is encrypted already gets that
key, too, and needs no other one then. The old file is overwritten and removed, and backups stay as they are. No daemon may have
the store open. Where it is interrupted, the store is as it was, or is the new one.`
}

// Run encrypts.
func (c *Encrypt) Run(ctx context.Context, a *api.App) error {
	keys, err := c.Ring()
	if err != nil {
		return err
	}
	if keys == nil {
		return terminal.Usagef("name the keys with --store-keys or --store-keys-env")
	}
	return c.rewrite(ctx, a, func(
		store *boltstore.Store, ctx context.Context, progress func(bytes int64),
	) (boltstore.Copied, error) {
		return store.Encrypt(ctx, keys, progress)
	})
}

// Decrypt is `compactord decrypt`.
type Decrypt struct{ at }

// Help is printed below the flags.
func (c *Decrypt) Help() string {
	return `It writes an encrypted store anew beside its file, without encryption, and then puts the new file in its place. It needs all the keys
of the store. No daemon may have the store open. Where it is interrupted, the store is as it was, or is the new one.`
}

// Run decrypts.
func (c *Decrypt) Run(ctx context.Context, a *api.App) error {
	return c.rewrite(ctx, a, func(
		store *boltstore.Store, ctx context.Context, progress func(bytes int64),
	) (boltstore.Copied, error) {
		if !store.Encrypted() {
			return boltstore.Copied{}, errors.Join(errors.New("it is not encrypted"), store.Close())
		}
		return store.Encrypt(ctx, nil, progress)
	})
}
