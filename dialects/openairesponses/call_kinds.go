package openairesponses

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// callKind is a type of call with the type of item that answers it.
type callKind struct {
	call, output string
	// id is the field of the call that its output names, link the field of the output that names it.
	id, link string
	// name is what the tool is called where the item does not name it.
	name string
	// inputs are the fields that can hold the arguments. An item has one of them.
	inputs []string
	// isText says that the input is a text, and not JSON of its own.
	isText bool
	// complete says whether the provider would take the arguments back. Where it is nil, the provider takes any.
	complete func(input rawjson.Object) bool
	// form is the form of the output.
	form resultForm
	// open says that an item of this kind is a call even without an id.
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

// linkIn is the field of an output that names its call. By the reference, the output of a local shell has the call's id
// as its own id. Codex names the call as in other outputs.
func (k *callKind) linkIn(o rawjson.Object) string {
	if k.output == typeLocalShellOut && !o.Has(callID) {
		return "id"
	}
	return k.link
}

// reads says whether an item counts as a call or output of this kind. Without an id only functions do: any other item has
// no neutral meaning then.
func (k *callKind) reads(o rawjson.Object, link string) bool {
	if k.open {
		return true
	}
	id, err := o.Text(link)
	return err == nil && id != ""
}

// callIDIn returns the id by which an item is a call or answers one; empty where it is neither.
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
