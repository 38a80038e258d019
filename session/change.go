package session

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ChangedFrom compares the views before and after a record: the lowest index whose showing, or the summary covering it,
// differs, lowered to the start of its tool loop. Nil where nothing differs.
func ChangedFrom(before, after *State) *uint32 {
	lowest := lowestDifference(before, after)
	if lowest == nil {
		return nil
	}
	return proto.Uint32(loopStart(before, *lowest))
}

func lowestDifference(before, after *State) *uint32 {
	var lowest *uint32
	differs := func(index uint32) {
		if lowest == nil || index < *lowest {
			lowest = &index
		}
	}
	a, summaryBefore := showings(before)
	b, summaryAfter := showings(after)
	if !slices.EqualFunc(summaryBefore, summaryAfter, sameShowing) {
		differs(firstCovered(before, after))
	}
	for index, messages := range a {
		if !slices.EqualFunc(messages, b[index], sameShowing) {
			differs(index)
		}
	}
	for index := range b {
		if _, ok := a[index]; !ok {
			differs(index)
		}
	}
	return lowest
}

// firstCovered is where the summaries of the two states begin.
func firstCovered(before, after *State) uint32 {
	if before.Entry != nil {
		return min(before.Head.GetLeadEnd(), after.Head.GetLeadEnd())
	}
	return after.Head.GetLeadEnd()
}

// showings sorts what a view shows by the index of the message that it is, or stands in for; the summary apart.
func showings(s *State) (byIndex map[uint32][]*compactordv1.ViewMessage, summary []*compactordv1.ViewMessage) {
	byIndex = make(map[uint32][]*compactordv1.ViewMessage)
	for _, vm := range s.View(ViewOptions{}).Messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			byIndex[o.Index] = append(byIndex[o.Index], vm)
		case *compactordv1.ViewMessage_LogRepair:
			byIndex[o.LogRepair.GetIndex()] = append(byIndex[o.LogRepair.GetIndex()], vm)
		case *compactordv1.ViewMessage_SummaryOf:
			summary = append(summary, vm)
		}
	}
	return byIndex, summary
}

func sameShowing(a, b *compactordv1.ViewMessage) bool {
	return a.GetOutOfPlace() == b.GetOutOfPlace() && (a.GetMessage() == b.GetMessage() || proto.Equal(a, b))
}

// loopStart lowers an index to the first ASSISTANT or TOOL message since the last one before it that ended a tool loop.
func loopStart(s *State, index uint32) uint32 {
	pos, found := slices.BinarySearchFunc(s.Kept, index, func(l *compactordv1.LoggedMessage, i uint32) int {
		return int(int64(l.GetIndex()) - int64(i))
	})
	if !found || !inLoop(s.Kept[pos]) {
		return index
	}
	for ; pos >= 0 && !endsLoop(s.Kept[pos]); pos-- {
		if inLoop(s.Kept[pos]) {
			index = s.Kept[pos].GetIndex()
		}
	}
	return index
}

// endsLoop says whether what the model says next belongs to another tool loop: what was said is the user's, or was said
// while the model waited for results.
func endsLoop(l *compactordv1.LoggedMessage) bool {
	return l.GetMessage().GetRole() == compactordv1.Role_ROLE_USER ||
		len(l.GetCloses()) > 0 && isSaid(l)
}

func inLoop(l *compactordv1.LoggedMessage) bool {
	role := l.GetMessage().GetRole()
	return role == compactordv1.Role_ROLE_ASSISTANT || role == compactordv1.Role_ROLE_TOOL
}
