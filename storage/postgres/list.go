package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// listed is a row of a list.
type listed struct {
	tenant, id, uid []byte
	revision        int64
	at              position
	body            []byte
}

// position is where a session stands in a list.
type position struct {
	seconds int64
	nanos   int32
	ordinal int64
}

func (l listed) row() (*storagev1.Session, error) {
	return decodeRow(string(l.tenant), string(l.id), string(l.uid), l.revision, l.body)
}

// collect returns the rows of a list.
func collect(ctx context.Context, conn *pgx.Conn, statement string, args ...any) ([]listed, error) {
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l listed, err error) {
		err = row.Scan(&l.tenant, &l.id, &l.uid, &l.revision, &l.at.ordinal, &l.at.seconds, &l.at.nanos, &l.body)
		return l, err
	})
}

// Sessions returns a page of rows.
func (s *Store) Sessions(ctx context.Context, q storage.SessionQuery) (rows []*storagev1.Session, next string, err error) {
	query, err := newQuery(q)
	if err != nil {
		leave, entering := s.enter(ctx)
		if entering != nil {
			return nil, "", entering
		}
		leave()
		return nil, "", err
	}
	for {
		// One more tells whether there is another page.
		wanted := q.Limit - len(rows) + 1
		var page []listed
		err := s.read(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			page, err = collect(ctx, conn, query.statement, query.arguments(conn, wanted)...)
			return err
		})
		if err != nil {
			return nil, "", err
		}
		for _, l := range page {
			if len(rows) == q.Limit {
				return rows, query.cursor(), nil
			}
			query.after = l.at
			row, err := l.row()
			if err != nil {
				damaged := &storage.DamagedError{Tenant: string(l.tenant), SessionID: string(l.id), Cause: err}
				if q.Damaged == nil {
					return nil, "", damaged
				}
				q.Damaged(damaged)
				continue
			}
			rows = append(rows, row)
		}
		if len(page) < wanted {
			return rows, "", nil
		}
	}
}

// query is a query and how far it has come.
type query struct {
	statement string
	args      pgx.NamedArgs
	// labelled says that sessions must have labels.
	labelled bool
	// digest is a hash of the query, so that a cursor is valid for its query only.
	digest [sha256.Size]byte
	after  position
}

// orders are the columns of the time by which a list is ordered, and those before them in its index, with the values that these
// have at the end of the page before.
var orders = map[storage.SessionOrder]struct{ time, first, firstValue string }{
	storage.ByCreation: {time: "created"},
	storage.ByChange:   {time: "changed", first: "s.changed_span, ", firstValue: "@seconds::bigint >> 5, "},
}

func newQuery(q storage.SessionQuery) (*query, error) {
	order, known := orders[q.Order]
	if q.Limit < 1 || !known {
		return nil, fmt.Errorf("%w: limit %d, order %d", storage.ErrInvalid, q.Limit, q.Order)
	}
	made := &query{
		args:  pgx.NamedArgs{"tenant": []byte(q.Tenant)},
		after: position{math.MaxInt64, math.MaxInt32, math.MaxInt64},
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %d %q", q.Tenant, q.Order, q.Parent)
	sessions := "sessions"
	if q.Parent != "" {
		made.args["parent"] = []byte(q.Parent)
		// OFFSET 0 keeps the planner from walking the sessions of the tenant: a session has few children.
		sessions = "(SELECT * FROM sessions WHERE tenant = @tenant AND parent_uid = @parent OFFSET 0)"
	}
	var labels strings.Builder
	made.labelled = len(q.Labels) > 0
	for i, name := range slices.Sorted(maps.Keys(q.Labels)) {
		nameKey, valueKey := fmt.Sprintf("name%d", i), fmt.Sprintf("value%d", i)
		made.args[nameKey], made.args[valueKey] = []byte(name), []byte(q.Labels[name])
		_, _ = fmt.Fprintf(&labels,
			" AND s.ordinal IN (SELECT l.ordinal FROM labels l WHERE l.tenant = @tenant AND l.name = @%s AND l.value = @%s)", nameKey, valueKey)
		_, _ = fmt.Fprintf(sum, " %q=%q", name, q.Labels[name])
	}
	columns := fmt.Sprintf("%[1]ss.%[2]s_seconds, s.%[2]s_nanos, s.ordinal", order.first, order.time)
	made.statement = strings.NewReplacer(
		"{time}", order.time, "{sessions}", sessions, "{columns}", columns, "{first}", order.firstValue,
		"{labels}", labels.String(), "{descending}", strings.ReplaceAll(columns, ",", " DESC,")+" DESC",
	).Replace(listSQL)
	made.digest = [sha256.Size]byte(sum.Sum(nil))
	return made, made.resume(q.Cursor)
}

// arguments returns those for the next rows, behind how the server is to plan the statement. Hardly a session has one label,
// and nearly all have another: a plan for any label, as that of a prepared statement, would read all sessions for the first.
func (q *query) arguments(conn *pgx.Conn, limit int) []any {
	if q.labelled && conn.Config().DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		return []any{pgx.QueryExecModeCacheDescribe, q.page(limit)}
	}
	return []any{q.page(limit)}
}

