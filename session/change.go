package session

import (
	"cmp"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ChangedFrom compares the views before and after a record. It returns the lowest index at which they differ: in what
// they show of the message, or in the summary that covers it. The index is lowered to the start of its tool loop. It
// returns nil where nothing differs. No message of the log before the index from differs.
func ChangedFrom(before, after *State, from uint32) *uint32 {
	lowest := lowestDifference(before, after, from)
	if lowest == nil {
		return nil
	}
	return proto.Uint32(loopStart(before, *lowest))
}

func lowestDifference(before, after *State, from uint32) *uint32 {
	a, summaryBefore := shownByIndex(before, from)
	b, summaryAfter := shownByIndex(after, from)
	lowest := firstDifference(a, b)
	if !slices.EqualFunc(summaryBefore, summaryAfter, sameMessage) {
		covered := firstCovered(before, after)
		if lowest == nil || covered < *lowest {
			lowest = &covered
		}
	}
	return lowest
}

// firstDifference returns the lowest index at which two views differ; nil where there is none.
func firstDifference(a, b []shownAt) *uint32 {
	for len(a) > 0 || len(b) > 0 {
		var index uint32
		if len(b) == 0 || len(a) > 0 && a[0].index <= b[0].index {
			index = a[0].index
		} else {
			index = b[0].index
		}
		n, m := countAt(a, index), countAt(b, index)
		same := func(x, y shownAt) bool { return sameMessage(x.message, y.message) }
		if !slices.EqualFunc(a[:n], b[:m], same) {
			return &index
		}
		a, b = a[n:], b[m:]
	}
	return nil
}

// countAt returns how many of the messages, which are sorted, begin the list with an index.
func countAt(messages []shownAt, index uint32) int {
	n := 0
	for n < len(messages) && messages[n].index == index {
		n++
	}
	return n
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

// shownAt is a message of a view with the index of the log's message that it is, or stands in for.
type shownAt struct {
	index   uint32
	message *compactordv1.ViewMessage
}

// firstChanged returns an index before which a record changes nothing of what views show. Edits of a message change what
// views show of it, and of the results and repairs of its calls, which come after it.
func firstChanged(r *compactordv1.Record) uint32 {
	if r.GetPrune() == nil {
		return 0
	}
	first := uint32(math.MaxUint32)
	for _, e := range r.GetPrune().GetEdits() {
		first = min(first, e.GetIndex())
	}
	return first
}

// shownByIndex sorts the messages of a view by their indexes; those with the same index keep their order. The messages of
// the summary are returned apart. It leaves out messages of the log before the index from.
func shownByIndex(s *State, from uint32) (byIndex []shownAt, summary []*compactordv1.ViewMessage) {
	messages := s.drawFrom(ViewOptions{}, from).messages
	byIndex = make([]shownAt, 0, len(messages))
	for _, vm := range messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			byIndex = append(byIndex, shownAt{o.Index, vm})
		case *compactordv1.ViewMessage_LogRepair:
			byIndex = append(byIndex, shownAt{o.LogRepair.GetIndex(), vm})
		case *compactordv1.ViewMessage_Folded:
			byIndex = append(byIndex, shownAt{o.Folded.GetStart(), vm})
		case *compactordv1.ViewMessage_SummaryOf:
			summary = append(summary, vm)
		case *compactordv1.ViewMessage_Instructions:
			byIndex = append(byIndex, shownAt{0, vm})
		case *compactordv1.ViewMessage_ContextBlock:
			byIndex = append(byIndex, shownAt{placeOf(s.Head, o.ContextBlock), vm})
		}
	}
	order := func(a, b shownAt) int { return cmp.Compare(a.index, b.index) }
	if !slices.IsSortedFunc(byIndex, order) {
		slices.SortStableFunc(byIndex, order)
	}
	return byIndex, summary
}

func sameMessage(a, b *compactordv1.ViewMessage) bool {
	return a == b || a.GetOutOfPlace() == b.GetOutOfPlace() && (a.GetMessage() == b.GetMessage() || proto.Equal(a, b))
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
