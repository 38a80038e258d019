package recall

import (
	"errors"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Errors of ContentOf.
var (
	// ErrNoContent means that the message has no such part, or the part no such piece.
	ErrNoContent = errors.New("no such content")
	// ErrNoText means that there are several parts or pieces and none of them is text, so that one must be named. The
	// error's text lists them.
	ErrNoText = errors.New("no text")
)

// maxNamedParts is the most parts that an error lists.
const maxNamedParts = 20

// Content is the content of a message, of a part of it, or of a piece of its result, as the log has it.
type Content struct {
	Kind compactordv1.ContentKind
	// Part and ResultPart are the content's place in the message; nil where it is all text of the message, or of the
	// result.
	Part, ResultPart *uint32
	// Tool is the name of the tool of a call or a result.
	Tool string
	// MIMEType and Name are those of a medium.
	MIMEType, Name string
	// Text is the content of every kind except MEDIA, whose content is Data.
	Text string
	Data []byte
	// Attachments are the provider's own fields of the part or piece.
	Attachments []*compactordv1.Attachment
}

// ContentOf returns the content of a message. Without a part it is the only part, or all text of the message. Without a
// piece it is all text of a result, or its only piece. A piece needs a part. It returns ErrNoContent or ErrNoText.
func ContentOf(l *compactordv1.LoggedMessage, part, piece *uint32) (*Content, error) {
	parts := l.GetMessage().GetParts()
	if part == nil {
		if len(parts) != 1 {
			return allText(parts)
		}
		part = new(uint32)
	}
	if uint64(*part) >= uint64(len(parts)) {
		return nil, fmt.Errorf("%w: message %d has %d parts, and no part %d",
			ErrNoContent, l.GetIndex(), len(parts), *part)
	}
	p := parts[*part]
	if r := p.GetToolResult(); r != nil {
		c, err := resultContent(l, p, piece)
		if c != nil {
			c.Part, c.Tool = part, resultTool(l, r)
		}
		return c, err
	}
	if piece != nil {
		return nil, fmt.Errorf("%w: part %d of message %d is no tool result", ErrNoContent, *part, l.GetIndex())
	}
	c := contentOfPart(p)
	c.Part = part
	return c, nil
}

func contentOfPart(p *compactordv1.Part) *Content {
	c := &Content{Attachments: p.GetAttachments()}
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_TEXT, k.Text.GetText()
	case *compactordv1.Part_Thinking:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_THINKING, k.Thinking.GetText()
	case *compactordv1.Part_ToolCall:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_ARGUMENTS, k.ToolCall.GetArguments()
		c.Tool = k.ToolCall.GetName()
	case *compactordv1.Part_Media:
		c.medium(k.Media)
	case *compactordv1.Part_Opaque:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_OPAQUE, k.Opaque.GetJson()
	default:
	}
	return c
}

func (c *Content) medium(m *compactordv1.MediaPart) {
	c.MIMEType, c.Name = m.GetMimeType(), m.GetName()
	switch source := m.GetSource().(type) {
	case *compactordv1.MediaPart_Uri:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_MEDIA_REFERENCE, source.Uri
	case *compactordv1.MediaPart_FileId:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_MEDIA_REFERENCE, source.FileId
	default:
		c.Kind, c.Data = compactordv1.ContentKind_CONTENT_KIND_MEDIA, m.GetData()
	}
}

func resultContent(
	l *compactordv1.LoggedMessage, p *compactordv1.Part, piece *uint32,
) (*Content, error) {
	pieces := p.GetToolResult().GetParts()
	if piece == nil {
		if len(pieces) != 1 || pieces[0].GetText() != nil {
			return textOfResult(p)
		}
		piece = new(uint32)
	}
	if uint64(*piece) >= uint64(len(pieces)) {
		return nil, fmt.Errorf("%w: the result of message %d has %d pieces, and no piece %d",
			ErrNoContent, l.GetIndex(), len(pieces), *piece)
	}
	c := contentOfPiece(pieces[*piece])
	c.ResultPart = piece
	return c, nil
}

func contentOfPiece(rp *compactordv1.ResultPart) *Content {
	c := &Content{Attachments: rp.GetAttachments()}
	switch k := rp.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_RESULT, k.Text.GetText()
	case *compactordv1.ResultPart_Media:
		c.medium(k.Media)
	case *compactordv1.ResultPart_Opaque:
		c.Kind, c.Text = compactordv1.ContentKind_CONTENT_KIND_OPAQUE, k.Opaque.GetJson()
	default:
	}
	return c
}

func textOfResult(p *compactordv1.Part) (*Content, error) {
	var texts []string
	kinds := make([]string, 0, len(p.GetToolResult().GetParts()))
	for _, rp := range p.GetToolResult().GetParts() {
		if t := rp.GetText(); t != nil {
			texts = append(texts, t.GetText())
		}
		kinds = append(kinds, pieceKind(rp))
	}
	text, err := joined(texts, kinds)
	if err != nil {
		return nil, err
	}
	return &Content{
		Kind: compactordv1.ContentKind_CONTENT_KIND_RESULT, Text: text, Attachments: p.GetAttachments(),
	}, nil
}

func allText(parts []*compactordv1.Part) (*Content, error) {
	var texts []string
	kinds := make([]string, 0, len(parts))
	for _, p := range parts {
		if t := p.GetText(); t != nil {
			texts = append(texts, t.GetText())
		}
		kinds = append(kinds, partKind(p))
	}
	text, err := joined(texts, kinds)
	if err != nil {
		return nil, err
	}
	return &Content{Kind: compactordv1.ContentKind_CONTENT_KIND_TEXT, Text: text}, nil
}

// joined joins texts with line feeds. Where nothing is text, it returns ErrNoText and lists the kinds.
func joined(texts, kinds []string) (string, error) {
	if len(texts) > 0 || len(kinds) == 0 {
		return strings.Join(texts, "\n"), nil
	}
	var b strings.Builder
	for i, kind := range kinds[:min(len(kinds), maxNamedParts)] {
		fmt.Fprintf(&b, ", %d: %s", i, kind)
	}
	if len(kinds) > maxNamedParts {
		b.WriteString(", ...")
	}
	return "", fmt.Errorf("%w: name one of %s", ErrNoText, b.String()[len(", "):])
}

func partKind(p *compactordv1.Part) string {
	switch p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return "text"
	case *compactordv1.Part_Thinking:
		return "thinking"
	case *compactordv1.Part_ToolCall:
		return "tool call"
	case *compactordv1.Part_Media:
		return "medium"
	default:
		return "a provider's item"
	}
}

func pieceKind(rp *compactordv1.ResultPart) string {
	switch rp.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		return "text"
	case *compactordv1.ResultPart_Media:
		return "medium"
	default:
		return "a provider's item"
	}
}

// resultTool returns the tool of a result, as the result names it or the call that it answers.
func resultTool(l *compactordv1.LoggedMessage, r *compactordv1.ToolResult) string {
	if r.GetName() != "" {
		return r.GetName()
	}
	return l.GetAnswers().GetName()
}
