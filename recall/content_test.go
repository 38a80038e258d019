package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session/sessiontest"
)

func mediaOf(name string, data []byte) *compactordv1.MediaPart {
	return &compactordv1.MediaPart{MimeType: "image/png", Name: name, Source: &compactordv1.MediaPart_Data{Data: data}}
}

func opaqueOf(json string) *compactordv1.OpaquePart {
	return &compactordv1.OpaquePart{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Json: json}
}

func resultOf(pieces ...*compactordv1.ResultPart) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{
		Index: 8, Answers: &compactordv1.CallRef{Index: 7, Part: 2, Name: "read"},
		ResultPlace: compactordv1.ResultPlace_RESULT_PLACE_ANSWER,
		Message: &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind:        &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{Parts: pieces}},
			Attachments: []*compactordv1.Attachment{{Key: "of the part"}},
		}}},
	}
}

func pieceOf(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{
		Kind:        &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}},
		Attachments: []*compactordv1.Attachment{{Key: "of the piece"}},
	}
}

func TestContentOfParts(t *testing.T) {
	const (
		text      = compactordv1.ContentKind_CONTENT_KIND_TEXT
		reference = compactordv1.ContentKind_CONTENT_KIND_MEDIA_REFERENCE
	)
	l := sessiontest.EveryKind()
	parts := l.GetMessage().GetParts()
	for part, want := range map[uint32]recall.Content{
		0: {Kind: text, Text: "first"},
		1: {
			Kind: compactordv1.ContentKind_CONTENT_KIND_THINKING, Text: "hm", Attachments: parts[1].GetAttachments(),
		},
		2: {Kind: compactordv1.ContentKind_CONTENT_KIND_ARGUMENTS, Text: `{"path":"a"}`, Tool: "read"},
		3: {
			Kind: compactordv1.ContentKind_CONTENT_KIND_MEDIA, Data: []byte{0, 255}, MIMEType: "image/png", Name: "a.png",
		},
		4: {Kind: reference, Text: "http://host/a.png", MIMEType: "image/png"},
		5: {Kind: reference, Text: "file-1", MIMEType: "text/plain"},
		6: {Kind: compactordv1.ContentKind_CONTENT_KIND_OPAQUE, Text: `{"x":1}`},
		7: {Kind: text, Text: "second"},
	} {
		got, err := recall.ContentOf(l, &part, nil)
		require.NoError(t, err)
		want.Part = &part
		require.Equal(t, &want, got)
		_, err = recall.ContentOf(l, &part, proto.Uint32(0))
		require.ErrorIs(t, err, recall.ErrNoContent)
	}
	all, err := recall.ContentOf(l, nil, nil)
	require.NoError(t, err)
	require.Equal(t, &recall.Content{Kind: text, Text: "first\nsecond"}, all)
	for _, part := range []uint32{8, 4294967295} {
		_, err = recall.ContentOf(l, &part, nil)
		require.ErrorIs(t, err, recall.ErrNoContent)
		require.ErrorContains(t, err, "message 7 has 8 parts")
	}
}

func TestContentOfMessagesWithoutText(t *testing.T) {
	l := sessiontest.EveryKind()
	l.Message.Parts = l.GetMessage().GetParts()[1:4]
	_, err := recall.ContentOf(l, nil, nil)
	require.ErrorIs(t, err, recall.ErrNoText)
	require.ErrorContains(t, err, "0: thinking, 1: tool call, 2: medium")
	l.Message.Parts = l.GetMessage().GetParts()[1:2]
	got, err := recall.ContentOf(l, nil, nil)
	require.NoError(t, err)
	require.Equal(t, l.GetMessage().GetParts()[0].GetToolCall().GetArguments(), got.Text, "the only part")
	require.Equal(t, proto.Uint32(0), got.Part)
	l.Message.Parts = nil
	got, err = recall.ContentOf(l, nil, nil)
	require.NoError(t, err)
	require.Empty(t, got.Text)
	_, err = recall.ContentOf(l, proto.Uint32(0), nil)
	require.ErrorIs(t, err, recall.ErrNoContent)
}

func TestContentOfResults(t *testing.T) {
	medium := &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: mediaOf("m", []byte("png"))}}
	opaque := &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaqueOf(`[]`)}}
	l := resultOf(pieceOf("one"), medium, pieceOf("two"), opaque)
	all, err := recall.ContentOf(l, nil, nil)
	require.NoError(t, err)
	require.Equal(t, &recall.Content{
		Kind: compactordv1.ContentKind_CONTENT_KIND_RESULT, Part: proto.Uint32(0), Tool: "read", Text: "one\ntwo",
		Attachments: []*compactordv1.Attachment{{Key: "of the part"}},
	}, all)
	piece, err := recall.ContentOf(l, proto.Uint32(0), proto.Uint32(2))
	require.NoError(t, err)
	require.Equal(t, &recall.Content{
		Kind: compactordv1.ContentKind_CONTENT_KIND_RESULT, Part: proto.Uint32(0), ResultPart: proto.Uint32(2),
		Tool: "read", Text: "two", Attachments: []*compactordv1.Attachment{{Key: "of the piece"}},
	}, piece)
	piece, err = recall.ContentOf(l, proto.Uint32(0), proto.Uint32(1))
	require.NoError(t, err)
	require.Equal(t, []byte("png"), piece.Data)
	_, err = recall.ContentOf(l, proto.Uint32(0), proto.Uint32(4))
	require.ErrorIs(t, err, recall.ErrNoContent)

	_, err = recall.ContentOf(resultOf(medium, opaque), nil, nil)
	require.ErrorIs(t, err, recall.ErrNoText)
	require.ErrorContains(t, err, "0: medium, 1: a provider's item")
	only, err := recall.ContentOf(resultOf(medium), nil, nil)
	require.NoError(t, err)
	require.Equal(t, []byte("png"), only.Data, "the only piece")
	require.Equal(t, proto.Uint32(0), only.ResultPart)
	one, err := recall.ContentOf(resultOf(pieceOf("one")), nil, nil)
	require.NoError(t, err)
	require.Nil(t, one.ResultPart, "all text of the result, though it is one piece")
	require.Equal(t, "of the part", one.Attachments[0].GetKey())
	none, err := recall.ContentOf(resultOf(), nil, nil)
	require.NoError(t, err)
	require.Equal(t, compactordv1.ContentKind_CONTENT_KIND_RESULT, none.Kind)
	require.Empty(t, none.Text)
}
