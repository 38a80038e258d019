package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// The bounds of the sessions below a session.
const (
	// MaxChildren is the most children of a session.
	MaxChildren = 1000
	// MaxDepth is the depth of the deepest child: 1 is that of a child of a session that is no child.
	MaxDepth = 8
	// MaxChildResult is the most bytes of a child's result.
	MaxChildResult = 256 << 10
)

// advanceCopied makes the thinking of messages invalid that a child has copied: they follow other messages than in the
// parent's log. None was made from a view of this log, so the mark of the first one counts for all.
func advanceCopied(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	if l.ParentIndex != nil && len(h.GetChanges()) == 0 {
		pushMark(h, l.GetSequence(), l.GetIndex())
	}
}

// ChildResult returns the message with the result of a child for its parent's log. call is the parent's open call that
// it answers; nil where it answers none. child is the child's session, and end its last record.
func ChildResult(
	child *storagev1.Session, end *compactordv1.ChildEnd, call *compactordv1.CallRef,
) *compactordv1.Message {
	text := wording.ChildResult(child.GetTitle(), child.GetSessionId(), child.GetHead().GetNextIndex(), end)
	if call == nil {
		return notice(compactordv1.Origin_ORIGIN_CHILD, text)
	}
	return &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL, Origin: compactordv1.Origin_ORIGIN_CHILD,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: call.GetId(), Name: call.GetName(), IsError: end.GetIsError(),
			Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{
				Text: &compactordv1.TextPart{Text: text},
			}}},
		}}}},
	}
}

// OpenCall returns the open call with this id that a result with it would answer; nil where there is none.
func OpenCall(h *storagev1.Head, id string) *compactordv1.CallRef {
	if i := nearestCall(h.GetOpenCalls(), id); id != "" && i >= 0 {
		return h.GetOpenCalls()[i]
	}
	return nil
}
