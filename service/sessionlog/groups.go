package sessionlog

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// groupChunk is how many bytes of the log are read at a time in search of a group's results, which mostly follow their
// calls.
const groupChunk = 256 << 10

// WithGroups returns the indexes with those of the other members of their tool groups. All indexes must be active. It
// reads the messages themselves and, for each group, the log from the group's first message to its end at the most.
func (l *Logs) WithGroups(ctx context.Context, row *storagev1.Session, indexes []uint32) ([]uint32, error) {
	head := row.GetHead()
	for _, index := range indexes {
		if index >= head.GetNextIndex() {
			return nil, apierror.NoMessage(index, head.GetNextIndex())
		}
		if !session.ActiveIndex(head, index) {
			return nil, apierror.PutAside(index)
		}
	}
	members := session.NewGroupMembers()
	for _, index := range indexes {
		m, err := l.Message(ctx, row, index)
		if err != nil {
			return nil, err
		}
		members.Ask(m)
	}
	next, more := members.Next(0)
	for more {
		start, end := session.ActiveRun(head, next)
		if start == end {
			break
		}
		run, err := l.Messages(ctx, row, start, end, groupChunk)
		if err != nil {
			return nil, err
		}
		if len(run) == 0 {
			return nil, MissingMessage(start)
		}
		next, more = seeRun(members, run)
	}
	return members.Members(), nil
}

// seeRun passes consecutive messages to members as long as they can belong to a group, and returns the next index to
// read.
func seeRun(members *session.GroupMembers, run []*compactordv1.LoggedMessage) (next uint32, more bool) {
	for _, l := range run {
		members.See(l)
		if next, more = members.Next(l.GetIndex() + 1); !more || next != l.GetIndex()+1 {
			break
		}
	}
	return next, more
}
