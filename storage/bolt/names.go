package boltstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/compactord/compactord/storage"
)

// Names returns the names of all sessions of all tenants, without uids, as far as the file can be read: from the rows,
// and from the listing for those whose rows are damaged. damage is what was damaged on the way.
func (s *Store) Names(ctx context.Context) (names []storage.Ref, damage []string, err error) {
	found := map[storage.Ref]bool{}
	err = s.view(ctx, func(tx *transaction) error {
		damage = tx.damagedWhole()
		note := func(err error) { damage = append(damage, cause(err)) }
		sessions, times := &bucket{tx: tx, name: sessionsBucket}, &bucket{tx: tx, name: byTimeBucket}
		tx.disk.Each(string(sessionsBucket), func(key, value []byte) {
			tenant, id, err := splitSessionKey(key)
			if err == nil {
				err = sessions.checkKey(key, value)
			}
			if err != nil {
				note(err)
				return
			}
			found[storage.Ref{Tenant: tenant, SessionID: id}] = true
		}, note)
		tx.disk.Each(string(byTimeBucket), func(key, value []byte) {
			l, _, err := splitListingKey(key, false)
			if err == nil {
				value, err = times.open(key, value)
			}
			if err != nil {
				note(err)
				return
			}
			found[storage.Ref{Tenant: l.tenant, SessionID: string(value)}] = true
		}, note)
		return nil
	})
	for name := range found {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b storage.Ref) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.SessionID, b.SessionID))
	})
	return names, damage, err
}
