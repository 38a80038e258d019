package strategies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// checkEdits checks each edit after those before it are applied. The edits of a fold are checked together.
func checkEdits(s *session.State, edits []*compactordv1.Edit, shownFrom uint32) error {
	if len(edits) == 0 {
		return nil
	}
	c := newEditCheck(s, shownFrom)
	for _, together := range inFolds(edits) {
		if err := c.checkTogether(together); err != nil {
			return err
		}
	}
	return nil
}

// Fitting returns the edits that Check accepts, each applied after those before it, with the tokens that it then frees.
// Edits of a plan may have become invalid: messages were edited or pinned meanwhile, or a text by the summarizer is not
// shorter. Messages that the cut covers need no edit. A fold is made whole or not at all.
func Fitting(s *session.State, edits []*compactordv1.Edit, cut *compactordv1.Cut) []*compactordv1.Edit {
	shownFrom := session.KeptFrom(s.Head)
	if cut != nil {
		shownFrom = cut.GetFirstKeptIndex()
	}
	c := newEditCheck(s, shownFrom)
	var fitting []*compactordv1.Edit
	for _, together := range inFolds(edits) {
		if c.checkTogether(together) != nil {
			continue
		}
		first := together[0]
		if !first.GetBySummarizer() && first.GetTokensFreed() != c.freed {
			first = proto.CloneOf(first)
			first.TokensFreed = c.freed
		}
		fitting = append(append(fitting, first), together[1:]...)
	}
	return fitting
}

// Gaining removes the edits that free nothing because the result was already shortened when it was appended. Such edits
// were made under another policy.on_append, and the result should stay as it is shown. Check handles all other invalid
// edits.
func Gaining(s *session.State, edits []*compactordv1.Edit) []*compactordv1.Edit {
	c := newEditCheck(s, session.KeptFrom(s.Head))
	var gaining []*compactordv1.Edit
	for _, together := range inFolds(edits) {
		if !errors.Is(c.checkTogether(together), errFreesNothing) || !shortenedOnArrival(s, together[0]) {
			gaining = append(gaining, together...)
		}
	}
	return gaining
}

// shortenedOnArrival says whether the edit replaces a result that was shortened when it was appended.
func shortenedOnArrival(s *session.State, e *compactordv1.Edit) bool {
	return slices.ContainsFunc(s.Kept, func(l *compactordv1.LoggedMessage) bool {
		ofGroup := e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP &&
			l.GetAnswers() != nil && l.GetAnswers().GetIndex() == e.GetIndex()
		return (ofGroup || l.GetIndex() == e.GetIndex()) && len(l.GetArrivalEdits()) > 0
	})
}

// errFreesNothing: an edit does not make the view smaller.
var errFreesNothing = fmt.Errorf("%w: shrink (I5)", ErrInvalidPlan)

// place is the place of a text by the summarizer, which may write only one for it.
type place struct{ index, part uint32 }

type editCheck struct {
	state      *session.State
	simulation *simulation
	shownFrom  uint32
	written    map[place]bool
	groups     []session.Group
	// freed is how many tokens the last tried edit removes from the view.
	freed uint32
}

// newEditCheck returns a check for edits of messages from index shownFrom on, the first that the view still shows in
// its place.
func newEditCheck(s *session.State, shownFrom uint32) *editCheck {
	return &editCheck{state: s, simulation: newSimulation(s), shownFrom: shownFrom, written: make(map[place]bool)}
}

// summarized says whether a summary precedes the messages that are shown in their place.
func (c *editCheck) summarized() bool {
	return c.state.Entry != nil || c.shownFrom > session.KeptFrom(c.state.Head)
}

// checkTogether checks the edits of a fold, or one other edit.
func (c *editCheck) checkTogether(together []*compactordv1.Edit) error {
	if together[0].GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
		return c.fold(together)
	}
	return c.check(together[0])
}

func (c *editCheck) check(e *compactordv1.Edit) error {
	at, kept := position(c.state, e.GetIndex())
	if !kept || e.GetIndex() < c.shownFrom {
		return invalid("an edit of message %d, which the view does not show after the summary", e.GetIndex())
	}
	if session.Pinned(c.state.Head, e.GetIndex()) {
		return invalid("an edit of message %d, which is pinned", e.GetIndex())
	}
	l := c.state.Kept[at]
	if int64(e.GetPart()) >= int64(len(l.GetMessage().GetParts())) {
		return invalid("an edit of part %d of message %d, which has %d parts",
			e.GetPart(), e.GetIndex(), len(l.GetMessage().GetParts()))
	}
	if e.GetIndex() == c.shownFrom && c.summarized() && c.simulation.empties(e, l) {
		return invalid("cuts (I4): nothing is left of message %d, which the kept part begins with", e.GetIndex())
	}
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
		return c.collapse(e, at)
	}
	if why := misfit(e, l); why != "" {
		return invalid("%s of part %d of message %d: %s", e.GetKind(), e.GetPart(), e.GetIndex(), why)
	}
	if e.GetBySummarizer() {
		return c.bySummarizer(e, l)
	}
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_DROP_THINKING {
		return c.drops(e, l)
	}
	return c.shrinks(e, l)
}

