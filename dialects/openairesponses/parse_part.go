package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// side is the kind of message that a content is in. It decides which types its pieces have.
type side int

const (
	instructionSide side = iota
	userSide
	assistantSide
	outputSide
)

func (s side) textType() string {
	if s == assistantSide {
		return typeOutputText
	}
	return typeInputText
}

// piece is an element of the content of a message or a result. One of text, media and opaque is set.
type piece struct {
	text        *compactordv1.TextPart
	media       *compactordv1.MediaPart
	opaque      *compactordv1.OpaquePart
	attachments []*compactordv1.Attachment
	// at is the position of the part that the piece is, or that it is in.
	at int
}

func pieceOf(p *compactordv1.Part) piece {
	return piece{text: p.GetText(), media: p.GetMedia(), opaque: p.GetOpaque(), attachments: p.GetAttachments()}
}

func pieceOfResult(p *compactordv1.ResultPart) piece {
	return piece{text: p.GetText(), media: p.GetMedia(), opaque: p.GetOpaque(), attachments: p.GetAttachments()}
}

func (p piece) part() *compactordv1.Part {
	made := &compactordv1.Part{Attachments: p.attachments}
	switch {
	case p.text != nil:
		made.Kind = &compactordv1.Part_Text{Text: p.text}
	case p.media != nil:
		made.Kind = &compactordv1.Part_Media{Media: p.media}
	default:
		made.Kind = &compactordv1.Part_Opaque{Opaque: p.opaque}
	}
	return made
}

func (p piece) resultPart() *compactordv1.ResultPart {
	made := &compactordv1.ResultPart{Attachments: p.attachments}
	switch {
	case p.text != nil:
		made.Kind = &compactordv1.ResultPart_Text{Text: p.text}
	case p.media != nil:
		made.Kind = &compactordv1.ResultPart_Media{Media: p.media}
	default:
		made.Kind = &compactordv1.ResultPart_Opaque{Opaque: p.opaque}
	}
	return made
}

func textPiece(text string) piece { return piece{text: &compactordv1.TextPart{Text: text}} }

// parsePiece parses an element of content.
func parsePiece(raw json.RawMessage, s side) (piece, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return piece{}, err
	}
	typ, err := o.DemandText("type")
	if err != nil {
		return piece{}, err
	}
	switch typ {
	case typeInputText, typeOutputText, typePlainText:
		return parseText(o, s)
	case typeRefusal:
		if s == assistantSide {
			return parseRefusal(o)
		}
	case typeInputImage, typeInputFile, typeInputAudio:
		if s == userSide || s == outputSide {
			return parseMedia(raw, o, typ)
		}
	}
	return opaquePiece(raw, typ)
}

func opaquePiece(raw json.RawMessage, typ string) (piece, error) {
	opaque, err := dialect.OpaqueOf(kind, typ, raw)
	return piece{opaque: opaque}, err
}

func parseText(o rawjson.Object, s side) (piece, error) {
	text, err := o.DemandBoundedText("text", dialect.MaxText)
	if err != nil {
		return piece{}, err
	}
	p := textPiece(text)
	p.attachments, err = dialect.Residue(kind, o, canonicalText(p.text, s))
	return p, err
}

func parseRefusal(o rawjson.Object) (piece, error) {
	text, err := o.DemandBoundedText("refusal", dialect.MaxText)
	if err != nil {
		return piece{}, err
	}
	p := piece{text: &compactordv1.TextPart{Text: text, Refusal: true}}
	p.attachments, err = dialect.Residue(kind, o, canonicalText(p.text, assistantSide))
	return p, err
}

func (p *parser) parseOpaque(at int, raw json.RawMessage, o rawjson.Object, typ string) error {
	part, err := dialect.OpaqueOf(kind, typ, raw)
	if err != nil {
		return err
	}
	p.countID(o)
	return p.addParts(at, piece{opaque: part}.part())
}
