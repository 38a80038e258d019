package sessiontest

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Writer appends to a log as a service with a store does: it keeps the head, stores the head after each record, and
// loads states. All of it is in memory.
type Writer struct {
	// Log is the log, for a Model.
	Log *Log
	// Head is the state at the end of the log.
	Head *storagev1.Head
	// Policy is the policy in force.
	Policy *compactordv1.Policy
	// Messages are the linked messages by index.
	Messages []*compactordv1.LoggedMessage
	// Wrote is called with each record that was written, before it is added: the record as given, and for a Revert the
	// head that it goes back to. May be nil.
	Wrote func(given *compactordv1.Record, at *storagev1.Head, written *session.Written)

	counter session.Counter
	known   *session.Known
	records []storedRecord
}

type storedRecord struct {
	record *compactordv1.Record
	head   *storagev1.Head
}

// NewWriter starts a log with its first record, which sets the policy. The estimator is CHARS4.
func NewWriter(policy *compactordv1.Policy) *Writer {
	return NewWriterBy(compactordv1.Estimator_ESTIMATOR_CHARS4, policy)
}

// NewWriterBy is NewWriter with another estimator.
func NewWriterBy(e compactordv1.Estimator, policy *compactordv1.Policy) *Writer {
	w := emptyWriter(e)
	w.Policy = policy
	first := &compactordv1.PolicyChange{Given: policy, Resolved: policy}
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{PolicyChange: first}})
	return w
}

func emptyWriter(e compactordv1.Estimator) *Writer {
	return &Writer{Log: &Log{Estimator: e}, Head: session.NewHead(e), counter: counterFor(e), known: &session.Known{}}
}

func counterFor(e compactordv1.Estimator) session.Counter {
	counter, err := session.CounterFor(e)
	if err != nil {
		panic(err)
	}
	return counter
}

// Append appends a message. madeFrom is the point of the view that an ASSISTANT message was made from; nil means the
// newest.
func (w *Writer) Append(message *compactordv1.Message, madeFrom *uint32) *compactordv1.LoggedMessage {
	return w.append(Item{Message: message, MadeFrom: madeFrom})
}

// Copy appends a message that has this index in the log of the parent. No view of this log was there before it.
func (w *Writer) Copy(message *compactordv1.Message, parentIndex uint32) *compactordv1.LoggedMessage {
	return w.append(Item{Message: message, MadeFrom: proto.Uint32(0), ParentIndex: &parentIndex})
}

// AppendSeeing is Append of an ASSISTANT message whose view had extra blocks of so many tokens.
func (w *Writer) AppendSeeing(message *compactordv1.Message, madeFrom *uint32, extraTokens uint32) {
	w.append(Item{Message: message, MadeFrom: madeFrom, ExtraTokens: extraTokens})
}

// AppendEdited appends a result with these arrival edits, if it answers a call.
func (w *Writer) AppendEdited(
	message *compactordv1.Message, edits ...*compactordv1.Edit,
) *compactordv1.LoggedMessage {
	return w.append(Item{Message: message, Arrival: edits})
}

func (w *Writer) append(item Item) *compactordv1.LoggedMessage {
	logged := session.Link(w.Head, w.counter, item.Message, item.MadeFrom)
	logged.ExtraTokens = item.ExtraTokens
	if logged.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		for _, e := range item.Arrival {
			e.Index = logged.GetIndex()
		}
		logged.ArrivalEdits = item.Arrival
	}
	logged.ParentIndex = item.ParentIndex
	next := proto.CloneOf(w.Head)
	session.Advance(next, w.counter, w.Policy, logged)
	w.Head = next
	w.Messages = append(w.Messages, logged)
	item.Arrival = logged.GetArrivalEdits()
	w.Log.Items = append(w.Log.Items, item)
	return logged
}