// misfit says why an edit of this kind cannot be made of the part. It returns "" if it can.
func misfit(e *compactordv1.Edit, l *compactordv1.LoggedMessage) string {
	p := l.GetMessage().GetParts()[e.GetPart()]
	switch e.GetKind() {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
		compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		return misfitOfResult(e, l)
	case compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS:
		if p.GetToolCall() == nil {
			return "the part is no tool call"
		}
		if !isObject(e.GetReplacement()) {
			return "the replacement is no JSON object"
		}
	case compactordv1.EditKind_EDIT_KIND_DROP_THINKING:
		if p.GetThinking() == nil {
			return "the part is no thinking"
		}
		if e.GetReplacement() != "" {
			return "nothing can stand in for thinking"
		}
	case compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA:
		if !hasMedia(p) {
			return "the part has no media"
		}
		if e.GetReplacement() == "" {
			return "the replacement does not say what was there"
		}
	default:
		return "no such kind of edit"
	}
	if e.GetBySummarizer() {
		return "a summarizer writes only shorter results"
	}
	return ""
}

func misfitOfResult(e *compactordv1.Edit, l *compactordv1.LoggedMessage) string {
	switch {
	case l.GetMessage().GetParts()[e.GetPart()].GetToolResult() == nil:
		return "the part is no tool result"
	case l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER &&
		(!stray(l) || e.GetKind() != compactordv1.EditKind_EDIT_KIND_HIDE_RESULT):
		return "the result answers no call that the view shows"
	case !e.GetBySummarizer():
		if e.GetReplacement() == "" {
			return "the replacement does not say what was there"
		}
	case e.GetKind() != compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		return "a summarizer writes only shorter results"
	case e.GetReplacement() != "":
		return "the replacement is there before the summarizer has written it"
	}
	return ""
}

func hasMedia(p *compactordv1.Part) bool {
	if p.GetMedia() != nil {
		return true
	}
	for _, rp := range p.GetToolResult().GetParts() {
		if rp.GetMedia() != nil {
			return true
		}
	}
	return false
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// bySummarizer accepts one text for each result that the view shows. Whether it is shorter is checked after it was
// written.
func (c *editCheck) bySummarizer(e *compactordv1.Edit, l *compactordv1.LoggedMessage) error {
	if c.simulation.now().Folded(l) {
		return freesNothing(e)
	}
	return c.writtenOnce(e)
}

func (c *editCheck) writtenOnce(e *compactordv1.Edit) error {
	at := place{e.GetIndex(), e.GetPart()}
	if c.written[at] {
		return invalid("part %d of message %d is to be written twice", e.GetPart(), e.GetIndex())
	}
	c.written[at] = true
	return nil
}

// collapse accepts only whole and finished groups.
func (c *editCheck) collapse(e *compactordv1.Edit, at int) error {
	if e.GetPart() != 0 || e.GetBySummarizer() {
		return invalid("a collapse of message %d that names a part or a summarizer", e.GetIndex())
	}
	if c.groups == nil {
		c.groups = c.state.Groups()
	}
	for _, g := range c.groups {
		if g.Call != at {
			continue
		}
		if g.Open {
			return invalid("pairing (I2): the group of message %d still waits for results", e.GetIndex())
		}
		members := []*compactordv1.LoggedMessage{c.state.Kept[at]}
		for _, pos := range g.Results {
			if session.Pinned(c.state.Head, c.state.Kept[pos].GetIndex()) {
				return invalid("pairing (I2): a result of message %d is pinned", e.GetIndex())
			}
			members = append(members, c.state.Kept[pos])
		}
		return c.shrinks(e, members...)
	}
	return invalid("pairing (I2): message %d leads no tool group", e.GetIndex())
}

// drops accepts an edit that drops thinking, even if the thinking counts no tokens.
func (c *editCheck) drops(e *compactordv1.Edit, l *compactordv1.LoggedMessage) error {
	var added bool
	if c.freed, added = c.simulation.addThinking(e, l); !added {
		return freesNothing(e)
	}
	return nil
}

func (c *editCheck) shrinks(e *compactordv1.Edit, shownIn ...*compactordv1.LoggedMessage) error {
	if c.freed = c.simulation.add(e, shownIn...); c.freed == 0 {
		return freesNothing(e)
	}
	return nil
}

func freesNothing(e *compactordv1.Edit) error {
	return fmt.Errorf("%w: %s of part %d of message %d frees nothing",
		errFreesNothing, e.GetKind(), e.GetPart(), e.GetIndex())
}
