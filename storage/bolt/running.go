package boltstore

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// Opening names this opening of the file.
func (s *Store) Opening() string { return s.opening }

// Abandoned returns the sessions in which compactions of other openings are running. The lock on the file makes this the
// only opening that is not over.
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
				return corrupt("bucket %s lists a session that is not there", byTimeBucket)
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
