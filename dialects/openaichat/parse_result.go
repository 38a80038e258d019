package openaichat

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func (p *messageParser) parseResult(role string) error {
	parts, err := p.parseContent(partTypes(compactordv1.Role_ROLE_TOOL))
	if err != nil {
		return err
	}
	if len(parts) > dialect.MaxResultParts {
		return rawjson.In("content", errManyParts)
	}
	result := &compactordv1.ToolResult{Parts: make([]*compactordv1.ResultPart, len(parts))}
	for i, part := range parts {
		result.Parts[i] = dialect.AsResultPart(part)
	}
	if result.CallId, err = p.text("tool_call_id", dialect.MaxID); err != nil {
		return err
	}
	if result.Name, err = p.text("name", dialect.MaxName); err != nil {
		return err
	}
	// The field stays an attachment. It shows that the text itself already says that the tool failed.
	if result.IsError, err = p.Truth("is_error"); err != nil {
		return err
	}
	p.m.Parts = []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}}
	if role == roleFunction {
		p.note(noteRole, role)
	}
	return nil
}
