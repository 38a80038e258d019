package boltstore

import (
	"bytes"
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// Opening returns the name of this opening of the file.
func (s *Store) Opening() string { return s.opening }

// Abandoned returns the sessions with running compactions of other openings. The lock on the file ensures that all
// other openings have ended.
func (s *Store) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	var found []storage.Ref
	err := s.view(ctx, func(tx *transaction) error {
		prefix := []byte{byte(byRunning)}
		cursor := tx.Bucket(byTimeBucket).Cursor(prefix)
		for key, id := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, id = cursor.Next() {
			l, _, err := splitListingKey(key, false)
			if err != nil {
				return forms.Damaged("bucket %s: %v", byTimeBucket, err)
			}
			exists := true
			var row *storagev1.Session
			damage := tx.guarded(func() (err error) {
				if exists = tx.Bucket(sessionsBucket).has(sessionKey(l.tenant, string(id))); exists {
					row, err = listedRow(tx, l.tenant, string(id))
				}
				return err
			})
			if !exists {
				return forms.Damaged("bucket %s lists a session that does not exist", byTimeBucket)
			}
			if damage != nil {
				continue
			}
			if storage.RunsUnderOther(row, s.opening) {
				found = append(found, storage.RefOf(row))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
