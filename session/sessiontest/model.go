package sessiontest

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Model is the state at a point of a log.
type Model struct {
	Point  uint32
	Policy *compactordv1.Policy
	// Messages are the active messages, in order.
	Messages []*Active
	// Calls are all calls of active messages, in order.
	Calls []*Call
	// SaidMeanwhile reports whether something was said after calls whose results may still come.
	SaidMeanwhile bool
	// Records are the records in force by sequence, without Reverts.
	Records map[uint32]Item
	// Entry is the compaction in effect; nil where there is none.
	Entry *compactordv1.CompactionEntry

	log *Log
	// counter is the counter of the log's estimator.
	counter session.Counter
	path    []uint32
	pins    map[uint32]bool
	edits   map[uint32][]*compactordv1.Edit
	context contextAt
	// ignored is the sequence of a record whose own changed_from is not used; -1 for none.
	ignored int64
}

// Active is an active message.
type Active struct {
	Index, Sequence uint32
	Message         *compactordv1.Message
	// MadeFrom is the point of the view that it was made from.
	MadeFrom uint32
	// ExtraTokens are the tokens of the extra blocks in that view.
	ExtraTokens uint32
	// Arrival are its arrival edits.
	Arrival []*compactordv1.Edit
	// Place is the place of a TOOL message, Answers the call that it answers.
	Place   compactordv1.ResultPlace
	Answers *Call
	// Closes are the calls that waited for their results when this was said.
	Closes []*Call
	// Copied reports whether a child has copied it from its parent.
	Copied bool
	// Late reports whether it is a result that came after something else was said.
	Late bool

	calls []*Call
	// loop is the number of messages before it that end a tool loop, which identifies its loop.
	loop int
}

// Call is a tool call of an active message.
type Call struct {
	Owner *Active
	Part  uint32
	// ID is the id in views, Nameless reports whether it was generated.
	ID       string
	Nameless bool
	Name     string
	// Open reports whether it still waits for its result.
	Open bool
	// Void reports whether its message ended in an error or was aborted, and a result may still come: it has none, and
	// the model has not answered since something else was said.
	Void   bool
	Result *Active
	// GivenUpBy is the first message that was said while it waited, ClosedBy the model's answer that closed it.
	GivenUpBy, ClosedBy *Active
}

// NewModel computes the state at a point under a policy.
func NewModel(log *Log, point uint32, policy *compactordv1.Policy) *Model {
	return newModel(log, point, policy, -1)
}

func newModel(log *Log, point uint32, policy *compactordv1.Policy, ignored int64) *Model {
	m := &Model{Point: point, Policy: policy, log: log, counter: counterFor(log.Estimator), ignored: ignored, Records: make(map[uint32]Item)}
	m.path = activePath(log, point)
	m.readPath()
	m.match()
	m.readRecords()
	m.context = log.contextAt(point)
	m.context.silence(policy)
	return m
}

// activePath returns the sequences that lead to a point. The item before a Revert is the point that it names; that of
// any other item is the one directly before it.
func activePath(log *Log, point uint32) []uint32 {
	var path []uint32
	for {
		path = append(path, point)
		if revert := log.Items[point].Record.GetRevert(); revert != nil {
			point = revert.GetPoint()
			continue
		}
		if point == 0 {
			slices.Reverse(path)
			return path
		}
		point--
	}
}

func (m *Model) readPath() {
	index := make(map[uint32]uint32)
	var next uint32
	for sequence, item := range m.log.Items {
		if item.Message != nil {
			index[uint32(sequence)] = next
			next++
		}
	}
	for _, sequence := range m.path {
		item := m.log.Items[sequence]
		if item.Message == nil {
			if item.Record.GetRevert() == nil {
				m.Records[sequence] = item
			}
			continue
		}
		a := &Active{Index: index[sequence], Sequence: sequence, Message: item.Message, Arrival: item.Arrival}
		a.Copied = item.ParentIndex != nil
		if a.is(compactordv1.Role_ROLE_ASSISTANT) {
			a.MadeFrom, a.ExtraTokens = sequence-1, item.ExtraTokens
			if item.MadeFrom != nil && *item.MadeFrom < a.MadeFrom {
				a.MadeFrom = *item.MadeFrom
			}
		}
		m.Messages = append(m.Messages, a)
	}
}

func (m *Model) readRecords() {
	m.pins = make(map[uint32]bool)
	m.edits = make(map[uint32][]*compactordv1.Edit)
	for _, sequence := range m.path {
		record := m.log.Items[sequence].Record
		if entry := record.GetCompaction(); entry != nil {
			m.Entry = entry
		}
		for _, edit := range record.GetPrune().GetEdits() {
			m.edits[edit.GetIndex()] = append(m.edits[edit.GetIndex()], edit)
		}
		for _, index := range m.WithGroups(record.GetPin().GetIndexes()) {
			m.pins[index] = true
		}
		for _, index := range m.WithGroups(record.GetUnpin().GetIndexes()) {
			delete(m.pins, index)
		}
	}
}

func (a *Active) is(roles ...compactordv1.Role) bool {
	return slices.Contains(roles, a.Message.GetRole())
}

// Failed reports whether the message ended in an error or was aborted.
func (a *Active) Failed() bool {
	return a.Message.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR ||
		a.Message.GetStopReason() == compactordv1.StopReason_STOP_REASON_ABORTED
}

// LeftOut reports whether repairs leave the message out of every view.
func (a *Active) LeftOut() bool {
	return a.Failed() || a.Place == compactordv1.ResultPlace_RESULT_PLACE_VOID
}

// Find returns the active message with an index, or nil.
func (m *Model) Find(index uint32) *Active {
	for _, a := range m.Messages {
		if a.Index == index {
			return a
		}
	}
	return nil
}

// Newest returns the newest active message.
func (m *Model) Newest() *Active { return m.Messages[len(m.Messages)-1] }

// Pinned reports whether the active message with this index is pinned.
func (m *Model) Pinned(index uint32) bool { return m.pins[index] }

// Lead returns the leading messages.
func (m *Model) Lead() []*Active {
	for i, a := range m.Messages {
		if !a.is(compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER) {
			return m.Messages[:i]
		}
	}
	return m.Messages
}

// Covered returns the messages that the summary covers.
func (m *Model) Covered() []*Active {
	var covered []*Active
	for _, a := range m.Messages[len(m.Lead()):] {
		if m.Entry != nil && a.Index < m.Entry.GetFirstKeptIndex() {
			covered = append(covered, a)
		}
	}
	return covered
}

// Kept returns the messages after the leading ones that no summary covers.
func (m *Model) Kept() []*Active {
	return m.Messages[len(m.Lead())+len(m.Covered()):]
}

// OutOfPlace returns the covered messages that views show after the summary.
func (m *Model) OutOfPlace() []*Active {
	var shown []*Active
	for _, a := range m.Covered() {
		replayed := m.Entry.ReplayedIndex != nil && m.Entry.GetReplayedIndex() == a.Index
		if m.pins[a.Index] || replayed {
			shown = append(shown, a)
		}
	}
	return shown
}
