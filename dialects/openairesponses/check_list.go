package openairesponses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// checkShape checks that items have the fields that their types need.
func checkShape(d *decoded, report report) {
	for _, item := range d.items {
		if len(d.items) == 1 && rawjson.KindOf(item.raw) == rawjson.String && rawjson.Valid(item.raw) {
			// The whole input can be a text.
			return
		}
		switch {
		case item.fields == nil:
			report(item.at, 0, "an item must be an object")
			continue
		case item.typ == "":
			report(item.at, 0, "type must be a text that is not empty")
			continue
		}
		if !isOptional(item.fields["id"], rawjson.String) {
			report(item.at, 0, "id must be a string")
		}
		item.fieldsOfType(func(detail string) { report(item.at, 0, detail) })
		item.fieldsOfParts(report)
	}
}

func isOptional(raw json.RawMessage, want rawjson.Kind) bool {
	k := rawjson.KindOf(raw)
	return k == rawjson.Missing || k == rawjson.Null || k == want
}

func (item *decodedItem) demand(fail func(string), want rawjson.Kind, keys ...string) {
	for _, key := range keys {
		if rawjson.KindOf(item.fields[key]) != want {
			fail(key + " must be " + string(want))
		}
	}
}

func (item *decodedItem) fieldsOfType(fail func(string)) {
	switch item.typ {
	case "message":
		item.demand(fail, rawjson.String, "role")
		item.textOrList(fail, "content")
	case "function_call":
		item.demand(fail, rawjson.String, "call_id", "name", "arguments")
	case "custom_tool_call":
		item.demand(fail, rawjson.String, "call_id", "name", "input")
	case "mcp_approval_request":
		item.demand(fail, rawjson.String, "id", "name", "arguments")
	case "function_call_output", "custom_tool_call_output":
		item.demand(fail, rawjson.String, "call_id")
		item.textOrList(fail, "output")
	case "local_shell_call_output":
		item.demand(fail, rawjson.String, "output")
	case "computer_call_output":
		item.demand(fail, rawjson.ObjectKind, "output")
	case "shell_call_output":
		item.demand(fail, rawjson.Array, "output")
	case "mcp_approval_response":
		item.demand(fail, rawjson.Bool, "approve")
	case "local_shell_call", "shell_call":
		item.demand(fail, rawjson.ObjectKind, "action")
	case "apply_patch_call":
		item.demand(fail, rawjson.ObjectKind, "operation")
	case "compaction":
		item.demand(fail, rawjson.String, "encrypted_content")
	case "item_reference":
		item.demand(fail, rawjson.String, "id")
	case "reasoning":
		item.demand(fail, rawjson.Array, "summary")
		if !isOptional(item.fields["encrypted_content"], rawjson.String) {
			fail("encrypted_content must be a string")
		}
		if !isOptional(item.fields["content"], rawjson.Array) {
			fail("content must be an array")
		}
	}
}

func (item *decodedItem) textOrList(fail func(string), key string) {
	if k := rawjson.KindOf(item.fields[key]); k != rawjson.String && k != rawjson.Array {
		fail(key + " must be a string or an array")
	}
}

func (item *decodedItem) fieldsOfParts(report report) {
	for i, p := range item.parts {
		switch {
		case p.fields == nil:
			report(item.at, i, "a part of content must be an object")
		case p.typ == "":
			report(item.at, i, "the type of a part must be a text that is not empty")
		case p.textField() != "" && rawjson.KindOf(p.fields[p.textField()]) != rawjson.String:
			report(item.at, i, p.textField()+" must be a string")
		}
	}
}

// textField returns the name of the field with the text of a part. Empty where the part is no text.
func (p decodedPart) textField() string {
	switch p.typ {
	case "input_text", "output_text":
		return "text"
	case "refusal":
		return "refusal"
	default:
		return ""
	}
}

func checkMessagesNotEmpty(d *decoded, report report) {
	if len(d.items) == 0 {
		report(-1, 0, "there is no item")
	}
}

func checkSystemText(d *decoded, report report) {
	if len(d.system) > 1 {
		report(-1, 0, "there is more than one text of instructions")
	}
	for _, raw := range d.system {
		switch {
		case rawjson.KindOf(raw) != rawjson.String || !rawjson.Valid(raw):
			report(-1, 0, "the instructions must be a string")
		case string(raw) == `""`:
			report(-1, 0, "the instructions are empty")
		}
	}
}

func checkRoles(d *decoded, report report) {
	for _, item := range d.items {
		if item.typ == "message" && rawjson.KindOf(item.fields["role"]) == rawjson.String &&
			!slices.Contains([]string{roleUser, roleAssistant, roleSystem, roleDeveloper}, item.role) {
			report(item.at, 0, "the role is none of a message")
		}
	}
}

// itemID returns an item's own id. It returns false where the item has none, or where the id refers to a call.
func (item *decodedItem) itemID() (string, bool) {
	if rawjson.KindOf(item.fields["id"]) != rawjson.String ||
		item.typ == "local_shell_call_output" && !item.fields.Has("call_id") {
		return "", false
	}
	return item.fields.TextOrEmpty("id"), true
}

func checkItemIDs(d *decoded, report report) {
	for _, item := range d.items {
		id, has := item.itemID()
		if has && !isName(id) {
			report(item.at, 0, "id has other characters, or more or fewer of them")
		} else if has && !strings.HasPrefix(id, itemIDPrefixes[item.typ]) {
			report(item.at, 0, "id must begin with "+itemIDPrefixes[item.typ])
		}
	}
}

func checkItemIDsUnique(d *decoded, report report) {
	seen := make(map[string]bool)
	for _, item := range d.items {
		id, has := item.itemID()
		if has && seen[id] {
			report(item.at, 0, "an earlier item has the same id")
		}
		seen[id] = has
	}
}
