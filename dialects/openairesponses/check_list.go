package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// shape checks that items have the fields that their types demand.
func (in *input) shape(report report) {
	for _, e := range in.entries {
		if len(in.entries) == 1 && rawjson.KindOf(e.raw) == rawjson.String && json.Valid(e.raw) {
			// The whole input can be a text.
			return
		}
		switch {
		case e.fields == nil:
			report(e.at, 0, "an item must be an object")
			continue
		case e.typ == "":
			report(e.at, 0, "type must be a text that is not empty")
			continue
		}
		if !isOptional(e.fields["id"], rawjson.String) {
			report(e.at, 0, "id must be a string")
		}
		e.fieldsOfType(func(detail string) { report(e.at, 0, detail) })
		e.fieldsOfParts(report)
	}
}

func isOptional(raw json.RawMessage, want rawjson.Kind) bool {
	k := rawjson.KindOf(raw)
	return k == rawjson.Missing || k == rawjson.Null || k == want
}

func (e *entry) demand(fail func(string), want rawjson.Kind, keys ...string) {
	for _, key := range keys {
		if rawjson.KindOf(e.fields[key]) != want {
			fail(key + " must be " + string(want))
		}
	}
}

func (e *entry) fieldsOfType(fail func(string)) {
	switch e.typ {
	case "message":
		e.demand(fail, rawjson.String, "role")
		e.textOrList(fail, "content")
	case "function_call":
		e.demand(fail, rawjson.String, "call_id", "name", "arguments")
	case "custom_tool_call":
		e.demand(fail, rawjson.String, "call_id", "name", "input")
	case "mcp_approval_request":
		e.demand(fail, rawjson.String, "id", "name", "arguments")
	case "function_call_output", "custom_tool_call_output":
		e.demand(fail, rawjson.String, "call_id")
		e.textOrList(fail, "output")
	case "local_shell_call_output":
		e.demand(fail, rawjson.String, "output")
	case "computer_call_output":
		e.demand(fail, rawjson.ObjectKind, "output")
	case "shell_call_output":
		e.demand(fail, rawjson.Array, "output")
	case "mcp_approval_response":
		e.demand(fail, rawjson.Bool, "approve")
	case "local_shell_call", "shell_call":
		e.demand(fail, rawjson.ObjectKind, "action")
	case "apply_patch_call":
		e.demand(fail, rawjson.ObjectKind, "operation")
	case "compaction":
		e.demand(fail, rawjson.String, "encrypted_content")
	case "item_reference":
		e.demand(fail, rawjson.String, "id")
	case "reasoning":
		e.demand(fail, rawjson.Array, "summary")
		if !isOptional(e.fields["encrypted_content"], rawjson.String) {
			fail("encrypted_content must be a string")
		}
		if !isOptional(e.fields["content"], rawjson.Array) {
			fail("content must be an array")
		}
	}
}

func (e *entry) textOrList(fail func(string), key string) {
	if k := rawjson.KindOf(e.fields[key]); k != rawjson.String && k != rawjson.Array {
		fail(key + " must be a string or an array")
	}
}

func (e *entry) fieldsOfParts(report report) {
	for i, p := range e.parts {
		switch {
		case p.fields == nil:
			report(e.at, i, "a part of content must be an object")
		case p.typ == "":
			report(e.at, i, "the type of a part must be a text that is not empty")
		case p.textField() != "" && rawjson.KindOf(p.fields[p.textField()]) != rawjson.String:
			report(e.at, i, p.textField()+" must be a string")
		}
	}
}

// textField is the field that holds the text of a part, if it is a text.
func (p part) textField() string {
	switch p.typ {
	case "input_text", "output_text":
		return "text"
	case "refusal":
		return "refusal"
	default:
		return ""
	}
}
