package strategies

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Selecting old tool results by groups or turns, for the strategies that remove them.

// oldUses returns the tool uses of these groups, and of results before position `strays` that answer no call and so
// belong to no group.
func oldUses(ctx context.Context, s *session.State, groups []session.Group, strays int) ([]toolUse, error) {
	var uses []toolUse
	for pos, answers := range answersTo(s, groups) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if l := s.Kept[pos]; answers || stray(l) && pos < strays {
			uses = append(uses, useOf(l))
		}
	}
	return uses, nil
}

// settled says whether the view shows a group's results and the model has read them: not those of open groups, nor of
// collapsed ones.
func settled(s *session.State, g session.Group) bool { return !g.Open && !collapsed(s, g) }

// answersTo marks the positions of the settled groups' results.
func answersTo(s *session.State, groups []session.Group) []bool {
	marks := make([]bool, len(s.Kept))
	for _, g := range groups {
		if !settled(s, g) {
			continue
		}
		for _, pos := range g.Results {
			marks[pos] = true
		}
	}
	return marks
}

// allBut returns the elements without the newest n.
func allBut[T any](all []T, newest uint32) []T {
	return all[:len(all)-int(min(uint64(len(all)), uint64(newest)))]
}

// beforeGroups returns the position of the oldest of the newest groups. It returns the end if none is to be kept, and 0
// if there are no groups.
func beforeGroups(s *session.State, groups []session.Group, newest uint32) int {
	switch {
	case newest == 0:
		return len(s.Kept)
	case len(groups) == 0:
		return 0
	default:
		return groups[len(allBut(groups, newest))].Call
	}
}

// beforeTurns returns the position at which the oldest of the newest turns starts. It returns the end if none is to be
// kept, and 0 if there are fewer turns.
func beforeTurns(s *session.State, newest uint32) int {
	if newest == 0 {
		return len(s.Kept)
	}
	return recentTurns(s, newest)
}

// toolOf returns the name of the tool of a result, if it is known.
func toolOf(l *compactordv1.LoggedMessage) string {
	if !stray(l) {
		return l.GetAnswers().GetName()
	}
	if name := l.GetMessage().GetParts()[0].GetToolResult().GetName(); name != "" {
		return name
	}
	return "a tool"
}

// stray says whether a message is a result that answers no call. Views quote such a result.
func stray(l *compactordv1.LoggedMessage) bool {
	return l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY
}

func collapsed(s *session.State, g session.Group) bool {
	return edited(s, s.Kept[g.Call].GetIndex(), 0, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP)
}

// edited says whether an edit of this kind is in effect.
func edited(s *session.State, index, part uint32, kind compactordv1.EditKind) bool {
	return slices.ContainsFunc(s.Edits[index], func(e *compactordv1.Edit) bool {
		return e.GetPart() == part && e.GetKind() == kind
	})
}
