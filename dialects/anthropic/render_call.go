package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxIDBytes is the greatest length of ids. Anthropic documents no bound, but the clouds that serve its models do.
const maxIDBytes = 64

func (r *renderer) renderCall(p *compactordv1.Part, i, j int) renderedBlock {
	call := p.GetToolCall()
	id, changed := r.ids.Of(p)
	if changed {
		r.repair(ruleCallIDs, i, "a call gets another id, since the provider does not accept its own")
	}
	name := dialect.CleanName(call.GetName(), maxToolName)
	if name != call.GetName() {
		r.repair(ruleToolNames, i, "a tool's name is changed, since the provider does not accept it")
	}
	input, changed := dialect.ArgumentsObject(call.GetArguments())
	if changed {
		r.repair(ruleArgumentsObject, i, "arguments that are no JSON object become text in one")
	}
	o := rawjson.Object{
		"type": rawjson.Quote(typeToolUse), "id": rawjson.Quote(id), "name": rawjson.Quote(name), "input": input,
	}
	return renderedBlock{raw: r.by.Object(restored(o, p)), typ: typeToolUse, id: id, message: i, part: j}
}
