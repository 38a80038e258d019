package session

import (
	"maps"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MaxPins is how many messages of a session can be pinned.
const MaxPins = 10_000

// GroupMembers finds the members of tool groups, while the messages of the active path are walked. A message that
// belongs to no group is the only member of its own.
type GroupMembers struct {
	members map[uint32]bool
	// leaders are those that were not met yet, ascending.
	leaders []uint32
	// waiting counts, for each leader that was met, the calls that are still to be answered.
	waiting map[uint32]int
	// said says that something was said while they waited: the model's next answer closes them.
	said bool
}

// NewGroupMembers begins with nothing asked for.
func NewGroupMembers() *GroupMembers {
	return &GroupMembers{members: make(map[uint32]bool), waiting: make(map[uint32]int)}
}

// Ask asks for the group of a message of the active path. All are asked for before the first is seen.
func (g *GroupMembers) Ask(l *compactordv1.LoggedMessage) {
	g.members[l.GetIndex()] = true
	leader := groupOf(l)
	if leader == nil {
		return
	}
	g.members[*leader] = true
	if at, known := slices.BinarySearch(g.leaders, *leader); !known {
		g.leaders = slices.Insert(g.leaders, at, *leader)
	}
}

// Next is the next message of the active path to be seen, from an index on; false where all members are found.
func (g *GroupMembers) Next(from uint32) (uint32, bool) {
	switch {
	case len(g.waiting) > 0:
		return from, true
	case len(g.leaders) > 0:
		return g.leaders[0], true
	default:
		return 0, false
	}
}

// See looks at a message. Messages are seen in the order of the log.
func (g *GroupMembers) See(l *compactordv1.LoggedMessage) {
	g.said = g.said || len(l.GetCloses()) > 0
	if g.said && speaks(l.GetMessage()) {
		clear(g.waiting)
		g.said = false
	}
	if len(g.leaders) > 0 && g.leaders[0] == l.GetIndex() {
		g.leaders = g.leaders[1:]
		// The calls of a message that failed are closed at once.
		if calls := Calls(l.GetMessage(), l.GetIndex()); len(calls) > 0 && !Failed(l.GetMessage()) {
			g.waiting[l.GetIndex()] = len(calls)
		}
		return
	}
	g.answered(l)
}

func (g *GroupMembers) answered(l *compactordv1.LoggedMessage) {
	leader := l.GetAnswers().GetIndex()
	if !answers(l) || g.waiting[leader] == 0 {
		return
	}
	g.members[l.GetIndex()] = true
	if g.waiting[leader]--; g.waiting[leader] == 0 {
		delete(g.waiting, leader)
	}
}

// Members are the members that were found, ascending.
func (g *GroupMembers) Members() []uint32 {
	return slices.Sorted(maps.Keys(g.members))
}
