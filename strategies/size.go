package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// size is the size of a view, or of some messages, in all units that a trigger uses: stored tokens, tool groups and
// bytes.
type size [3]uint64

const (
	byTokens = iota
	byGroups
	byBytes
)

func (s size) plus(more size) size {
	for by := range s {
		s[by] += more[by]
	}
	return s
}

// less returns the size without another, but not below 0.
func (s size) less(other size) size {
	for by := range s {
		s[by] -= min(s[by], other[by])
	}
	return s
}

// atLeast returns the greater of two sizes in each unit.
func (s size) atLeast(other size) size {
	for by := range s {
		s[by] = max(s[by], other[by])
	}
	return s
}

// reachedBy returns the units in which `of` reaches the limits s.
func (s size) reachedBy(of size) []int {
	var reached []int
	for by, limit := range s {
		if of[by] >= limit {
			reached = append(reached, by)
		}
	}
	return reached
}

// viewSize returns the size of a state's view.
func viewSize(s *session.State) size {
	return size{
		byTokens: uint64(s.Head.GetViewTokens()),
		byGroups: uint64(s.Head.GetViewToolGroups()),
		byBytes:  uint64(s.Head.GetViewBytes()),
	}
}

// messageSize returns the size of one message of a view.
func messageSize(vm *session.SizedMessage) size {
	s := size{byTokens: uint64(vm.GetTokens()), byBytes: uint64(vm.Bytes)}
	if vm.HasCalls {
		s[byGroups] = 1
	}
	return s
}

// dividedSize is the size of a view, divided at each position in State.Kept at which a cut may be. A fold's text is where
// the fold's first message is, and goes with it even if that is pinned.
type dividedSize struct {
	// kept is the size from a position on. fixed is the size of what a cut there does not remove before it: the leading
	// run and pinned messages.
	kept, fixed []size
	summary     size
}

// divide renders the view, since it shows messages differently from the log: with edits and repairs.
func divide(s *session.State) *dividedSize {
	n := len(s.Kept)
	each, folds := make([]size, n), make([]size, n)
	var always, summary size
	messages := s.Sized()
	for i := range messages {
		vm := &messages[i]
		index, ofLog := originOf(vm.ViewMessage)
		switch {
		case vm.GetContextBlock() != nil, vm.GetInstructions() > 0:
			always = always.plus(messageSize(vm))
		case !ofLog:
			summary = summary.plus(messageSize(vm))
		case index < session.KeptFrom(s.Head):
			always = always.plus(messageSize(vm))
		case vm.GetFolded() != nil:
			pos, _ := position(s, index)
			folds[pos] = messageSize(vm)
		default:
			// A missing result belongs to its call, since no cut separates them.
			pos, _ := position(s, index)
			each[pos] = each[pos].plus(messageSize(vm))
		}
	}
	d := &dividedSize{kept: make([]size, n), fixed: make([]size, n), summary: summary}
	for pos, l := range s.Kept {
		d.fixed[pos] = always
		if session.Pinned(s.Head, l.GetIndex()) {
			always = always.plus(each[pos])
		}
	}
	var after size
	for pos := n - 1; pos >= 0; pos-- {
		after = after.plus(each[pos]).plus(folds[pos])
		d.kept[pos] = after
	}
	return d
}

// originOf returns the index of the log message that a view's message shows or repairs, or of the first one that is folded
// into it. It returns false for a message of the summary.
func originOf(vm *compactordv1.ViewMessage) (uint32, bool) {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index, true
	case *compactordv1.ViewMessage_LogRepair:
		return o.LogRepair.GetIndex(), true
	case *compactordv1.ViewMessage_Folded:
		return o.Folded.GetStart(), true
	default:
		return 0, false
	}
}

// rest returns the size of the view after a cut at a position, without a summary.
func (d *dividedSize) rest(pos int) size { return d.kept[pos].plus(d.fixed[pos]) }

// withoutSummary returns the sizes without those of the summary.
func (d *dividedSize) withoutSummary() *dividedSize {
	return &dividedSize{kept: d.kept, fixed: d.fixed}
}

// replaced returns how many stored tokens a cut removes from the view; pinned messages stay. If compaction is due only
// by bytes, four bytes count as a token, like in text.
func (d *dividedSize) replaced(in *Input, at int) uint64 {
	out := d.rest(0).less(d.rest(at)).plus(d.summary)
	if DueByBytesAlone(in.Policy, session.Measure(in.State.Head, in.Policy)) {
		return max(out[byTokens], out[byBytes]/4)
	}
	return out[byTokens]
}
