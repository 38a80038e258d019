package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderAsWritten renders messages as they were parsed, including their errors.
func renderAsWritten(messages []*compactordv1.Message) *dialect.Rendered {
	out := &dialect.Rendered{}
	out.Messages = make([]json.RawMessage, 0, len(messages))
	for i, m := range messages {
		r := &renderer{out: out, at: i, m: m}
		out.Messages = append(out.Messages, r.renderMessage().Encode())
		out.From = append(out.From, dialect.Span{First: i, End: i + 1})
	}
	dialect.RestoreUnread(kind, out, messages)
	return out
}
