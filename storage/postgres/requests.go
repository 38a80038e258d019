package postgres

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// requests returns the remembered requests that a statement reads.
func (s *Store) requests(
	ctx context.Context, ref storage.Ref, statement string, args pgx.NamedArgs,
) (list []storage.Request, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	maps.Copy(args, refArgs(ref))
	var ids []string
	var found []stored
	exists := false
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		ids, found, exists = nil, nil, false
		rows, err := conn.Query(ctx, statement, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, body []byte
			var revision *int64
			if err := rows.Scan(&id, &revision, &body); err != nil {
				return err
			}
			exists = true
			if revision != nil {
				ids, found = append(ids, string(id)), append(found, stored{number: *revision, body: body})
			}
		}
		return rows.Err()
	})
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, storage.ErrNotFound
	}
	for i, b := range found {
		encoding, err := b.encoding(ref, requestBody)
		if err != nil {
			return nil, err
		}
		request, err := forms.Request(encoding)
		if err != nil {
			return nil, err
		}
		list = append(list, storage.Request{ID: ids[i], Stored: request})
	}
	return list, nil
}
