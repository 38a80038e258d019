package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseResult parses an item that answers a call.
func (p *parser) parseResult(at int, raw json.RawMessage, o rawjson.Object, k *callKind) error {
	form := &k.form
	if k.output == typeApproval && rawjson.KindOf(o[form.flag]) != rawjson.Bool {
		// Without a clear decision on the approval, the item is no answer.
		return p.parseClientItem(at, raw, k.output)
	}
	link := k.linkIn(o)
	id, err := o.BoundedText(link, dialect.MaxID)
	if err != nil {
		return err
	}
	pieces, err := form.parse(o[form.field])
	if err != nil {
		return rawjson.In(form.field, err)
	}
	result := &compactordv1.ToolResult{CallId: id, IsError: form.flag != "" && string(o[form.flag]) == form.failed}
	// A name that does not fit is ignored here. It is kept with the other fields anyway.
	if name, err := o.BoundedText("name", dialect.MaxName); err == nil {
		result.Name = name
	}
	for _, piece := range pieces {
		result.Parts = append(result.Parts, piece.resultPart())
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}
	if k != functionCalls {
		part.Attachments = append(part.Attachments, note(noteKind, k.output))
	}
	if link != k.link {
		part.Attachments = append(part.GetAttachments(), note(noteLink, link))
	}
	part.Attachments = append(part.GetAttachments(), noteOfParts(o[form.field], pieces)...)
	residue, err := dialect.Residue(kind, o, writtenRenderer.canonicalResult(k, part))
	if err != nil {
		return err
	}
	part.Attachments = append(part.GetAttachments(), residue...)
	if err := dialect.BoundAttachments(part.GetAttachments()); err != nil {
		return err
	}
	return p.add(at, &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{part}})
}
