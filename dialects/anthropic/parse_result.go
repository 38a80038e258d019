package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseResult reads a tool_result block.
func parseResult(o rawjson.Object) (*compactordv1.Part, error) {
	result := &compactordv1.ToolResult{}
	var err error
	if result.CallId, err = o.BoundedText("tool_use_id", dialect.MaxID); err != nil {
		return nil, err
	}
	if result.IsError, err = o.Truth("is_error"); err != nil {
		return nil, err
	}
	c, err := contentOf(o, dialect.MaxResultParts)
	if err != nil {
		return nil, err
	}
	for i, block := range c.blocks {
		part, err := parseResultBlock(block)
		if err != nil {
			return nil, inBlock(i, err)
		}
		result.Parts = append(result.Parts, part)
	}
	// The parts hold the content, except where it is empty.
	var except []string
	if len(c.blocks) > 0 {
		except = []string{"content"}
	}
	p, err := completed(&compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}, o, except...)
	if err != nil {
		return nil, err
	}
	if c.isString {
		p.Attachments = append(p.Attachments, dialect.Note(kind, noteForm, noteString))
	}
	if err := dialect.BoundAttachments(p.GetAttachments()); err != nil {
		return nil, err
	}
	return p, nil
}

func parseResultOpaque(typ string, raw json.RawMessage, err error) (*compactordv1.ResultPart, error) {
	opaque, err := opaqueOf(typ, raw, err)
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaque}}, err
}

// parseResultBlock reads a block of a result.
func parseResultBlock(raw json.RawMessage) (*compactordv1.ResultPart, error) {
	o, typ, err := typed(raw)
	if err != nil {
		return nil, err
	}
	switch typ {
	case typeText:
		p, err := parseText(o)
		if err != nil {
			return nil, err
		}
		return &compactordv1.ResultPart{
			Kind: &compactordv1.ResultPart_Text{Text: p.GetText()}, Attachments: p.GetAttachments(),
		}, nil
	case typeImage, typeDocument:
		media, own, err := parseMedia(o, typ)
		if media == nil || err != nil {
			return parseResultOpaque(typ, raw, err)
		}
		return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: media}, Attachments: own}, nil
	default:
		return parseResultOpaque(typ, raw, nil)
	}
}
