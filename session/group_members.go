package session

import (
	"maps"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MaxPins is the most messages of a session that can be pinned.
const MaxPins = 10_000

// GroupMembers finds the members of tool groups during one pass over the active messages. A message that belongs to no
// tool group is the only member of its group.
type GroupMembers struct {
	members map[uint32]bool
	// leaders are the indexes of the ASSISTANT messages that lead the groups and were not seen yet, ascending.
	leaders []uint32
	// waiting counts, for each leader that was seen, its calls without a result so far.
	waiting map[uint32]int
	// said reports whether something was said to the model while they waited: the model's next answer closes them.
	said bool
}

// NewGroupMembers returns a GroupMembers that looks for no group yet.
func NewGroupMembers() *GroupMembers {
	return &GroupMembers{members: make(map[uint32]bool), waiting: make(map[uint32]int)}
}

// Ask adds the group of an active message to those to find. All calls of Ask come before the first call of See.
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

// Next returns the index of the next active message to pass to See, from an index on; false where all members are
// found.
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

// See looks at a message for members. Messages are passed in the order of the log.
func (g *GroupMembers) See(l *compactordv1.LoggedMessage) {
	g.said = g.said || len(l.GetCloses()) > 0
	if g.said && isModelAnswer(l.GetMessage()) {
		clear(g.waiting)
		g.said = false
	}
	if len(g.leaders) > 0 && g.leaders[0] == l.GetIndex() {
		g.leaders = g.leaders[1:]
		// The calls of a message that failed are closed from the start.
		if calls := Calls(l.GetMessage(), l.GetIndex()); len(calls) > 0 && !Failed(l.GetMessage()) {
			g.waiting[l.GetIndex()] = len(calls)
		}
		return
	}
	g.answered(l)
}

func (g *GroupMembers) answered(l *compactordv1.LoggedMessage) {
	leader := l.GetAnswers().GetIndex()
	if !answersCall(l) || g.waiting[leader] == 0 {
		return
	}
	g.members[l.GetIndex()] = true
	if g.waiting[leader]--; g.waiting[leader] == 0 {
		delete(g.waiting, leader)
	}
}

// Members returns the indexes of the members found, ascending.
func (g *GroupMembers) Members() []uint32 {
	return slices.Sorted(maps.Keys(g.members))
}
