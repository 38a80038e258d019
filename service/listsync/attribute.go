package listsync

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reach is how many keys of a rendered view are searched for what a message of the neutral view says. A dialect adds few
// parts of its own between two messages.
const reach = 8

// attribution cuts the keys of a rendered view into pieces by the messages of the neutral view. Most of them stand in
// both word for word. What stands between two of these belongs to the messages between them.
type attribution struct {
	keys []key
	// at is how many of the keys are in pieces.
	at     int
	log    map[uint32]piece
	pieces []piece
	// waiting are the pieces of messages whose keys were not found yet.
	waiting []piece
}

// attributed returns the pieces of a view. log has those of the log.
func attributed(shown []shownMessage, keys []key, log []piece) []piece {
	a := &attribution{keys: keys, log: make(map[uint32]piece, len(log))}
	for _, p := range log {
		a.log[p.index] = p
	}
	for _, m := range shown {
		a.message(m)
	}
	a.close(len(a.keys))
	return a.pieces
}

func (a *attribution) message(m shownMessage) {
	p := a.pieceOf(m.origin)
	found := a.find(m.keys)
	if found < 0 || len(m.keys) == 0 {
		a.waiting = append(a.waiting, p)
		return
	}
	a.close(found)
	p.forms = append(p.forms, m.keys)
	a.pieces = append(a.pieces, p)
	a.at += len(m.keys)
}

// find returns where in the keys a message stands; -1 where it does not.
func (a *attribution) find(shown []key) int {
	for at := a.at; at < min(a.at+reach, len(a.keys)-len(shown)+1); at++ {
		if slices.Equal(a.keys[at:at+len(shown)], shown) {
			return at
		}
	}
	return -1
}

// close makes a piece of the keys before a position that no message has, for the messages that wait.
func (a *attribution) close(end int) {
	between := a.keys[a.at:end]
	a.at = end
	if len(a.waiting) == 0 && len(between) == 0 {
		return
	}
	p := piece{own: true, optional: true}
	var inLog []key
	for _, w := range a.waiting {
		if !w.own && p.own {
			p.index, p.sequence, p.own, p.optional = w.index, w.sequence, false, true
		}
		p.optional = p.optional && w.optional
		p.calls, p.shortened = append(p.calls, w.calls...), p.shortened || w.shortened
		if len(w.forms) > 0 {
			inLog = append(inLog, w.forms[0]...)
		}
	}
	p.forms = [][]key{between}
	if !p.own {
		p.forms = append(p.forms, inLog)
	}
	a.waiting, a.pieces = nil, append(a.pieces, p)
}

// pieceOf returns the piece of a message of the neutral view, in the form that the log has.
func (a *attribution) pieceOf(vm *compactordv1.ViewMessage) piece {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		if p, known := a.log[o.Index]; known && !vm.GetOutOfPlace() {
			p.listed = nil
			p.forms = slices.Clone(p.forms)
			return p
		}
		if !vm.GetOutOfPlace() {
			return piece{index: o.Index}
		}
		return piece{own: true, optional: true}
	case *compactordv1.ViewMessage_Folded:
		return a.folded(o.Folded)
	case *compactordv1.ViewMessage_SummaryOf:
		return piece{own: true}
	default:
		return piece{own: true, optional: true}
	}
}

// folded returns the piece of messages that a view shows as one.
func (a *attribution) folded(r *compactordv1.IndexRange) piece {
	p := a.log[r.GetStart()]
	var inLog []key
	for i := r.GetStart(); i < r.GetEnd(); i++ {
		if folded, known := a.log[i]; known {
			inLog = append(inLog, folded.forms[0]...)
		}
	}
	p.index, p.listed, p.forms = r.GetStart(), nil, [][]key{inLog}
	return p
}
