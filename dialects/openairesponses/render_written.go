package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderAsWritten renders messages as they were parsed, including their errors.
func renderAsWritten(messages []*compactordv1.Message) *dialect.Rendered {
	r := &renderer{asWritten: true, messages: messages}
	for at, m := range messages {
		r.at = at
		if raw, unread := wasUnread(m, 0); unread && !isInstructions(m) && m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			r.emit(raw)
			continue
		}
		r.renderMessage(m)
	}
	r.restoreText()
	return &r.out
}

// restoreText writes the one message of the user as the text that was the whole input.
func (r *renderer) restoreText() {
	if len(r.out.Messages) != 1 {
		return
	}
	m := r.messages[r.out.From[0].First]
	if _, whole := dialect.Noted(m.GetAttachments(), kind, noteInput); !whole {
		return
	}
	if o, err := rawjson.ParseObject(r.out.Messages[0]); err == nil && rawjson.KindOf(o["content"]) == rawjson.String {
		r.out.Messages[0] = o["content"]
	}
}
