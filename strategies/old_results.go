package strategies

import (
	"context"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// oldResults are the results that are hidden for their age: how much has come since, and not how much they hold.
type oldResults struct {
	// groups are the tool groups whose results are old. Those of one group are hidden together or stay together.
	groups []session.Group
	// strays is the position before which a result that answers no call is old: it belongs to no group.
	strays int
	// end is the position behind which nothing is old.
	end int
	// minChars is how many characters a result must have.
	minChars       uint32
	protectedTools []string
}

// plan hides them.
func (o oldResults) plan(
	ctx context.Context, in *Input, placeholder string, minimum uint32,
) (*compactordv1.CompactionPlan, error) {
	h := newHiding(in.State, placeholder)
	answers := answersTo(in.State, o.groups)
	for pos, l := range in.State.Kept[:o.end] {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		old := answers[pos] || stray(l) && pos < o.strays
		if old && hideable(in.State, l, o.protectedTools) && hasCharacters(in.State, l, o.minChars) {
			h.hide(l)
		}
		if h.full() {
			break
		}
	}
	return h.plan(in, minimum), nil
}

// hasCharacters says whether the view shows so many code points of a result's text.
func hasCharacters(s *session.State, l *compactordv1.LoggedMessage, least uint32) bool {
	if least == 0 {
		return true
	}
	shown, _ := s.Shown(l)
	var has uint64
	for _, p := range shown.GetParts()[0].GetToolResult().GetParts() {
		has += uint64(utf8.RuneCountInString(p.GetText().GetText()) + utf8.RuneCountInString(p.GetOpaque().GetJson()))
	}
	return has >= uint64(least)
}

// beforeNewest is the position of the oldest of the newest groups, behind all that is older: the end where none is to
// stay, and the beginning where there is none.
func beforeNewest(s *session.State, groups []session.Group, newest uint32) int {
	switch {
	case newest == 0:
		return len(s.Kept)
	case len(groups) == 0:
		return 0
	default:
		return groups[len(allBut(groups, newest))].Call
	}
}
