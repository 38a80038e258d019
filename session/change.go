package session

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ChangedFrom compares the views before and after a record. It returns the lowest index at which they differ: in what
// they show of the message, or in the summary that covers it. The index is lowered to the start of its tool loop. It
// returns nil where nothing differs.
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
	a, summaryBefore := shownByIndex(before)
	b, summaryAfter := shownByIndex(after)
	if !slices.EqualFunc(summaryBefore, summaryAfter, sameMessage) {
		differs(firstCovered(before, after))
	}
	for index, messages := range a {
		if !slices.EqualFunc(messages, b[index], sameMessage) {
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

// firstCovered returns the first index that the summaries of the two states cover.
func firstCovered(before, after *State) uint32 {
	first := uint32(math.MaxUint32)
	for _, s := range []*State{before, after} {
		if s.Entry != nil {
			covered, _ := ActiveRun(s.Head, s.Head.GetLeadEnd())
			first = min(first, covered)
		}
	}
	return first
}

// shownByIndex groups the messages of a view by the index of the log's message that each one is, or stands in for. The
// messages of the summary are returned apart.
func shownByIndex(s *State) (byIndex map[uint32][]*compactordv1.ViewMessage, summary []*compactordv1.ViewMessage) {
	byIndex = make(map[uint32][]*compactordv1.ViewMessage)
	for _, vm := range s.View(ViewOptions{}).Messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			byIndex[o.Index] = append(byIndex[o.Index], vm)
		case *compactordv1.ViewMessage_LogRepair:
			byIndex[o.LogRepair.GetIndex()] = append(byIndex[o.LogRepair.GetIndex()], vm)
		case *compactordv1.ViewMessage_Folded:
			byIndex[o.Folded.GetStart()] = append(byIndex[o.Folded.GetStart()], vm)
		case *compactordv1.ViewMessage_SummaryOf:
			summary = append(summary, vm)
		case *compactordv1.ViewMessage_Instructions:
			byIndex[0] = append(byIndex[0], vm)
		case *compactordv1.ViewMessage_ContextBlock:
			at := placeOf(s.Head, o.ContextBlock)
			byIndex[at] = append(byIndex[at], vm)
		}
	}
	return byIndex, summary
}

func sameMessage(a, b *compactordv1.ViewMessage) bool {
	return a.GetOutOfPlace() == b.GetOutOfPlace() && (a.GetMessage() == b.GetMessage() || proto.Equal(a, b))
}

// loopStart lowers an index to the first ASSISTANT or TOOL message of its tool loop.
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

// endsLoop reports whether the model's next message belongs to another tool loop. That is so after a USER message, and
// after any message that was said to the model while it waited for results.
func endsLoop(l *compactordv1.LoggedMessage) bool {
	return l.GetMessage().GetRole() == compactordv1.Role_ROLE_USER ||
		len(l.GetCloses()) > 0 && isSaidToModel(l)
}

func inLoop(l *compactordv1.LoggedMessage) bool {
	role := l.GetMessage().GetRole()
	return role == compactordv1.Role_ROLE_ASSISTANT || role == compactordv1.Role_ROLE_TOOL
}
