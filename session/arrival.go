package session

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// EditsOf returns the edits that have views show a message otherwise than the log has it, the older first: those made on
// its arrival, then those of records in force. A pinned message is shown without them.
func (s *State) EditsOf(l *compactordv1.LoggedMessage) []*compactordv1.Edit {
	return editsOf(l, s.Edits)
}

func editsOf(l *compactordv1.LoggedMessage, inForce map[uint32][]*compactordv1.Edit) []*compactordv1.Edit {
	if len(l.GetArrivalEdits()) == 0 {
		return inForce[l.GetIndex()]
	}
	return slices.Concat(arrivalEdits(l), inForce[l.GetIndex()])
}

// arrivalEdits are the edits made on arrival in the shape of all others.
func arrivalEdits(l *compactordv1.LoggedMessage) []*compactordv1.Edit {
	edits := make([]*compactordv1.Edit, len(l.GetArrivalEdits()))
	for i, a := range l.GetArrivalEdits() {
		edits[i] = &compactordv1.Edit{
			Index: l.GetIndex(), Part: a.GetPart(), Kind: arrivalKind(a.GetKind()),
			Replacement: a.GetReplacement(), TokensFreed: a.GetTokensFreed(),
		}
	}
	return edits
}

func arrivalKind(k compactordv1.ArrivalEditKind) compactordv1.EditKind {
	if k == compactordv1.ArrivalEditKind_ARRIVAL_EDIT_KIND_OFFLOAD_RESULT {
		return compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT
	}
	return compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT
}