// page returns the values for the next rows.
func (q *query) page(limit int) pgx.NamedArgs {
	args := maps.Clone(q.args)
	args["limit"], args["seconds"], args["nanos"], args["ordinal"] = limit, q.after.seconds, q.after.nanos, q.after.ordinal
	return args
}

// A cursor is a version, the position of the last row, and the first bytes of a hash of both and the query's digest.
const (
	cursorVersion = 1
	cursorSize    = 1 + 8 + 4 + 8
	cursorSum     = 8
)

func (q *query) cursor() string {
	b := binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(q.after.seconds))
	b = binary.BigEndian.AppendUint32(b, uint32(q.after.nanos))
	b = binary.BigEndian.AppendUint64(b, uint64(q.after.ordinal))
	return base64.RawURLEncoding.EncodeToString(append(b, q.sum(b)...))
}

func (q *query) sum(b []byte) []byte {
	sum := sha256.Sum256(append(q.digest[:], b...))
	return sum[:cursorSum]
}

var errCursor = errors.New("not a cursor of this list")

func (q *query) resume(cursor string) error {
	if cursor == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != cursorSize+cursorSum || b[0] != cursorVersion || !bytes.Equal(b[cursorSize:], q.sum(b[:cursorSize])) {
		return fmt.Errorf("%w: %w", storage.ErrNotFound, errCursor)
	}
	q.after = position{
		seconds: int64(binary.BigEndian.Uint64(b[1:])),
		nanos:   int32(binary.BigEndian.Uint32(b[9:])),
		ordinal: int64(binary.BigEndian.Uint64(b[13:])),
	}
	return nil
}

// Revisions returns the revisions of sessions, in one statement.
func (s *Store) Revisions(ctx context.Context, refs []storage.Ref) ([]uint32, error) {
	tenants, ids, uids := make([][]byte, len(refs)), make([][]byte, len(refs)), make([][]byte, len(refs))
	for i, ref := range refs {
		tenants[i], ids[i], uids[i] = []byte(ref.Tenant), []byte(ref.SessionID), []byte(ref.UID)
	}
	var revisions []uint32
	err := s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, revisionsSQL, pgx.NamedArgs{"tenants": tenants, "ids": ids, "uids": uids})
		if err != nil {
			return err
		}
		revisions, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (uint32, error) {
			var revision int64
			err := row.Scan(&revision)
			return uint32(revision), err
		})
		return err
	})
	return revisions, err
}

// Children counts the children of a session.
func (s *Store) Children(ctx context.Context, tenant, parentUID string) (count int, err error) {
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, childrenSQL, pgx.NamedArgs{"tenant": []byte(tenant), "parent": []byte(parentUID)}).Scan(&count)
	})
	return count, err
}

// CountSessions counts the sessions of each tenant.
func (s *Store) CountSessions(ctx context.Context) (counts map[string]int, err error) {
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		counts = map[string]int{}
		rows, err := conn.Query(ctx, countSQL)
		if err != nil {
			return err
		}
		var tenant []byte
		var count int
		_, err = pgx.ForEachRow(rows, []any{&tenant, &count}, func() error {
			counts[string(tenant)] = count
			return nil
		})
		return err
	})
	return counts, err
}
