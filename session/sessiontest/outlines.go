package sessiontest

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Outlined returns a state with outlines of the messages of a whole one. They lack all texts of results.
func Outlined(whole *session.State) *session.State { return OutlinedWith(whole, nil) }

// OutlinedWith returns outlines like Outlined. Where facts are given, they lack all arguments of calls, too.
func OutlinedWith(
	whole *session.State, facts func(*compactordv1.LoggedMessage) (facts any, bytes int),
) *session.State {
	s := *whole
	s.Known = &session.Known{}
	s.Outlines = &session.Outlines{
		Contents: contents{whole}, Counter: whole.Counter, To: whole.Head.GetNextIndex(), Least: 1, Facts: facts, Known: s.Known,
	}
	for _, list := range []*[]*compactordv1.LoggedMessage{&s.Lead, &s.OutOfPlace, &s.Kept} {
		*list = slices.Clone(*list)
		for i, l := range *list {
			(*list)[i] = s.Outlines.Of(l)
		}
	}
	return &s
}

// contents reads the messages of a whole state.
type contents struct{ whole *session.State }

var _ session.Pieces = contents{}

// Active implements session.Pieces.
func (c contents) Active(_ context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	var found []*compactordv1.LoggedMessage
	for _, l := range slices.Concat(c.whole.Lead, c.whole.OutOfPlace, c.whole.Kept) {
		if start <= l.GetIndex() && l.GetIndex() < end {
			found = append(found, l)
		}
	}
	return found, nil
}

// Edits implements session.Pieces.
func (c contents) Edits(_ context.Context, start, end uint32) (map[uint32][]*compactordv1.Edit, error) {
	found := make(map[uint32][]*compactordv1.Edit)
	for index, edits := range c.whole.Edits {
		if start <= index && index < end {
			found[index] = edits
		}
	}
	return found, nil
}
