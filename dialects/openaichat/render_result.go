package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

func (r *renderer) renderResult() rawjson.Object {
	part := r.m.GetParts()
	if len(part) == 0 {
		return r.renderEmptyResult()
	}
	result := part[0].GetToolResult()
	blocks := r.renderParts(resultParts(result))
	flagged := result.GetIsError()
	if _, own := dialect.Attached(r.m.GetAttachments(), kind, "is_error"); own {
		flagged = false
	}
	o := rawjson.Object{"role": rawjson.Quote(roleTool)}
	if flagged && r.request {
		blocks = markFailed(blocks)
	} else if flagged {
		o["is_error"] = json.RawMessage("true")
	}
	if r.legacy != nil || !r.request && isNoted(r.m.GetAttachments(), noteRole, roleFunction) {
		o["role"] = rawjson.Quote(roleFunction)
	}
	r.putContent(o, blocks)
	if r.legacy == nil {
		if id := r.idOf(part[0], result.GetCallId()); id != "" {
			o["tool_call_id"] = rawjson.Quote(id)
		}
	}
	if name := r.resultName(result); name != "" {
		o["name"] = r.renderToolName(name)
	}
	r.restore(o, dialect.Guards{
		"content": r.matchesContent(blocks), "tool_call_id": matchesText(result.GetCallId()), "name": matchesText(result.GetName()),
	})
	return o
}

// resultName returns the tool's name. A message of role function needs one, if necessary that of the call.
func (r *renderer) resultName(result *compactordv1.ToolResult) string {
	if result.GetName() == "" && r.legacy != nil {
		return r.legacy.GetName()
	}
	return result.GetName()
}

// renderEmptyResult renders a TOOL message without a result. No log holds one.
func (r *renderer) renderEmptyResult() rawjson.Object {
	return rawjson.Object{"role": rawjson.Quote(roleTool), "content": emptyContent(compactordv1.Role_ROLE_TOOL)}
}

// markFailed adds to the text that the tool failed.
func markFailed(blocks []renderedPart) []renderedPart {
	if len(blocks) == 0 {
		return []renderedPart{{text: wording.FailedResult("")}}
	}
	marked := blocks[0]
	marked.text = wording.FailedResult(marked.text)
	if marked.object != nil {
		marked.object["text"] = rawjson.Quote(marked.text)
	}
	return append([]renderedPart{marked}, blocks[1:]...)
}

// resultParts returns the parts of a result as parts of a message, all with the position of the result.
func resultParts(r *compactordv1.ToolResult) []numberedPart {
	list := make([]numberedPart, len(r.GetParts()))
	for i, rp := range r.GetParts() {
		list[i] = numberedPart{0, dialect.AsPart(rp)}
	}
	return list
}
