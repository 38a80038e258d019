package anthropic

import (
	"encoding/json"
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errOfUser      = errors.New("is a type of block that only a user's message can hold")
	errOfAssistant = errors.New("is a type of block that only an assistant's message can hold")
	errOnlyText    = errors.New("must be text")
)

// typed returns the fields of a block, and its type.
func typed(raw json.RawMessage) (o rawjson.Object, typ string, err error) {
	if o, err = rawjson.SplitObject(raw); err != nil {
		return nil, "", err
	}
	typ, err = o.DemandText("type")
	return o, typ, err
}

// parseBlock makes a part from a block of a message.
func parseBlock(raw json.RawMessage, role string) (*compactordv1.Part, error) {
	o, typ, err := typed(raw)
	if err != nil {
		return nil, err
	}
	switch typ {
	case typeText:
		return parseText(o)
	case typeImage, typeDocument:
		media, own, err := parseMedia(o, typ)
		if media == nil || err != nil {
			return parseOpaque(typ, raw, err)
		}
		return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media}, Attachments: own}, nil
	case typeToolResult:
		if role != roleUser {
			return nil, rawjson.In("type", errOfUser)
		}
		return parseResult(o)
	case typeThinking, typeRedactedThinking, typeToolUse:
		if role != roleAssistant {
			return nil, rawjson.In("type", errOfAssistant)
		}
		if typ == typeToolUse {
			return parseCall(o)
		}
		return parseThinking(o, typ)
	default:
		return parseOpaque(typ, raw, nil)
	}
}

// completed adds attachments for the fields of the block that the neutral part does not have.
func completed(p *compactordv1.Part, o rawjson.Object, except ...string) (*compactordv1.Part, error) {
	own, err := dialect.Residue(kind, o, canonicalBlock(p), except...)
	if err != nil {
		return nil, err
	}
	p.Attachments = own
	return p, nil
}

func parseText(o rawjson.Object) (*compactordv1.Part, error) {
	if !o.Has("text") {
		return nil, rawjson.In("text", rawjson.WrongKind(o["text"], rawjson.String))
	}
	text, err := o.BoundedText("text", dialect.MaxText)
	if err != nil {
		return nil, err
	}
	return completed(&compactordv1.Part{
		Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}},
	}, o)
}

// parseOpaque keeps a block unchanged, unless reading it failed.
func parseOpaque(typ string, raw json.RawMessage, err error) (*compactordv1.Part, error) {
	opaque, err := opaqueOf(typ, raw, err)
	return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: opaque}}, err
}

func opaqueOf(typ string, raw json.RawMessage, err error) (*compactordv1.OpaquePart, error) {
	if err != nil {
		return nil, err
	}
	return dialect.OpaqueOf(kind, typ, raw)
}
