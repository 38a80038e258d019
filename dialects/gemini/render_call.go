package gemini

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// maxToolName is the greatest length of a function's name.
	maxToolName = 128
	// skipSignature is what Gemini accepts in place of a thought signature for a call that it did not make itself.
	skipSignature = "skip_thought_signature_validator"
)

func isNameByte(b byte, first bool) bool {
	letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_'
	return letter || !first && ('0' <= b && b <= '9' || b == '.' || b == ':' || b == '-')
}

func isName(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i], i == 0) {
			return false
		}
	}
	return name != "" && len(name) <= maxToolName
}

// cleanName turns any name into one that Gemini accepts.
func cleanName(name string) string {
	if isName(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r), false) {
			return r
		}
		return '_'
	}, name)
	if clean == "" || !isNameByte(clean[0], true) {
		clean = "_" + clean
	}
	return clean[:min(len(clean), maxToolName)]
}

// renderCall renders a call, and keeps what its result must repeat.
func (r *renderer) renderCall(at int, p *compactordv1.Part) rawjson.Object {
	id, changed := r.ids.Of(p)
	name := cleanName(p.GetToolCall().GetName())
	if isLeftOut(p.GetAttachments(), fieldCall+".id") {
		id = ""
	} else if changed {
		r.repair(ruleCallsAnswered, at, "a call was given an id of its own")
	}
	if name != p.GetToolCall().GetName() {
		r.repair(ruleToolNames, at, "the name of a function was changed to one that Gemini accepts")
	}
	if !isArguments(p.GetToolCall().GetArguments()) {
		r.repair(ruleArgumentsObject, at, "arguments that are no JSON object were put into one")
	}
	if answered := r.calls[r.ids.PairOf(p)]; answered != nil {
		answered.id, answered.name = id, name
	}
	if thought, _ := dialect.Attached(p.GetAttachments(), kind, "thought"); string(thought) == "true" {
		r.repair(ruleNoThinking, at, "the mark of a thought was removed from a call")
	}
	part := renderFunctionCall(r.by, p, id, name)
	r.reportSignature(at, p, part)
	return part
}

func renderFunctionCall(by *dialect.Writer, p *compactordv1.Part, id, name string) rawjson.Object {
	arguments := p.GetToolCall().GetArguments()
	d := canonicalCall(&compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments})
	d.innerGuards["args"] = func(raw json.RawMessage) bool {
		return arguments == "" && (len(raw) == 0 || string(raw) == "null")
	}
	return d.restoreForRequest(by, p.GetAttachments())
}
