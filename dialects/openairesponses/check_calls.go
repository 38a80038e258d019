package openairesponses

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const maxIDCharacters = 64

// itemIDPrefixes are the prefixes of the ids of items, by the type of item.
var itemIDPrefixes = map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc"}

func isName(name string) bool { return dialect.IsName(name) && len(name) <= maxIDCharacters }

func checkCallIDs(d *decoded, report report) {
	for _, item := range d.items {
		if utf8.RuneCountInString(item.link) > maxIDCharacters {
			report(item.at, 0, "the id of the call is too long")
		}
		if item.link == "" && (item.typ == "function_call" || item.typ == "custom_tool_call" || item.speaker == ofTool) &&
			rawjson.KindOf(item.fields["call_id"]) == rawjson.String {
			report(item.at, 0, "the id of the call is empty")
		}
	}
}

func checkCallIDsUnique(d *decoded, report report) {
	seen := make(map[string]bool)
	for _, item := range d.items {
		if !item.isCall() {
			continue
		}
		if seen[item.link] {
			report(item.at, 0, "an earlier call has the same id")
		}
		seen[item.link] = true
	}
}

func checkToolNames(d *decoded, report report) {
	for _, item := range d.items {
		if _, isCall := callTypes[item.typ]; isCall && rawjson.KindOf(item.fields["name"]) == rawjson.String &&
			!isName(item.fields.TextOrEmpty("name")) {
			report(item.at, 0, "name has other characters, or more or fewer of them")
		}
	}
}

func checkArgumentsObject(d *decoded, report report) {
	for _, item := range d.items {
		if item.typ != "function_call" || rawjson.KindOf(item.fields["arguments"]) != rawjson.String {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(item.fields.TextOrEmpty("arguments")), &object) != nil || object == nil {
			report(item.at, 0, "arguments must hold a JSON object")
		}
	}
}

func checkCallsAnswered(d *decoded, report report) { d.unanswered(false, report) }

func checkLastCallsAnswered(d *decoded, report report) { d.unanswered(true, report) }

// unanswered reports the calls without an output: those at the end, or the others.
func (d *decoded) unanswered(atEnd bool, report report) {
	last := -1
	if n := len(d.items); n > 0 {
		last = d.items[n-1].batch
	}
	for _, item := range d.items {
		if item.isCall() && !d.answered[item] && atEnd == (item.batch == last) {
			report(item.at, 0, "the call has no output")
		}
	}
}
