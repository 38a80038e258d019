package openairesponses

import (
	"bytes"
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// decoded is a list that was decoded for the checks, from its JSON and from what its Writer knows. It shares no code with
// parsing and rendering, so that the checks find their mistakes.
type decoded struct {
	system []json.RawMessage
	items  []*decodedItem
	// calls holds the call of each output. repeats holds the outputs whose call has an earlier output.
	calls   map[*decodedItem]*decodedItem
	repeats map[*decodedItem]bool
	// answered are the calls that have outputs.
	answered map[*decodedItem]bool
}

// decodedItem is an item. A field with a wrong type counts as missing, and only checkShape reports it.
type decodedItem struct {
	at     int
	raw    json.RawMessage
	fields rawjson.Object
	typ    string
	role   string
	// speaker is the author of the item.
	speaker speaker
	// link is the id that a call and its output share.
	link string
	// batch is the number of the run of model items that this item is in. An output has the number of the run that only
	// outputs separate it from. An item of the client has -1.
	batch int
	parts []decodedPart
}

type speaker int

const (
	ofModel speaker = iota
	ofTool
	ofClient
)

// decodedPart is an element of the content of a message or an output.
type decodedPart struct {
	fields rawjson.Object
	typ    string
}

// callTypes holds for each type of call the type of its output, and the fields of both that hold the call's id.
var callTypes = map[string]struct{ output, id, link string }{
	"function_call":        {"function_call_output", "call_id", "call_id"},
	"custom_tool_call":     {"custom_tool_call_output", "call_id", "call_id"},
	"local_shell_call":     {"local_shell_call_output", "call_id", "call_id"},
	"shell_call":           {"shell_call_output", "call_id", "call_id"},
	"apply_patch_call":     {"apply_patch_call_output", "call_id", "call_id"},
	"computer_call":        {"computer_call_output", "call_id", "call_id"},
	"tool_search_call":     {"tool_search_output", "call_id", "call_id"},
	"mcp_approval_request": {"mcp_approval_response", "id", "approval_request_id"},
}

var outputLinks = func() map[string]string {
	links := make(map[string]string, len(callTypes))
	for _, c := range callTypes {
		links[c.output] = c.link
	}
	return links
}()

var clientTypes = map[string]bool{"additional_tools": true, "compaction_trigger": true, "configuration_update": true}

func decode(list *dialect.List, by *dialect.Writer) *decoded {
	d := &decoded{
		system: list.System, calls: make(map[*decodedItem]*decodedItem), repeats: make(map[*decodedItem]bool),
		answered: make(map[*decodedItem]bool),
	}
	for at, raw := range list.Messages {
		d.items = append(d.items, decodeItem(by, at, bytes.TrimSpace(raw)))
	}
	d.batches()
	d.pairCalls()
	return d
}

func decodeItem(by *dialect.Writer, at int, raw json.RawMessage) *decodedItem {
	item := &decodedItem{at: at, raw: raw, speaker: ofClient, batch: -1}
	if !by.Valid(raw) {
		return item
	}
	fields, err := by.SplitObject(raw)
	if err != nil {
		return item
	}
	item.fields = fields
	item.typ, item.role = fields.TextOrEmpty("type"), fields.TextOrEmpty("role")
	if _, there := fields["type"]; !there && fields.Has("role") {
		item.typ = "message"
	}
	if call, isCall := callTypes[item.typ]; isCall {
		item.link = fields.TextOrEmpty(call.id)
	}
	link, isOutput := outputLinks[item.typ]
	if isOutput {
		if item.link = fields.TextOrEmpty(link); item.link == "" && item.typ == "local_shell_call_output" {
			item.link = fields.TextOrEmpty("id")
		}
	}
	switch {
	case isOutput && (item.link != "" || item.typ != "tool_search_output"):
		item.speaker = ofTool
	case !clientTypes[item.typ] && (item.typ != "message" || item.role == roleAssistant):
		item.speaker = ofModel
	}
	if field := item.contentField(); field != "" {
		item.parts = decodeParts(by, fields[field])
	}
	return item
}

func (item *decodedItem) contentField() string {
	switch item.typ {
	case "message":
		return "content"
	case "function_call_output", "custom_tool_call_output":
		return "output"
	default:
		return ""
	}
}

func decodeParts(by *dialect.Writer, raw json.RawMessage) []decodedPart {
	if rawjson.KindOf(raw) != rawjson.Array {
		return nil
	}
	elements, err := by.SplitArray(raw)
	if err != nil {
		return nil
	}
	parts := make([]decodedPart, len(elements))
	for i, element := range elements {
		fields, err := by.SplitObject(element)
		if err == nil {
			parts[i] = decodedPart{fields: fields, typ: fields.TextOrEmpty("type")}
		}
	}
	return parts
}

func (item *decodedItem) isCall() bool {
	_, isCall := callTypes[item.typ]
	return isCall && item.link != ""
}

// batches numbers the runs of items of the model.
func (d *decoded) batches() {
	batch := -1
	before := ofClient
	for _, item := range d.items {
		switch {
		case item.speaker == ofModel && before != ofModel:
			batch++
			item.batch = batch
		case item.speaker == ofModel:
			item.batch = batch
		case item.speaker == ofTool && before != ofClient:
			item.batch = batch
		}
		// An output without items of the model before it counts as an item of the client.
		if item.speaker != ofTool || before != ofClient {
			before = item.speaker
		}
	}
}

// pairCalls finds the call of each output: the first one with its id that has no output yet.
func (d *decoded) pairCalls() {
	open := make(map[string][]*decodedItem)
	known := make(map[string]bool)
	for _, item := range d.items {
		switch {
		case item.isCall():
			open[item.link] = append(open[item.link], item)
			known[item.link] = true
		case item.speaker != ofTool:
		case len(open[item.link]) > 0:
			call := open[item.link][0]
			open[item.link] = open[item.link][1:]
			d.calls[item], d.answered[call] = call, true
		default:
			d.repeats[item] = known[item.link]
		}
	}
}

func (d *decoded) eachPart(check func(item *decodedItem, i int, p decodedPart)) {
	for _, item := range d.items {
		for i, p := range item.parts {
			check(item, i, p)
		}
	}
}
