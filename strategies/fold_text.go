package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Folded returns the messages of the range of a FOLD edit.
func Folded(s *session.State, e *compactordv1.Edit) []*compactordv1.LoggedMessage {
	return s.Kept[s.Position(e.GetFoldStart()):s.Position(e.GetFoldEnd())]
}

// FoldedTokens returns how many stored tokens the view shows of the messages of a FOLD edit's range.
func FoldedTokens(s *session.State, e *compactordv1.Edit) uint32 {
	at, kept := position(s, e.GetFoldStart())
	r := foldRange{at, s.Position(e.GetFoldEnd())}
	if !kept || r.empty() {
		return 0
	}
	return newSimulation(s).foldedTokens(r.edits(s))
}
