package session

import (
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
	var groups []Group
	byIndex := make(map[uint32]int)
	waiting := make(map[uint32]int)
	said := false
	for pos, l := range s.Kept {
		m := l.GetMessage()
		for _, call := range l.GetCloses() {
			said = true
			if g, ok := byIndex[call.GetIndex()]; ok {
				groups[g].End = pos
			}
		}
		switch {
		case isModelAnswer(m):
			if said {
				clear(waiting)
				said = false
			}
			if hasCalls(m) && !s.Folded(l) {
				byIndex[l.GetIndex()] = len(groups)
				waiting[l.GetIndex()] = len(Calls(m, l.GetIndex()))
				groups = append(groups, Group{Call: pos, End: pos + 1})
			}
		case answersCall(l):
			if g, ok := byIndex[l.GetAnswers().GetIndex()]; ok {
				groups[g].Results = append(groups[g].Results, pos)
				groups[g].End = pos + 1
				waiting[l.GetAnswers().GetIndex()]--
			}
		}
	}
	for i := range groups {
		if waiting[s.Kept[groups[i].Call].GetIndex()] > 0 {
			groups[i].Open, groups[i].End = true, len(s.Kept)
		}
	}
	return groups
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
