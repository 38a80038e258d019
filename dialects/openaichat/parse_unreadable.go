package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// shape says how to read a message without its unreadable content.
var shape = &dialect.Shape{
	Kind:  kind,
	Parts: []string{"content"},
	Moved: []string{"tool_calls", "function_call"},
	Core:  []string{"role", "tool_call_id", "name"},
	Event: func(o rawjson.Object) bool { return o.Has("choices") },
	Line:  func(_ rawjson.Object, text string) json.RawMessage { return textObject(text).Encode() },
	Whole: func(o rawjson.Object, text string) json.RawMessage {
		whole := rawjson.Object{"role": rawjson.Quote(roleUser), "content": rawjson.Quote(text)}
		if role, err := o.Text("role"); err == nil && roles[role] != compactordv1.Role_ROLE_UNSPECIFIED {
			whole["role"] = o["role"]
		}
		if id, err := o.BoundedText("tool_call_id", dialect.MaxID); err == nil && id != "" {
			whole["tool_call_id"] = o["tool_call_id"]
		}
		return whole.Encode()
	},
}

// parseLenient parses a message without its unreadable content.
func parseLenient(u *dialect.Unread, raw json.RawMessage, at int) (m *compactordv1.Message, findings []dialect.Finding, err error) {
	unread, err := shape.Read(u, at, raw, func(raw json.RawMessage) error {
		var err error
		m, findings, err = parseMessage(raw, at)
		return err
	})
	dialect.KeepUnread(kind, m, raw, unread)
	return m, append(findings, unread...), err
}
