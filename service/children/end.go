package children

import (
	"context"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// Ended is a child that has ended, and its result.
type Ended struct {
	Child *storagev1.Session
	// Result is the message in the parent's log, and Report how full the parent's context is.
	Result *compactordv1.LoggedMessage
	Report *compactordv1.ContextReport
}

// End ends a child with its result. It first writes the end to the child's log, then appends the result to the parent's,
// and then notes in the child's row where that is. What a stop of the daemon leaves undone, the next call does: the
// record in the child's log says what the result is, and the child that a message names whose result it is.
func (c *Children) End(ctx context.Context, req *compactordv1.EndChildRequest) (*Ended, error) {
	end, child, err := c.close(ctx, req)
	if err != nil {
		return nil, err
	}
	ended := &Ended{Child: child}
	if err := c.deliver(ctx, end, ended); err != nil {
		return nil, err
	}
	return ended, c.note(ctx, ended)
}

// close closes the log of a child, unless that was done before, and returns its end.
func (c *Children) close(
	ctx context.Context, req *compactordv1.EndChildRequest,
) (end *compactordv1.ChildEnd, child *storagev1.Session, err error) {
	err = c.Logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		child = row
		if row.GetEnded() != nil {
			end, err = c.sameEnd(ctx, row, req)
			return nil, err
		}
		if end, err = c.endOf(ctx, row, req); err != nil {
			return nil, err
		}
		w := c.Logs.Begin(row)
		r, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_ChildEnd{ChildEnd: end}}, nil)
		if err != nil {
			return nil, err
		}
		w.Row().Ended = &compactordv1.EndedChild{EndedAt: r.GetCreatedAt(), Sequence: r.GetSequence()}
		child = w.Row()
		return w, nil
	})
	return end, child, err
}

// sameEnd returns the end of a child that has ended. It refuses a request for another one.
func (c *Children) sameEnd(
	ctx context.Context, row *storagev1.Session, req *compactordv1.EndChildRequest,
) (*compactordv1.ChildEnd, error) {
	stored, err := c.Logs.RecordAtOrBefore(ctx, row, row.GetEnded().GetSequence())
	if err != nil {
		return nil, err
	}
	end := stored.GetRecord().GetChildEnd()
	sameResult := req.GetResult() == end.GetResult() || req.GetResult() == "" && end.ResultIndex != nil
	if end.GetCallId() != req.GetCallId() || end.GetIsError() != req.GetIsError() || !sameResult {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHILD_ENDED,
			map[string]string{"session_id": row.GetSessionId()}, "the child %q has ended with another result", row.GetSessionId())
	}
	return end, nil
}

// endOf returns the end that a request gives a child.
func (c *Children) endOf(
	ctx context.Context, row *storagev1.Session, req *compactordv1.EndChildRequest,
) (*compactordv1.ChildEnd, error) {
	parent, err := c.parentOf(ctx, row)
	if err != nil {
		return nil, err
	}
	if req.GetCallId() != "" && session.OpenCall(parent.GetHead(), req.GetCallId()) == nil {
		return nil, apierror.InvalidField("call_id", "the parent has no open call with this id")
	}
	end := &compactordv1.ChildEnd{
		CallId: req.GetCallId(), Result: req.GetResult(), IsError: req.GetIsError(),
		ParentNextIndex: parent.GetHead().GetNextIndex(),
	}
	if end.GetResult() != "" {
		return end, nil
	}
	return end, c.lastSaid(ctx, row, end)
}

// parentOf returns the row of a child's parent.
func (c *Children) parentOf(ctx context.Context, child *storagev1.Session) (*storagev1.Session, error) {
	if child.GetParent() == nil {
		return nil, noParent(child, "the session is no child")
	}
	parent, err := c.Logs.Row(ctx, child.GetParent().GetSessionId())
	if apierror.IsSessionNotFound(err) || err == nil && parent.GetUid() != child.GetParent().GetUid() {
		return nil, noParent(child, "its parent was deleted")
	}
	return parent, err
}

func noParent(child *storagev1.Session, why string) error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_NO_PARENT,
		map[string]string{"session_id": child.GetSessionId()}, "%q: %s", child.GetSessionId(), why)
}

// lookedThrough is how many messages are read in search of the child's last text.
const lookedThrough = 10_000

