package openairesponses

import (
	"bytes"
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// What follows judges lists, and shares nothing with what reads and renders them.

// report tells of a place where a rule is broken.
type report = func(message, part int, detail string)

// input is a list, decoded for judging.
type input struct {
	system  []json.RawMessage
	entries []*entry
	// answers tells for each output which call it answers, repeats which earlier output of that call there is.
	answers map[*entry]*entry
	repeats map[*entry]bool
	// answered are the calls that have outputs.
	answered map[*entry]bool
}

// entry is an item. What of it has the wrong type is as if it were not there; shape tells of it.
type entry struct {
	at     int
	raw    json.RawMessage
	fields rawjson.Object
	typ    string
	role   string
	// speaker is who an item is of.
	speaker speaker
	// link is the id by which a call and its output belong together.
	link string
	// batch counts the stretches of what the model said, of which this is one or, at an output, which stands before it
	// with nothing but outputs between; -1 where there is none.
	batch int
	parts []part
}

type speaker int

const (
	ofModel speaker = iota
	ofTool
	ofClient
)

// part is an element of the content of a message or an output.
type part struct {
	fields rawjson.Object
	typ    string
}

// callTypes tells of each type of call which type of output answers it, and by which fields they name each other.
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

func decode(list *dialect.List) *input {
	in := &input{
		system: list.System, answers: make(map[*entry]*entry), repeats: make(map[*entry]bool),
		answered: make(map[*entry]bool),
	}
	for at, raw := range list.Messages {
		in.entries = append(in.entries, decodeEntry(at, bytes.TrimSpace(raw)))
	}
	in.batches()
	in.pair()
	return in
}

func decodeEntry(at int, raw json.RawMessage) *entry {
	e := &entry{at: at, raw: raw, speaker: ofClient, batch: -1}
	if !json.Valid(raw) {
		return e
	}
	fields, err := rawjson.SplitObject(raw)
	if err != nil {
		return e
	}
	e.fields = fields
	e.typ, e.role = textIn(fields, "type"), textIn(fields, "role")
	if _, there := fields["type"]; !there && fields.Has("role") {
		e.typ = "message"
	}
	if call, isCall := callTypes[e.typ]; isCall {
		e.link = textIn(fields, call.id)
	}
	link, isOutput := outputLinks[e.typ]
	if isOutput {
		if e.link = textIn(fields, link); e.link == "" && e.typ == "local_shell_call_output" {
			e.link = textIn(fields, "id")
		}
	}
	switch {
	case isOutput && (e.link != "" || e.typ != "tool_search_output"):
		e.speaker = ofTool
	case !clientTypes[e.typ] && (e.typ != "message" || e.role == "assistant"):
		e.speaker = ofModel
	}
	if field := e.contentField(); field != "" {
		e.parts = partsOf(fields[field])
	}
	return e
}

func (e *entry) contentField() string {
	switch e.typ {
	case "message":
		return "content"
	case "function_call_output", "custom_tool_call_output":
		return "output"
	default:
		return ""
	}
}

func partsOf(raw json.RawMessage) []part {
	elements, err := rawjson.SplitArray(raw)
	if err != nil {
		return nil
	}
	parts := make([]part, len(elements))
	for i, element := range elements {
		fields, err := rawjson.SplitObject(element)
		if err == nil {
			parts[i] = part{fields: fields, typ: textIn(fields, "type")}
		}
	}
	return parts
}

// textIn returns a field if it is a text, else an empty text.
func textIn(o rawjson.Object, key string) string {
	if rawjson.KindOf(o[key]) != rawjson.String {
		return ""
	}
	var text string
	if json.Unmarshal(o[key], &text) != nil {
		return ""
	}
	return text
}

func (e *entry) isCall() bool {
	_, isCall := callTypes[e.typ]
	return isCall && e.link != ""
}

// batches counts the stretches of what the model said.
func (in *input) batches() {
	batch := -1
	before := ofClient
	for _, e := range in.entries {
		switch {
		case e.speaker == ofModel && before != ofModel:
			batch++
			e.batch = batch
		case e.speaker == ofModel:
			e.batch = batch
		case e.speaker == ofTool && before != ofClient:
			e.batch = batch
		}
		// An output of nothing that was said is as good as the client's word.
		if e.speaker != ofTool || before != ofClient {
			before = e.speaker
		}
	}
}

// pair finds the call of each output: the earliest one with its id that has none yet.
func (in *input) pair() {
	open := make(map[string][]*entry)
	known := make(map[string]bool)
	for _, e := range in.entries {
		switch {
		case e.isCall():
			open[e.link] = append(open[e.link], e)
			known[e.link] = true
		case e.speaker != ofTool:
		case len(open[e.link]) > 0:
			call := open[e.link][0]
			open[e.link] = open[e.link][1:]
			in.answers[e], in.answered[call] = call, true
		default:
			in.repeats[e] = known[e.link]
		}
	}
}
