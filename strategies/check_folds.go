package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// inFolds returns edits with those of each fold together: what stands one after the other and has the same range. Any
// other edit is alone.
func inFolds(edits []*compactordv1.Edit) [][]*compactordv1.Edit {
	var all [][]*compactordv1.Edit
	for i, e := range edits {
		if i > 0 && sameFold(edits[i-1], e) {
			all[len(all)-1] = append(all[len(all)-1], e)
			continue
		}
		all = append(all, []*compactordv1.Edit{e})
	}
	return all
}

// sameFold says whether an edit can belong to the fold of the edit before it.
func sameFold(before, e *compactordv1.Edit) bool {
	return e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD && before.GetKind() == e.GetKind() &&
		before.GetFoldStart() == e.GetFoldStart() && before.GetFoldEnd() == e.GetFoldEnd() && !session.Carries(e)
}

// fold accepts the edits of one fold: of all messages in its range, which can be folded, with one text.
func (c *editCheck) fold(edits []*compactordv1.Edit) error {
	now := c.simulation.now()
	r, err := c.foldedBy(now, edits)
	if err != nil {
		return err
	}
	if err := checkFold(now, r); err != nil {
		return err
	}
	if err := checkFoldText(edits); err != nil {
		return err
	}
	carrier := edits[0]
	if carrier.GetBySummarizer() {
		if err := c.writtenOnce(carrier); err != nil {
			return err
		}
	}
	if c.freed = c.simulation.addFold(edits); c.freed == 0 {
		return freesNothing(carrier)
	}
	return nil
}

// foldedBy returns the range of a fold's edits, if they are those of all messages in it.
func (c *editCheck) foldedBy(s *session.State, edits []*compactordv1.Edit) (foldRange, error) {
	carrier := edits[0]
	start, end := carrier.GetFoldStart(), carrier.GetFoldEnd()
	from, kept := position(s, start)
	if !kept || start < c.shownFrom {
		return foldRange{}, invalid("a fold from message %d on, which the view does not show after the summary", start)
	}
	r := foldRange{from, s.Position(end)}
	if r.to-r.from != len(edits) || s.Kept[r.to-1].GetIndex()+1 != end {
		return r, invalid("coverage (I1): a fold of messages %d to %d has %d edits, and each active one needs one",
			start, int64(end)-1, len(edits))
	}
	for i, l := range s.Kept[r.from:r.to] {
		if edits[i].GetIndex() != l.GetIndex() || edits[i].GetPart() != 0 {
			return r, invalid("coverage (I1): a fold of messages %d to %d has no edit of message %d in its place",
				start, end-1, l.GetIndex())
		}
	}
	return r, nil
}

// checkFoldText checks that the first edit of a fold has a text, or is to get one, and the others have none.
func checkFoldText(edits []*compactordv1.Edit) error {
	carrier := edits[0]
	if carrier.GetBySummarizer() == (carrier.GetReplacement() != "") {
		return invalid("a fold at message %d needs either a text or the summarizer", carrier.GetIndex())
	}
	for _, e := range edits[1:] {
		if e.GetBySummarizer() || e.GetReplacement() != "" {
			return invalid("the text of the fold at message %d is at message %d", carrier.GetIndex(), e.GetIndex())
		}
	}
	return nil
}