// lastSaid makes the text of the child's newest ASSISTANT message that has any the result.
func (c *Children) lastSaid(ctx context.Context, row *storagev1.Session, end *compactordv1.ChildEnd) error {
	next := row.GetHead().GetNextIndex()
	for index := next; index > 0 && next-index < lookedThrough; index-- {
		if !session.ActiveIndex(row.GetHead(), index-1) {
			continue
		}
		l, err := c.Logs.Message(ctx, row, index-1)
		if err != nil {
			return err
		}
		m := l.GetMessage()
		if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT || session.Failed(m) {
			continue
		}
		if text := textOf(m); !wording.Blank(text) {
			end.Result, end.Shortened = beginning(text, session.MaxChildResult)
			end.ResultIndex = proto.Uint32(l.GetIndex())
			return nil
		}
	}
	return apierror.InvalidField("result", "the child has no ASSISTANT message with text: say what its result is")
}

// textOf returns all text of a message, with a line break between parts.
func textOf(m *compactordv1.Message) string {
	text := ""
	for _, p := range m.GetParts() {
		if t := p.GetText().GetText(); t != "" {
			if text != "" {
				text += "\n"
			}
			text += t
		}
	}
	return text
}

// beginning returns as many whole characters of a text as fit into so many bytes.
func beginning(text string, most int) (cut string, shortened bool) {
	if len(text) <= most {
		return text, false
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

// deliver appends the result to the parent's log, unless it is there.
func (c *Children) deliver(ctx context.Context, end *compactordv1.ChildEnd, ended *Ended) error {
	child := ended.Child
	parent, err := c.parentOf(ctx, child)
	if err != nil {
		return err
	}
	return c.Logs.Update(ctx, parent.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != parent.GetUid() {
			return nil, noParent(child, "its parent was deleted")
		}
		if ended.Result, err = c.delivered(ctx, row, child, end); err != nil || ended.Result != nil {
			ended.Report = sessionlog.Report(row)
			return nil, err
		}
		w := c.Logs.Begin(row)
		if ended.Result, err = appendResult(ctx, w, child, end); err != nil {
			return nil, err
		}
		ended.Report, err = w.Report(ctx)
		return w, err
	})
}

// delivered returns the message with the result of a child, where the parent's log has it already.
func (c *Children) delivered(
	ctx context.Context, parent, child *storagev1.Session, end *compactordv1.ChildEnd,
) (found *compactordv1.LoggedMessage, err error) {
	if index := child.GetEnded().ResultIndex; index != nil {
		return c.Logs.Message(ctx, parent, *index)
	}
	since := &compactordv1.IndexRange{Start: end.GetParentNextIndex(), End: parent.GetHead().GetNextIndex()}
	err = c.Logs.EachMessage(ctx, parent, []*compactordv1.IndexRange{since}, func(l *compactordv1.LoggedMessage) bool {
		if l.GetChild().GetUid() == child.GetUid() {
			found = l
		}
		return found == nil
	})
	return found, err
}

// appendResult appends the result of a child: as the result of the call that it was to answer, if that is still open.
func appendResult(
	ctx context.Context, w *sessionlog.Write, child *storagev1.Session, end *compactordv1.ChildEnd,
) (result *compactordv1.LoggedMessage, err error) {
	m := session.ChildResult(child, end, session.OpenCall(w.Head(), end.GetCallId()))
	counter, err := session.CounterFor(w.Row().GetEstimator())
	if err != nil {
		return nil, err
	}
	if counter, err = session.CountAhead(ctx, counter, m); err != nil {
		return nil, err
	}
	a := w.Appender(counter)
	a.Linked = func(_ *storagev1.Head, l *compactordv1.LoggedMessage, _ int) {
		l.Child = &compactordv1.ChildRef{SessionId: child.GetSessionId(), Uid: child.GetUid()}
		result = l
	}
	return result, a.Append(ctx, []*compactordv1.Message{m}, nil)
}

// note writes into the child's row where its result is. Where the child was deleted meanwhile, there is nothing to note.
func (c *Children) note(ctx context.Context, ended *Ended) error {
	err := c.Logs.Update(ctx, ended.Child.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != ended.Child.GetUid() {
			return nil, nil
		}
		ended.Child = row
		if row.GetEnded().ResultIndex != nil {
			return nil, nil
		}
		w := c.Logs.BeginInternal(row)
		w.Row().Ended.ResultIndex = proto.Uint32(ended.Result.GetIndex())
		ended.Child = w.Row()
		return w, nil
	})
	if apierror.IsSessionNotFound(err) {
		return nil
	}
	return err
}
