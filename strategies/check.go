package strategies

import (
	"fmt"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Check returns ErrInvalidPlan and the invariant's name if a plan breaks an invariant. It accepts every plan, a
// client's too. It does not check what is only known after the plan was carried out: whether the summary is good
// enough, and whether it makes the view smaller. It does not check figures that only inform either, such as the freed
// tokens.
func Check(in *Input, plan *compactordv1.CompactionPlan) error {
	if plan == nil {
		return invalid("there is none")
	}
	does := plan.GetCut() != nil || len(plan.GetEdits()) > 0
	if does && plan.GetSkipReason() != compactordv1.SkipReason_SKIP_REASON_UNSPECIFIED {
		return invalid("it has a cut or edits and a skip_reason")
	}
	shownFrom := session.KeptFrom(in.State.Head)
	if plan.GetCut() != nil {
		if err := checkCut(in.State, plan.GetCut()); err != nil {
			return err
		}
		shownFrom = plan.GetCut().GetFirstKeptIndex()
	}
	return checkEdits(in.State, plan.GetEdits(), shownFrom)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidPlan, fmt.Sprintf(format, args...))
}

func checkCut(s *session.State, c *compactordv1.Cut) error {
	first := c.GetFirstKeptIndex()
	at, kept := position(s, first)
	if !kept {
		return invalid("coverage (I1): message %d is not among those that the view shows after the summary", first)
	}
	if !slices.Contains(s.CutPlaces(), at) {
		return invalid("cuts (I4): before message %d no cut is valid", first)
	}
	if at == 0 {
		return invalid("shrink (I5): no active message before %d is left to summarize", first)
	}
	start := session.KeptFrom(s.Head)
	if r := c.GetSummarized(); r.GetStart() != start || r.GetEnd() != first {
		return invalid("coverage (I1): summarized must be %d to %d, not %d to %d", start, first, r.GetStart(), r.GetEnd())
	}
	if c.GetMaxSummaryTokens() == 0 {
		return invalid("shrink (I5): max_summary_tokens is 0, and a summary needs a budget")
	}
	return checkSplit(s, c, at)
}

func checkSplit(s *session.State, c *compactordv1.Cut, at int) error {
	if c.SplitTurnStart == nil {
		return nil
	}
	if start := turnStart(s, at); start < 0 || start == at || s.Kept[start].GetIndex() != c.GetSplitTurnStart() {
		return invalid("coverage (I1): message %d does not start the turn that a cut before %d splits",
			c.GetSplitTurnStart(), c.GetFirstKeptIndex())
	}
	return nil
}
