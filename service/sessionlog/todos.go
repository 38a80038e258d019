package sessionlog

import (
	"context"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

const (
	// lookedForTodos is how many messages before the kept part are read in search of the to-do list.
	lookedForTodos = 2_000
	// todoChunk is how many of them are read at a time.
	todoChunk = 100
)

// TodosBefore returns the active messages before the kept part of a head that write the to-do list in force there, in
// order: the newest one that writes a whole list, and those after it that change it. It looks for them in the newest 2,000
// messages there.
func (l *Logs) TodosBefore(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head,
) ([]*compactordv1.LoggedMessage, error) {
	var found []*compactordv1.LoggedMessage
	end := session.KeptFrom(h)
	lowest := max(h.GetLeadEnd(), end-min(end, lookedForTodos))
	for whole := false; end > lowest && !whole; {
		chunk := &compactordv1.IndexRange{Start: max(lowest, end-min(end, todoChunk)), End: end}
		var written []*compactordv1.LoggedMessage
		err := l.EachMessage(ctx, row, []*compactordv1.IndexRange{chunk}, func(m *compactordv1.LoggedMessage) bool {
			writes, all := strategies.WritesTodos(m)
			if !writes || !session.ActiveIndex(h, m.GetIndex()) {
				return true
			}
			if all {
				written, whole = nil, true
			}
			written = append(written, m)
			return true
		})
		if err != nil {
			return nil, err
		}
		found, end = slices.Concat(written, found), chunk.GetStart()
	}
	return found, nil
}
