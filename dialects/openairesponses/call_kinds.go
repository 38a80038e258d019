package openairesponses

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// callKind is a type of call, with the type of its output.
type callKind struct {
	call, output string
	// id is the field with the id of the call. link is the field of the output that refers to it.
	id, link string
	// name is the name of the tool where the item has none.
	name string
	// inputs are the fields that can hold the arguments. An item has one of them.
	inputs []string
	// isText reports that the input is a text and no JSON.
	isText bool
	// complete reports whether the provider would accept these arguments in a request. Where it is nil, the provider
	// accepts any.
	complete func(input rawjson.Object) bool
	// form is the form of the output.
	form resultForm
	// open reports that an item of this kind is a call even without an id.
	open bool
}

var (
	functionCalls = &callKind{
		call: typeFunctionCall, output: typeFunctionOutput, id: callID, link: callID,
		inputs: []string{"arguments"}, isText: true, form: resultForm{field: "output", render: renderContentOf}, open: true,
	}
	customCalls = &callKind{
		call: "custom_tool_call", output: "custom_tool_call_output", id: callID, link: callID,
		inputs: []string{"input"}, isText: true, form: resultForm{field: "output", render: renderContentOf}, open: true,
	}
	callKinds = []*callKind{
		functionCalls,
		customCalls,
		{
			call: "local_shell_call", output: typeLocalShellOut, id: callID, link: callID, name: "local_shell",
			inputs: []string{"action"}, complete: hasList("command"),
			form: resultForm{field: "output", render: renderString},
		},
		{
			call: "shell_call", output: "shell_call_output", id: callID, link: callID, name: "shell",
			inputs: []string{"action"}, complete: hasList("commands"),
			form: resultForm{field: "output", parts: parseChunks, render: renderChunks},
		},
		{
			call: "apply_patch_call", output: "apply_patch_call_output", id: callID, link: callID, name: "apply_patch",
			inputs: []string{"operation"}, complete: hasText("type"),
			form: resultForm{field: "output", optional: true, render: renderString, flag: "status", done: `"completed"`, failed: `"failed"`},
		},
		{
			call: "computer_call", output: "computer_call_output", id: callID, link: callID, name: "computer",
			inputs: []string{"action", "actions"},
			form:   resultForm{field: "output", parts: parseScreenshot, render: renderScreenshot},
		},
		{
			call: typeToolSearch, output: typeToolSearchOut, id: callID, link: callID, name: "tool_search",
			inputs: []string{"arguments"}, form: resultForm{field: "tools", parts: parseAsItIs, render: renderAsItIs},
		},
		{
			call: "mcp_approval_request", output: typeApproval, id: "id", link: "approval_request_id",
			inputs: []string{"arguments"}, isText: true,
			form: resultForm{field: "reason", optional: true, render: renderString, flag: "approve", done: "true", failed: "false"},
		},
	}
)

func hasList(key string) func(rawjson.Object) bool {
	return func(input rawjson.Object) bool { return rawjson.KindOf(input[key]) == rawjson.Array }
}

func hasText(key string) func(rawjson.Object) bool {
	return func(input rawjson.Object) bool { return rawjson.KindOf(input[key]) == rawjson.String }
}

func kindOfCall(typ string) *callKind {
	for _, k := range callKinds {
		if k.call == typ {
			return k
		}
	}
	return nil
}

func kindOfOutput(typ string) *callKind {
	for _, k := range callKinds {
		if k.output == typ {
			return k
		}
	}
	return nil
}

// linkIn returns the field of an output that refers to its call. In the reference, the output of a local shell has the
// call's id as its own id. Codex refers to the call as in other outputs.
func (k *callKind) linkIn(o rawjson.Object) string {
	if k.output == typeLocalShellOut && !o.Has(callID) {
		return "id"
	}
	return k.link
}

// reads reports whether an item is a call or output of this kind. Without an id, only functions are: other items then
// have no neutral meaning.
func (k *callKind) reads(o rawjson.Object, link string) bool {
	if k.open {
		return true
	}
	id, err := o.Text(link)
	return err == nil && id != ""
}

// callIDIn returns the id of a call, or of the call that an item answers. Empty where the item is neither.
func callIDIn(o rawjson.Object, typ string) string {
	key := ""
	if k := kindOfCall(typ); k != nil {
		key = k.id
	} else if k := kindOfOutput(typ); k != nil {
		key = k.linkIn(o)
	}
	id, err := o.Text(key)
	if key == "" || err != nil {
		return ""
	}
	return id
}
