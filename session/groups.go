package session

import (
	"sort"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Group is a tool group of the kept part.
type Group struct {
	// Call is the position in State.Kept of the ASSISTANT message with the calls.
	Call int
	// Results are the positions of the results in the group, in the order of the log.
	Results []int
	// End is the position after the group. Where a call was given up, it is the position of the message before which
	// views show the missing result. For an open group it is the end of the log.
	End int
	// Open reports whether one of the calls is open.
	Open bool
}

// Last returns the position of the group's newest message.
func (g Group) Last() int {
	if len(g.Results) == 0 {
		return g.Call
	}
	return g.Results[len(g.Results)-1]
}

// Groups returns the tool groups of the kept part in the order of their calls. A message that views leave out, or that is
// folded, leads no group.
func (s *State) Groups() []Group {
	g := grouping{state: s}
	for pos, l := range s.Kept {
		g.read(pos, l)
	}
	for i := range g.groups {
		if i >= g.settled && g.waiting[i] > 0 {
			g.groups[i].Open, g.groups[i].End = true, len(s.Kept)
		}
	}
	return g.groups
}

// grouping finds the tool groups of a state, one message after the other.
type grouping struct {
	state  *State
	groups []Group
	// waiting is for each group how many of its calls have no result. The first groups are settled: for their calls no
	// result is waited for any more.
	waiting []int
	settled int
	// free is memory for results.
	free []int
	// said says that something was said to the model since its last answer.
	said bool
}

func (g *grouping) read(pos int, l *compactordv1.LoggedMessage) {
	m := l.GetMessage()
	for _, call := range l.GetCloses() {
		g.said = true
		if at, ok := g.of(call.GetIndex()); ok {
			g.groups[at].End = pos
		}
	}
	switch {
	case isModelAnswer(m):
		if g.said {
			g.settled, g.said = len(g.groups), false
		}
		if calls := countCalls(m); calls > 0 && !g.state.Folded(l) {
			g.groups = append(g.groups, Group{Call: pos, Results: g.space(calls), End: pos + 1})
			g.waiting = append(g.waiting, calls)
		}
	case answersCall(l):
		if at, ok := g.of(l.GetAnswers().GetIndex()); ok {
			g.groups[at].Results = append(g.groups[at].Results, pos)
			g.groups[at].End = pos + 1
			g.waiting[at]--
		}
	}
}

// space returns an empty list with space for the results of so many calls.
func (g *grouping) space(calls int) []int {
	if len(g.free) < calls {
		g.free = make([]int, max(calls, len(g.state.Kept)))
	}
	list := g.free[:0:calls]
	g.free = g.free[calls:]
	return list
}

// of returns the group of the message with an index. Most often it is one of the last.
func (g *grouping) of(index uint32) (at int, found bool) {
	at = sort.Search(len(g.groups), func(i int) bool { return g.state.Kept[g.groups[i].Call].GetIndex() >= index })
	return at, at < len(g.groups) && g.state.Kept[g.groups[at].Call].GetIndex() == index
}

// CutPlaces returns the positions in State.Kept before which a cut is valid, ascending: before a USER or ASSISTANT
// message outside a started tool group. Views must show the message, even when it is no longer pinned.
func (s *State) CutPlaces() []int {
	inside := s.InsideGroups()
	var places []int
	for pos, l := range s.Kept {
		m := l.GetMessage()
		role := m.GetRole()
		if inside[pos] || Failed(m) || s.Emptied(l) {
			continue
		}
		if role == compactordv1.Role_ROLE_USER || role == compactordv1.Role_ROLE_ASSISTANT {
			places = append(places, pos)
		}
	}
	return places
}

// InsideGroups says for each position in State.Kept, and for its end, whether it is within a tool group. The end is within
// an open one.
func (s *State) InsideGroups() []bool {
	inside := make([]bool, len(s.Kept)+1)
	for _, g := range s.Groups() {
		for pos := g.Call + 1; pos < g.End; pos++ {
			inside[pos] = true
		}
		inside[len(s.Kept)] = inside[len(s.Kept)] || g.Open
	}
	return inside
}

// groupOf returns the index of the message that leads the tool group of l; nil where it belongs to none.
func groupOf(l *compactordv1.LoggedMessage) *uint32 {
	switch {
	case l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT:
		return &l.Index
	case answersCall(l):
		return &l.Answers.Index
	default:
		return nil
	}
}
