package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// foldRange is a range of messages that a fold can stand for: the position of the first one in State.Kept, and the
// position after the last one.
type foldRange struct{ from, to int }

// maxFoldMessages is the most messages of a fold. Each has an edit in the record, which clients must be able to receive.
const maxFoldMessages = 20_000

func (r foldRange) empty() bool { return r.from >= r.to }

// foldRangeOf returns the range that the indexes of a request name: from the first message that a fold can begin with, and
// without the tool groups that the range would divide. It may be empty, or invalid (see checkFold).
func foldRangeOf(s *session.State, start uint32, end *uint32) (foldRange, error) {
	r := foldRange{s.Position(start), len(s.Kept)}
	if end != nil {
		r.to = s.Position(*end)
	}
	if err := checkFoldIndexes(s, start, end); err != nil {
		return r, err
	}
	if err := checkDivides(s, r); err != nil {
		return r, err
	}
	inside := s.InsideGroups()
	for r.to > r.from && inside[r.to] {
		r.to--
	}
	r.from = firstOfFold(s, r, inside)
	if !r.empty() && turnStart(s, r.to-1) == r.from && !endsTurn(s, r.to) {
		// The request of a turn is folded only with the whole turn.
		r.from++
		r.from = firstOfFold(s, r, inside)
	}
	return r, nil
}

// firstOfFold returns the position of the first message of a range that a fold can begin with; the range's end if there is
// none. inside says which positions are within tool groups.
func firstOfFold(s *session.State, r foldRange, inside []bool) int {
	for !r.empty() && (inside[r.from] || !beginsFold(s.Kept[r.from])) {
		r.from++
	}
	return r.from
}

// beginsFold says whether views can show the text of a fold in place of this message, with its role.
func beginsFold(l *compactordv1.LoggedMessage) bool {
	role := l.GetMessage().GetRole()
	return !session.Failed(l.GetMessage()) &&
		(role == compactordv1.Role_ROLE_USER || role == compactordv1.Role_ROLE_ASSISTANT)
}

// endsTurn says whether a turn ends before a position.
func endsTurn(s *session.State, pos int) bool {
	return pos == len(s.Kept) || session.StartsTurn(s.Kept[pos].GetMessage())
}

// checkFoldIndexes checks the indexes of a request.
func checkFoldIndexes(s *session.State, start uint32, end *uint32) error {
	next := s.Head.GetNextIndex()
	switch {
	case start < s.Head.GetLeadEnd():
		return invalid("message %d is a leading one, and those are never folded", start)
	case start < session.KeptFrom(s.Head):
		return invalid("a summary covers message %d already; message %d is the first that can be folded",
			start, session.KeptFrom(s.Head))
	case end != nil && *end <= start:
		return invalid("the end %d of the range is not after its start %d", *end, start)
	case end != nil && *end > next, start > next:
		return invalid("the range ends after the log, which has %d messages", next)
	}
	return nil
}

// checkFold returns ErrInvalidPlan if a range, which is not empty, cannot be folded.
func checkFold(s *session.State, r foldRange) error {
	if err := checkDivides(s, r); err != nil {
		return err
	}
	inside := s.InsideGroups()
	first, last := s.Kept[r.from].GetIndex(), s.Kept[r.to-1].GetIndex()
	switch {
	case r.to-r.from > maxFoldMessages:
		return invalid("a fold of %d messages, and it can have at most %d", r.to-r.from, maxFoldMessages)
	case inside[r.from] || inside[r.to]:
		return invalid("pairing (I2): a fold of messages %d to %d would divide a tool group", first, last)
	case !beginsFold(s.Kept[r.from]):
		return invalid("cuts (I4): views cannot show a fold in place of message %d", first)
	}
	for _, l := range s.Kept[r.from:r.to] {
		if session.Pinned(s.Head, l.GetIndex()) {
			return invalid("message %d is pinned, and nothing pinned is folded", l.GetIndex())
		}
	}
	return checkTurns(s, r)
}

// checkDivides checks that a range has the whole of an earlier fold or nothing of it.
func checkDivides(s *session.State, r foldRange) error {
	for _, pos := range []int{r.from, r.to} {
		if pos == len(s.Kept) || !s.InsideFold(s.Kept[pos]) {
			continue
		}
		f := s.FoldOf(s.Kept[pos])
		return invalid("messages %d to %d are folded already, and a fold cannot be divided", f.GetFoldStart(), f.GetFoldEnd()-1)
	}
	return nil
}

// checkTurns checks that a range is whole turns, or a part of one.
func checkTurns(s *session.State, r foldRange) error {
	turn, lastTurn := turnStart(s, r.from), turnStart(s, r.to-1)
	whole := turn == r.from && endsTurn(s, r.to)
	if whole || turn == lastTurn && turn != r.from {
		return nil
	}
	first, last := s.Kept[r.from].GetIndex(), s.Kept[r.to-1].GetIndex()
	if lastTurn == r.from {
		return invalid("message %d starts the turn of message %d, and is folded only with the whole turn", first, last)
	}
	return invalid("messages %d to %d begin within one turn and end within another: fold whole turns, or a part of one",
		first, last)
}
