package children

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// Walk goes through the sessions below one: the newest child first, each before its own children. It holds one row at a
// time. The rows lack their policies.
type Walk struct {
	children *Children
	root     *storagev1.Session
	// levels are the lists that the walk is in, the deepest last.
	levels []*level
}

// level is the list of the children of one session.
type level struct {
	logs   *sessionlog.Logs
	parent string
	cursor string
	end    bool
}

// Walk begins a walk.
func (c *Children) Walk(root *storagev1.Session) *Walk {
	w := &Walk{children: c, root: root}
	w.descend(root)
	return w
}

// descend makes the children of a session the next ones.
func (w *Walk) descend(row *storagev1.Session) {
	w.levels = append(w.levels, &level{logs: w.children.Logs, parent: row.GetUid()})
}

// Next returns the next session; nil after the last one.
func (w *Walk) Next(ctx context.Context) (*storagev1.Session, error) {
	for len(w.levels) > 0 {
		row, err := w.levels[len(w.levels)-1].next(ctx)
		if err != nil {
			return nil, err
		}
		if row != nil {
			w.descend(row)
			return row, nil
		}
		w.levels = w.levels[:len(w.levels)-1]
	}
	return nil, nil
}

// Seek goes to a session below the root and returns it, so that Next returns the one after it; nil where it is not there
// any more.
func (w *Walk) Seek(ctx context.Context, id string) (*storagev1.Session, error) {
	path, err := w.children.path(ctx, w.root, id)
	if err != nil {
		return nil, err
	}
	w.levels = nil
	w.descend(w.root)
	for i := len(path) - 1; i >= 0; i-- {
		found, err := w.levels[len(w.levels)-1].seek(ctx, path[i].GetUid())
		if err != nil || !found {
			return nil, err
		}
		w.descend(path[i])
	}
	return path[0], nil
}

// next returns the next child; nil after the last one.
func (l *level) next(ctx context.Context) (*storagev1.Session, error) {
	if l.end {
		return nil, nil
	}
	rows, cursor, err := l.logs.Rows(ctx, storage.SessionQuery{Parent: l.parent, Cursor: l.cursor, Limit: 1})
	if err != nil {
		return nil, err
	}
	l.cursor, l.end = cursor, cursor == ""
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0], nil
}

// seek goes on to the child with this uid.
func (l *level) seek(ctx context.Context, uid string) (found bool, err error) {
	for !found {
		row, err := l.next(ctx)
		if err != nil || row == nil {
			return false, err
		}
		found = row.GetUid() == uid
	}
	return true, nil
}
