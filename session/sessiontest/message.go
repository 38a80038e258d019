package sessiontest

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// EveryKind returns an ASSISTANT message with a part of each kind that it can have.
func EveryKind() *compactordv1.LoggedMessage {
	data := &compactordv1.MediaPart{
		MimeType: "image/png", Name: "a.png", Source: &compactordv1.MediaPart_Data{Data: []byte{0, 255}},
	}
	uri := &compactordv1.MediaPart{MimeType: "image/png", Source: &compactordv1.MediaPart_Uri{Uri: "http://host/a.png"}}
	fileID := &compactordv1.MediaPart{MimeType: "text/plain", Source: &compactordv1.MediaPart_FileId{FileId: "file-1"}}
	opaque := &compactordv1.OpaquePart{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Json: `{"x":1}`}
	return &compactordv1.LoggedMessage{Index: 7, Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_ASSISTANT,
		Parts: []*compactordv1.Part{
			session.TextPart("first"),
			{
				Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "hm"}},
				Attachments: []*compactordv1.Attachment{{Key: "signature", Json: `"s"`}},
			},
			{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Name: "read", Arguments: `{"path":"a"}`}}},
			{Kind: &compactordv1.Part_Media{Media: data}},
			{Kind: &compactordv1.Part_Media{Media: uri}},
			{Kind: &compactordv1.Part_Media{Media: fileID}},
			{Kind: &compactordv1.Part_Opaque{Opaque: opaque}},
			session.TextPart("second"),
		},
	}}
}