// Write appends a record and completes it: its sequence and what it changes in views. It panics for a record that
// cannot be applied, which is a bug of the test.
func (w *Writer) Write(record *compactordv1.Record) *compactordv1.Record {
	if pc := record.GetPolicyChange(); pc != nil {
		pc.ViewChange = nil
		if session.ChangesView(w.Policy, pc.GetResolved()) {
			pc.ViewChange = &compactordv1.ViewChange{}
		}
	}
	var at *storagev1.Head
	if revert := record.GetRevert(); revert != nil {
		at = w.HeadAt(revert.GetPoint())
	}
	load := func(h *storagev1.Head) (*session.State, error) { return w.load(h), nil }
	written, err := session.Write(w.State(), record, at, load)
	if err != nil {
		panic(fmt.Sprintf("write %v: %v", record, err))
	}
	if w.Wrote != nil {
		w.Wrote(record, at, written)
	}
	if pc := record.GetPolicyChange(); pc != nil {
		w.Policy = pc.GetResolved()
	}
	w.Head = written.State.Head
	w.records = append(w.records, storedRecord{written.Record, w.Head})
	w.Log.Items = append(w.Log.Items, Item{Record: written.Record})
	return written.Record
}

// Model returns the model of the newest point.
func (w *Writer) Model() *Model { return w.ModelAt(w.Log.Newest()) }

// ModelAt returns the model of a point, under the policy now in force.
func (w *Writer) ModelAt(point uint32) *Model { return NewModel(w.Log, point, w.Policy) }

// State loads the newest state.
func (w *Writer) State() *session.State { return w.load(w.Head) }

// StateOf loads the state of a head, under the policy now in force.
func (w *Writer) StateOf(h *storagev1.Head) *session.State { return w.load(h) }

// StateAt loads the state at a point, under the policy now in force.
func (w *Writer) StateAt(point uint32) *session.State {
	h := w.HeadAt(point)
	return w.load(h)
}

// HeadAt returns the head at a point: the stored one of the newest record up to there, advanced by the messages after
// it.
func (w *Writer) HeadAt(point uint32) *storagev1.Head {
	var newest storedRecord
	for _, r := range w.records {
		if r.record.GetSequence() <= point {
			newest = r
		}
	}
	h := proto.CloneOf(newest.head)
	policy := w.Log.PolicyAt(session.Point(h))
	for session.Point(h) < point {
		session.Advance(h, w.counter, policy, w.Messages[h.GetNextIndex()])
	}
	return h
}

func (w *Writer) load(h *storagev1.Head) *session.State {
	s := &session.State{
		Head: h, Policy: w.Policy, Counter: w.counter, Edits: make(map[uint32][]*compactordv1.Edit), Known: w.known,
	}
	for _, l := range w.Messages[:h.GetNextIndex()] {
		switch {
		case !session.ActiveIndex(h, l.GetIndex()):
		case l.GetIndex() < h.GetLeadEnd():
			s.Lead = append(s.Lead, l)
		case l.GetIndex() >= session.KeptFrom(h):
			s.Kept = append(s.Kept, l)
		}
	}
	s.Blocks, s.Instructions = w.context(h)
	for _, index := range session.OutOfPlaceIndexes(h) {
		s.OutOfPlace = append(s.OutOfPlace, w.Messages[index])
	}
	// A store reads only the edits that it needs.
	shown := make(map[uint32]bool)
	for _, l := range slices.Concat(s.Lead, s.OutOfPlace, s.Kept) {
		shown[l.GetIndex()] = true
	}
	for _, r := range w.records {
		if c := h.GetCompaction(); c != nil && c.GetSequence() == r.record.GetSequence() {
			s.Entry = r.record.GetCompaction()
		}
		if !session.InForce(h, r.record.GetSequence()) {
			continue
		}
		for _, e := range r.record.GetPrune().GetEdits() {
			if shown[e.GetIndex()] {
				s.Edits[e.GetIndex()] = append(s.Edits[e.GetIndex()], e)
			}
		}
	}
	return s
}

// context returns the contents of a head's context blocks, and the instructions in force.
func (w *Writer) context(h *storagev1.Head) (blocks []*compactordv1.ContextBlock, instructions []*compactordv1.Message) {
	bySequence := make(map[uint32]*compactordv1.Record)
	for _, r := range w.records {
		bySequence[r.record.GetSequence()] = r.record
	}
	for _, b := range h.GetBlocks() {
		set := bySequence[b.GetSequence()].GetContextBlocks().GetSet()
		blocks = append(blocks, session.BlockNamed(set, b.GetName()))
	}
	return blocks, bySequence[h.GetInstructions().GetSequence()].GetInstructions().GetMessages()
}
