package sessionlog

import (
	"context"
	"errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/tracing"
)

// updateTries bounds how often an update starts again because another daemon has written first.
const updateTries = 100

// Update commits what change computes from a session's row. Where another writer was faster, it starts again with the
// new row. Where change returns nil, it writes nothing.
func (l *Logs) Update(ctx context.Context, id string, change func(row *storagev1.Session) (*Write, error)) (err error) {
	ctx, span := tracing.Begin(ctx, "update session")
	defer func() { span.EndWith(err) }()
	return l.update(ctx, id, change)
}

// UpdateFromKept is Update for what writes to the same session again and again. change may first be called with the row as this
// daemon has left it, which is then not read again: read is false. Only a commit that follows such a row counts. Whatever
// else comes of it, change is called once more with a row that was read. So with a row that was not, change need not ask
// whether its request is remembered: the commit of a remembered request is refused. Neither row may be used after UpdateFromKept
// has returned; what their fields refer to may.
func (l *Logs) UpdateFromKept(
	ctx context.Context, id string, change func(row *storagev1.Session, read bool) (*Write, error),
) (err error) {
	ctx, span := tracing.Begin(ctx, "update session")
	defer func() { span.EndWith(err) }()
	u := &update{logs: l, name: NameOf(ctx, id), id: id, change: change, fromKept: true}
	return u.run(ctx)
}

func (l *Logs) update(ctx context.Context, id string, change func(row *storagev1.Session) (*Write, error)) error {
	u := &update{logs: l, name: NameOf(ctx, id), id: id, change: func(row *storagev1.Session, _ bool) (*Write, error) {
		return change(row)
	}}
	return u.run(ctx)
}

// update is a write to a session that is tried until it follows the session's newest row.
type update struct {
	logs   *Logs
	name   Name
	id     string
	change func(row *storagev1.Session, read bool) (*Write, error)
	// fromKept says that the first try may begin with the row that is kept, and that nobody uses the rows of the update afterwards.
	fromKept bool
}

func (u *update) run(ctx context.Context) error {
	unlock, err := u.logs.locks.lock(ctx, u.name)
	if err != nil {
		return err
	}
	defer unlock()
	kept := u.logs.keptRows.take(u.name)
	if u.fromKept && kept.alone && u.logs.AddPolicy(ctx, kept.row) == nil {
		a := &attempt{row: kept.row, alone: true}
		if err := u.attempt(ctx, a); a.counts(err) {
			return err
		}
	}
	for range updateTries {
		row, err := u.logs.Row(ctx, u.id)
		if err != nil {
			return err
		}
		alone := kept.is(row)
		err = u.attempt(ctx, &attempt{row: row, read: true, alone: alone})
		// A conflict, or a copy of the same request that was committed meanwhile: start again with what that wrote.
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrRequestKnown) {
			return err
		}
	}
	return storage.ErrConflict
}

// keepRow keeps the row of a write that was committed. Who may go on using the row gets it kept as a copy.
func (u *update) keepRow(w *Write, a *attempt) {
	row := w.Row()
	if !u.fromKept {
		row = cloneRow(row)
	}
	u.logs.keptRows.put(u.name, row, a.alone)
}

// attempt is one try of an update.
type attempt struct {
	row *storagev1.Session
	// read says that the row was read for it, and alone that it is as this daemon has left it.
	read, alone bool
	// sent says that the store was asked to commit what came of it.
	sent bool
}

// counts reports whether the outcome of an attempt with a row that was not read is that of the update. It is not where the row
// may no longer be the newest, or the request a remembered one.
func (a *attempt) counts(err error) bool {
	return a.sent && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrRequestKnown) &&
		!errors.Is(err, storage.ErrNotFound)
}

func (u *update) attempt(ctx context.Context, a *attempt) error {
	l := u.logs
	w, err := u.change(a.row, a.read)
	if err != nil || w == nil {
		return err
	}
	if err := w.refuseEnded(); err != nil {
		return err
	}
	if err := w.planDue(ctx); err != nil {
		return err
	}
	err = l.committing(ctx, w, func(ctx context.Context, c *storage.Commit) error {
		a.sent = true
		return l.store.Commit(ctx, c)
	})
	if err == nil || errors.Is(err, storage.ErrDisk) {
		// A write that the disk refused may be seen all the same.
		l.wrote(u.name)
	}
	if err == nil {
		l.keep(w)
		u.keepRow(w, a)
	}
	return err
}
