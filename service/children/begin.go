package children

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxChosenBytes is the most bytes of messages that a child copies, in protobuf encoding.
const maxChosenBytes = 64 << 20

// Begin begins the log of a child that sees chosen messages or nothing of its parent. parent is the parent's row as it
// was at the point where the child begins. The caller sets the names of the row.
func (c *Children) Begin(
	ctx context.Context, parent *storagev1.Session, id string, policy *compactordv1.Policy, sees *compactordv1.ChildContext,
) (*sessionlog.Write, error) {
	given, resolved := parent.GetPolicy(), parent.GetResolvedPolicy()
	if policy != nil {
		var err error
		if given, err = c.Policies.OfSession(ctx, policy); err != nil {
			return nil, err
		}
		if resolved, err = c.Policies.ResolveGiven(ctx, given); err != nil {
			return nil, err
		}
	}
	w, err := c.Logs.BeginSession(ctx, id, parent.GetEstimator(), given, resolved)
	if err != nil {
		return nil, err
	}
	s := &seen{logs: c.Logs, parent: parent, copies: make(map[uint32]uint32)}
	if sees.GetInstructions() {
		if err := s.addInstructions(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.addChosen(ctx, sees.GetIndexes()); err != nil {
		return nil, err
	}
	if err := s.copyTo(ctx, w); err != nil {
		return nil, err
	}
	return w, c.copyBlocks(ctx, parent, sees.GetBlocks(), w)
}

// seen are the messages of its parent that a child sees.
type seen struct {
	logs     *sessionlog.Logs
	parent   *storagev1.Session
	messages []*compactordv1.Message
	// indexes are those of the messages in the parent's log; nil for instructions that are in no message there.
	indexes []*uint32
	// copies are the positions in messages of the parent's messages, by their indexes there.
	copies map[uint32]uint32
	bytes  int
}

// add adds a message as it begins the child's log: without the usage that was reported for a request of the parent.
func (s *seen) add(m *compactordv1.Message, index *uint32) {
	m = proto.CloneOf(m)
	m.Usage = nil
	s.messages, s.indexes = append(s.messages, m), append(s.indexes, index)
}

// addLogged adds a message of the parent's log. A call without an id gets one from its index. The copy has another
// index, so a result that has the old id gets the new one.
func (s *seen) addLogged(l *compactordv1.LoggedMessage) {
	s.copies[l.GetIndex()] = uint32(len(s.messages))
	s.add(l.GetMessage(), proto.Uint32(l.GetIndex()))
	answers := l.GetAnswers()
	call, copied := s.copies[answers.GetIndex()]
	if answers == nil || !copied {
		return
	}
	for _, ref := range session.Calls(s.messages[call], call) {
		if ref.GetPart() == answers.GetPart() && ref.GetId() == session.CallID(nil, call, ref.GetPart()) {
			renameResult(s.messages[len(s.messages)-1], ref.GetId())
		}
	}
}

// renameResult gives the result in a TOOL message the id of its call, unless it has none.
func renameResult(m *compactordv1.Message, id string) {
	for _, p := range m.GetParts() {
		if r := p.GetToolResult(); r.GetCallId() != "" {
			r.CallId = id
		}
	}
}

// addInstructions adds the messages that the parent's views begin with.
func (s *seen) addInstructions(ctx context.Context) error {
	head := s.parent.GetHead()
	instructions, err := s.logs.Instructions(ctx, s.parent, head)
	if err != nil {
		return err
	}
	for _, m := range instructions {
		s.add(m, nil)
	}
	lead := &compactordv1.IndexRange{Start: head.GetInstructions().GetReplaced(), End: head.GetLeadEnd()}
	return s.logs.EachMessage(ctx, s.parent, []*compactordv1.IndexRange{lead}, func(l *compactordv1.LoggedMessage) bool {
		if session.ActiveIndex(head, l.GetIndex()) {
			s.addLogged(l)
		}
		return true
	})
}

// addChosen adds the messages with these indexes and those of their tool groups, in the order of the log.
func (s *seen) addChosen(ctx context.Context, indexes []uint32) error {
	if len(indexes) == 0 {
		return nil
	}
	for i, index := range indexes {
		if index < s.parent.GetHead().GetLeadEnd() {
			return apierror.InvalidField(fmt.Sprintf("child.indexes[%d]", i),
				fmt.Sprintf("message %d is one of the instructions: set instructions to copy them", index))
		}
	}
	whole, err := s.logs.WithGroups(ctx, s.parent, indexes)
	if err != nil {
		return err
	}
	slices.Sort(whole)
	var refused error
	err = s.logs.EachMessage(ctx, s.parent, ranges(whole), func(l *compactordv1.LoggedMessage) bool {
		refused = s.refuse(l)
		s.addLogged(l)
		return refused == nil
	})
	if err != nil {
		return err
	}
	return refused
}

// refuse returns an error for a message that a child cannot have.
func (s *seen) refuse(l *compactordv1.LoggedMessage) error {
	if l.GetMessage().GetOrigin() == compactordv1.Origin_ORIGIN_MARKER {
		return apierror.InvalidField("child.indexes",
			fmt.Sprintf("message %d announces a checkpoint, which the child does not have", l.GetIndex()))
	}
	if s.bytes += proto.Size(l); s.bytes > maxChosenBytes {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_child_bytes", "value": strconv.Itoa(maxChosenBytes)},
			"child.indexes: the messages have more than %d bytes", maxChosenBytes)
	}
	return nil
}

// copyTo appends the messages to the child's log.
func (s *seen) copyTo(ctx context.Context, w *sessionlog.Write) error {
	counter, err := session.CounterFor(w.Row().GetEstimator())
	if err != nil {
		return err
	}
	if counter, err = session.CountAhead(ctx, counter, s.messages...); err != nil {
		return err
	}
	a := w.Appender(counter)
	// No view of the child was there before.
	a.ViewPoint = proto.Uint32(0)
	a.Linked = func(_ *storagev1.Head, l *compactordv1.LoggedMessage, i int) { l.ParentIndex = s.indexes[i] }
	if err := a.Append(ctx, s.messages, nil); err != nil {
		return err
	}
	if open := w.Head().GetOpenCalls(); len(open) > 0 {
		return apierror.InvalidField("child.indexes", fmt.Sprintf(
			"message %d has calls without results, for which the child would wait", *s.indexes[open[0].GetIndex()]))
	}
	return nil
}

// ranges returns the ranges of consecutive indexes, which ascend.
func ranges(indexes []uint32) []*compactordv1.IndexRange {
	var all []*compactordv1.IndexRange
	for _, index := range indexes {
		if n := len(all); n > 0 && all[n-1].GetEnd() == index {
			all[n-1].End++
			continue
		}
		all = append(all, &compactordv1.IndexRange{Start: index, End: index + 1})
	}
	return all
}

// copyBlocks sets context blocks of the parent in the child.
func (c *Children) copyBlocks(
	ctx context.Context, parent *storagev1.Session, names []string, w *sessionlog.Write,
) error {
	if len(names) == 0 {
		return nil
	}
	head := parent.GetHead()
	blocks, _, err := c.Logs.ContextBlocks(ctx, parent, head)
	if err != nil {
		return err
	}
	change := &compactordv1.ContextBlockChange{}
	for i, name := range names {
		at := slices.IndexFunc(head.GetBlocks(), func(b *storagev1.BlockInForce) bool { return b.GetName() == name })
		field := fmt.Sprintf("child.blocks[%d]", i)
		if at < 0 {
			return apierror.InvalidField(field, "no context block with this name is in force")
		}
		b := proto.CloneOf(blocks[at])
		if b.GetOperator() && !w.Row().GetResolvedPolicy().GetContextBlocks().GetAllowOperator() {
			return apierror.InvalidField(field,
				"the child's policy does not let context blocks speak with the operator's voice (policy.context_blocks.allow_operator)")
		}
		if left := head.GetBlocks()[at].TurnsLeft; left != nil {
			// The child's first turn is within the turn of the parent in which the block holds.
			b.Turns = *left + 1
		}
		change.Set = append(change.Set, b)
	}
	_, err = w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: change}}, nil)
	return err
}
