package sessiontest

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Model is what is in force at a point of a log.
type Model struct {
	Point  uint32
	Policy *compactordv1.Policy
	// Messages are the active ones, in order.
	Messages []*Active
	// Calls are all calls of active messages, in order.
	Calls []*Call
	// SaidMeanwhile says that something was said after calls whose results may still come.
	SaidMeanwhile bool
	// Records are those in force by sequence. Reverts are not among them.
	Records map[uint32]Item
	// Entry is the effective compaction; nil where there is none.
	Entry *compactordv1.CompactionEntry

	log *Log
	// counter is that of the log's estimator.
	counter session.Counter
	path    []uint32
	pins    map[uint32]bool
	edits   map[uint32][]*compactordv1.Edit
	// blind is a record whose own changed_from is left out of account; -1 for none.
	blind int64
}

// Active is a message on the active path.
type Active struct {
	Index, Sequence uint32
	Message         *compactordv1.Message
	// MadeFrom is the point of the view that it was made from.
	MadeFrom uint32
	// Arrival are the edits that were made when it was appended.
	Arrival []*compactordv1.Edit
	// Place says of a TOOL message what it answers, Answers which call.
	Place   compactordv1.ResultPlace
	Answers *Call
	// Closes are the calls that waited for their results when this was said.
	Closes []*Call
	// Late says that it brings the result of a call after something else was said.
	Late bool

	calls []*Call
	// loop counts the messages before it that end a tool loop, by which loops are told apart.
	loop int
}

// Call is a tool call of an active message.
type Call struct {
	Owner *Active
	Part  uint32
	// ID is what views show, Nameless whether it was made.
	ID       string
	Nameless bool
	Name     string
	// Open says that it still waits for its result.
	Open bool
	// Void says that its message ended in an error or was aborted, that it has not been answered, and that the model has
	// not said anything after something else was said.
	Void   bool
	Result *Active
	// GivenUpBy is the first message that was said while it waited, ClosedBy the message of the model that closed it.
	GivenUpBy, ClosedBy *Active
}

// NewModel works out what is in force at a point under a policy.
func NewModel(log *Log, point uint32, policy *compactordv1.Policy) *Model {
	return newModel(log, point, policy, -1)
}

func newModel(log *Log, point uint32, policy *compactordv1.Policy, blind int64) *Model {
	m := &Model{Point: point, Policy: policy, log: log, counter: counterFor(log.Estimator), blind: blind, Records: make(map[uint32]Item)}
	m.path = activePath(log, point)
	m.readPath()
	m.match()
	m.readRecords()
	return m
}

// activePath lists the sequences that lead to a point: a Revert goes on from the point it names, all else from what
// stands before it.
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
		if a.is(compactordv1.Role_ROLE_ASSISTANT) {
			a.MadeFrom = sequence - 1
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

// Failed says whether the message ended in an error or was aborted.
func (a *Active) Failed() bool {
	return a.Message.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR ||
		a.Message.GetStopReason() == compactordv1.StopReason_STOP_REASON_ABORTED
}

// LeftOut says whether repairs leave the message out of every view.
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

// Newest is the newest active message.
func (m *Model) Newest() *Active { return m.Messages[len(m.Messages)-1] }

// Pinned says whether the active message with an index is pinned.
func (m *Model) Pinned(index uint32) bool { return m.pins[index] }

// Lead is the leading run of SYSTEM and DEVELOPER messages.
func (m *Model) Lead() []*Active {
	for i, a := range m.Messages {
		if !a.is(compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER) {
			return m.Messages[:i]
		}
	}
	return m.Messages
}

// Covered are the messages that the summary covers.
func (m *Model) Covered() []*Active {
	var covered []*Active
	for _, a := range m.Messages[len(m.Lead()):] {
		if m.Entry != nil && a.Index < m.Entry.GetFirstKeptIndex() {
			covered = append(covered, a)
		}
	}
	return covered
}

// Kept are the messages after the leading run that no summary covers.
func (m *Model) Kept() []*Active {
	return m.Messages[len(m.Lead())+len(m.Covered()):]
}

// OutOfPlace are the covered messages that are shown all the same.
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
