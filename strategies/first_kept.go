package strategies

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Where a cut is made: the rules of summarize for what to keep.

// firstKept returns the position in State.Kept of the first message to keep, or 0 to keep all. It also returns the most
// tokens for a summary of the messages before it. Of several rules, the one that keeps the fewest messages counts. If a
// trigger made compaction due, the trigger's budget also counts.
func firstKept(
	ctx context.Context, in *Input, view *dividedSize, p *compactordv1.SummarizeStrategy,
) (at int, maxSummary uint32, err error) {
	places := cutPlaces(in.State, p.GetSplitTurn())
	if len(places) == 0 {
		return 0, 0, ended(ctx)
	}
	if p == nil {
		p = &compactordv1.SummarizeStrategy{}
	}
	if p.RecentTurns != nil {
		at = max(at, atOrBefore(places, recentTurns(in.State, p.GetRecentTurns())))
	}
	if p.RecentMessages != nil {
		at = max(at, atOrBefore(places, recentMessages(in.State, p.GetRecentMessages())))
	}
	if p.RecentToolGroups != nil {
		at = max(at, atOrBefore(places, recentToolGroups(in.State, p.GetRecentToolGroups())))
	}
	if budget, holds := tokenBudget(in.Policy, p, in.Reason); holds {
		reached, err := budgetReached(ctx, in.State.Kept, in.State.Stored(budget), p.GetBudget())
		if err != nil {
			return 0, 0, err
		}
		at = max(at, placeNear(in.State, places, reached, p.GetCutDirection()))
	}
	if err := ended(ctx); err != nil {
		return 0, 0, err
	}
	at, maxSummary = withinBudget(in, view, places, at)
	return at, maxSummary, nil
}

// cutPlaces returns the positions before which a cut is valid.
func cutPlaces(s *session.State, mode compactordv1.SplitTurn) []int {
	places := s.CutPlaces()
	if mode != compactordv1.SplitTurn_SPLIT_TURN_OFF {
		return places
	}
	return slices.DeleteFunc(places, func(pos int) bool { return !session.StartsTurn(s.Kept[pos].GetMessage()) })
}

// tokenBudget returns the tokens to keep. It returns false if only other rules are given.
func tokenBudget(
	policy *compactordv1.Policy, p *compactordv1.SummarizeStrategy, why compactordv1.CompactionReason,
) (uint32, bool) {
	if why == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL && p.ManualRecentTokens != nil {
		return p.GetManualRecentTokens(), true
	}
	if p.RecentTokens != nil {
		return p.GetRecentTokens(), true
	}
	given := p.RecentTurns != nil || p.RecentMessages != nil || p.RecentToolGroups != nil
	return recentTokens(session.ContextLimit(policy)), !given
}

// budgetReached goes back from the newest message and returns the position at which the budget is reached, or 0 if all
// messages fit. Messages that repairs leave out of views count too, since the budget is for the log and not for one
// view of it.
func budgetReached(
	ctx context.Context, kept []*compactordv1.LoggedMessage, budget uint32, rule compactordv1.BudgetRule,
) (int, error) {
	var sum uint64
	for pos := len(kept) - 1; pos >= 0; pos-- {
		if err := ended(ctx); err != nil {
			return 0, err
		}
		sum += uint64(kept[pos].GetTokens())
		if rule == compactordv1.BudgetRule_BUDGET_RULE_AT_MOST {
			if sum > uint64(budget) {
				return pos + 1, nil
			}
		} else if sum >= uint64(budget) {
			return pos, nil
		}
	}
	return 0, nil
}

// placeNear returns the place of the cut for a budget that is reached at a position.
func placeNear(s *session.State, places []int, reached int, direction compactordv1.CutDirection) int {
	backward := direction == compactordv1.CutDirection_CUT_DIRECTION_BACKWARD && reached < len(s.Kept) &&
		s.Kept[reached].GetMessage().GetRole() != compactordv1.Role_ROLE_DEVELOPER
	if backward && places[0] <= reached {
		return atOrBefore(places, reached)
	}
	return atOrAfter(places, reached)
}

// atOrAfter returns the nearest place at or after a position, otherwise the nearest before it. A budget that a huge
// newest result reaches must not keep everything.
func atOrAfter(places []int, pos int) int {
	i, _ := slices.BinarySearch(places, pos)
	return places[min(i, len(places)-1)]
}

// atOrBefore returns the nearest place at or before a position, so that everything counted is kept. It returns 0 if
// there is none.
func atOrBefore(places []int, pos int) int {
	i, found := slices.BinarySearch(places, pos)
	switch {
	case found:
		return pos
	case i == 0:
		return 0
	default:
		return places[i-1]
	}
}

// recentTurns returns the position of the message that starts the n-th newest turn, or 0 if there are fewer.
func recentTurns(s *session.State, n uint32) int {
	return nthNewest(s.Kept, n, func(l *compactordv1.LoggedMessage) bool {
		return session.StartsTurn(l.GetMessage())
	})
}

// recentMessages returns the position of the n-th newest USER or ASSISTANT message, or 0 if there are fewer.
// Announcements of checkpoints and messages that views leave out do not count.
func recentMessages(s *session.State, n uint32) int {
	return nthNewest(s.Kept, n, func(l *compactordv1.LoggedMessage) bool {
		switch m := l.GetMessage(); m.GetRole() {
		case compactordv1.Role_ROLE_USER:
			return m.GetOrigin() != compactordv1.Origin_ORIGIN_MARKER
		case compactordv1.Role_ROLE_ASSISTANT:
			return !session.Failed(m)
		default:
			return false
		}
	})
}

func nthNewest(kept []*compactordv1.LoggedMessage, n uint32, counts func(*compactordv1.LoggedMessage) bool) int {
	for pos := len(kept) - 1; pos >= 0 && n > 0; pos-- {
		if !counts(kept[pos]) {
			continue
		}
		if n--; n == 0 {
			return pos
		}
	}
	return 0
}

// recentToolGroups returns the position at which the n-th newest tool group begins, or 0 if there are fewer.
func recentToolGroups(s *session.State, n uint32) int {
	groups := s.Groups()
	if n == 0 || uint64(len(groups)) < uint64(n) {
		return 0
	}
	return groups[len(groups)-int(n)].Call
}
