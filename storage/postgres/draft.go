package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
)

// errDraftGone means that another daemon has removed a draft, since it took this one for dead.
var errDraftGone = errors.New("the database took this process for dead, and removed the session that it was writing")

// drafts are the names of the drafts that are being written.
type drafts struct {
	mu    sync.Mutex
	names map[string]bool
}

func (d *drafts) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names == nil {
		d.names = map[string]bool{}
	}
	d.names[name] = true
}

func (d *drafts) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.names, name)
}

func (d *drafts) has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name]
}

// draft is a storage.Draft. Its log stands under an ordinal of the table drafts, until the transaction with the row takes
// that out. Each transaction locks its row there, so that none writes what a sweeper removes.
type draft struct {
	store *Store
	name  string
	log   *storage.DraftLog
}

// Draft begins to write a session piece by piece.
func (s *Store) Draft(ctx context.Context, ref storage.Ref) (storage.Draft, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	for try := 1; ; try++ {
		d := &draft{store: s, name: rand.Text(), log: storage.NewDraftLog(ref)}
		// Where the connection is lost, nobody writes the draft of this try, and a sweeper removes it.
		s.drafts.add(d.name)
		f := s.on(ctx, ctx, d.begin)
		if f == nil {
			return d, nil
		}
		s.drafts.remove(d.name)
		if !f.lost && !f.again || !s.another(ctx, try) {
			return nil, f.err
		}
	}
}

func (d *draft) begin(ctx context.Context, conn *pgx.Conn) error {
	ref := d.log.Ref()
	var uid []byte
	err := conn.QueryRow(ctx, uidSQL, pgx.NamedArgs{"tenant": []byte(ref.Tenant), "id": []byte(ref.SessionID)}).Scan(&uid)
	switch {
	case err == nil:
		return storage.ErrExists
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	_, err = conn.Exec(ctx, beginDraftSQL, pgx.NamedArgs{"draft": d.name, "opening": d.store.opening})
	return err
}

// Append writes a piece of the log.
func (d *draft) Append(ctx context.Context, p *storage.LogPiece) (err error) {
	leave, err := d.store.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	c, err := d.log.Next(p)
	if err != nil {
		return err
	}
	e, err := encode(c)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		// What is on its way is not broken off: that would cost the connection.
		using, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
		f := d.store.on(ctx, using, func(ctx context.Context, conn *pgx.Conn) error { return d.write(ctx, conn, e) })
		cancel()
		if f == nil {
			d.log.Appended(c)
			return nil
		}
		if !f.lost && !f.again || !d.store.another(ctx, try) {
			return f.err
		}
	}
}

// write writes a piece in one transaction. What an earlier try has written stays.
func (d *draft) write(ctx context.Context, conn *pgx.Conn, e *encoded) error {
	b := &pgx.Batch{}
	var failed error
	queue := func(statement string, args pgx.NamedArgs) {
		args["draft"] = d.name
		text, values, err := numberedOf(ctx, intoDraft(statement), args)
		failed = errors.Join(failed, err)
		b.Queue(text, values...)
	}
	queue(lockDraftSQL, pgx.NamedArgs{})
	e.queueMessages(queue)
	e.queueLog(queue, false)
	if failed != nil {
		return failed
	}
	results := conn.SendBatch(ctx, b)
	tag, err := results.Exec()
	if err = errors.Join(err, results.Close()); err == nil && tag.RowsAffected() == 0 {
		return goneError()
	}
	return err
}

func goneError() error {
	return &storage.DiskError{Cause: storage.DiskUnreachable, Err: errDraftGone}
}

// ofCommit is how the statements that append to a log find its session.
const ofCommit = "s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit"

// intoDraft returns a statement that appends to the log of a session, for that of a draft.
func intoDraft(statement string) string {
	if !strings.Contains(statement, ofCommit) {
		return statement
	}
	return strings.NewReplacer("sessions s", "drafts s", ofCommit, "s.name = @draft").Replace(statement) + "ON CONFLICT DO NOTHING"
}

// Create writes the row and the end of the log.
func (d *draft) Create(ctx context.Context, c *storage.Commit) (err error) {
	defer nameDamaged(&err, c.Session.GetTenant(), c.Session.GetSessionId())
	leave, err := d.store.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := d.log.Last(c); err != nil {
		return err
	}
	e, err := encode(c)
	if err != nil {
		return err
	}
	e.draft = d.name
	w := &writing{store: d.store, follows: c.Follows, encoded: e, create: true, changesTraits: true}
	if err := w.run(ctx); err != nil {
		return err
	}
	d.store.drafts.remove(d.name)
	return nil
}

// Discard hands the log over to the sweepers. Where the database does not answer, they find it later.
func (d *draft) Discard(ctx context.Context) {
	if !d.store.drafts.has(d.name) {
		return
	}
	d.store.drafts.remove(d.name)
	leave, err := d.store.enter(context.WithoutCancel(ctx))
	if err != nil {
		return
	}
	defer leave()
	using, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	_ = d.store.on(using, using, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, discardDraftSQL, pgx.NamedArgs{"draft": d.name})
		return err
	})
	d.store.wakeSweeper()
}

// abandonDrafts hands the logs of drafts over to the sweepers that nobody writes any more.
func (s *Store) abandonDrafts(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, draftsSQL, pgx.NamedArgs{"opening": s.opening})
	if err != nil {
		return err
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	// Each was noted before it was stored. So one that is not noted now is written no more.
	left := slices.DeleteFunc(stored, s.drafts.has)
	_, err = conn.Exec(ctx, abandonDraftsSQL, pgx.NamedArgs{"opening": s.opening, "drafts": left})
	return err
}
