package boltstore

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// Opening returns the name of this opening of the file.
func (s *Store) Opening() string { return s.opening }

// Abandoned returns the sessions with running compactions of other openings. The lock on the file ensures that all
// other openings have ended.
func (s *Store) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	var found []storage.Ref
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		prefix := []byte{byte(byRunning)}
		cursor := tx.Bucket(byTimeBucket).Cursor()
		for key, id := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, id = cursor.Next() {
			l, _, err := splitListingKey(key, false)
			if err != nil {
				return corrupt("bucket %s: %v", byTimeBucket, err)
			}
			value := tx.Bucket(sessionsBucket).Get(sessionKey(l.tenant, string(id)))
			if value == nil {
				return corrupt("bucket %s lists a session that does not exist", byTimeBucket)
			}
			_, encoding, err := splitRow(value)
			if err != nil {
				return err
			}
			row, err := decodeSession(encoding)
			if err != nil {
				return err
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
