package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkCallsNotEmpty(d *decoded, report report) {
	for i, m := range d.messages {
		if m.hasCalls && len(m.calls) == 0 {
			report(i, 0, "tool_calls is empty")
		}
	}
}

func checkCallIDs(d *decoded, report report) {
	for i, m := range d.messages {
		for j, c := range m.calls {
			if c.inner != nil && !isFilled(c.object, "id") {
				report(i, j, "a call has no id")
			}
		}
		if isTool(m) && !isFilled(m.object, "tool_call_id") {
			report(i, 0, "a message of role tool has no tool_call_id")
		}
	}
}

// isFilled reports whether a field is present. Another rule checks its type.
func isFilled(o rawjson.Object, key string) bool { return !isEmptyValue(o[key]) }

func checkCallIDLength(d *decoded, report report) {
	for i, m := range d.messages {
		for j, c := range m.calls {
			if len(c.object.TextOrEmpty("id")) > 40 {
				report(i, j, "the id of a call is too long")
			}
		}
		if isTool(m) && len(m.object.TextOrEmpty("tool_call_id")) > 40 {
			report(i, 0, "tool_call_id is too long")
		}
	}
}

func checkCallIDsUnique(d *decoded, report report) {
	seen := make(map[string]bool)
	for i, m := range d.messages {
		for j, c := range m.calls {
			id := c.object.TextOrEmpty("id")
			if id != "" && seen[id] {
				report(i, j, "another call before has the same id")
			}
			seen[id] = true
		}
	}
}

func checkToolNames(d *decoded, report report) {
	wrong := func(o rawjson.Object) bool { return o != nil && !isName(o.TextOrEmpty("name")) }
	for i, m := range d.messages {
		for j, c := range m.calls {
			if wrong(c.inner) {
				report(i, j, "the name of a tool is missing, too long, or has characters that it may not have")
			}
		}
		if m.legacy != nil && wrong(m.legacy.inner) || m.role == roleFunction && wrong(m.object) ||
			isTool(m) && m.object.Has("name") && wrong(m.object) {
			report(i, 0, "the name of a tool is missing, too long, or has characters that it may not have")
		}
	}
}

func checkParticipantNames(d *decoded, report report) {
	for i, m := range d.messages {
		if m.role == roleFunction || isTool(m) || rawjson.KindOf(m.object["name"]) != rawjson.String {
			continue
		}
		if !isName(m.object.TextOrEmpty("name")) {
			report(i, 0, "name is empty, too long, or has characters that it may not have")
		}
	}
}

func isName(name string) bool { return dialect.IsName(name) && len(name) <= maxToolName }

// eachArguments visits the arguments of all function calls.
func eachArguments(d *decoded, check func(message, part int, arguments json.RawMessage)) {
	for i, m := range d.messages {
		for j, c := range m.calls {
			if c.inner != nil && !c.isCustom {
				check(i, j, c.inner["arguments"])
			}
		}
		if m.legacy != nil && m.legacy.inner != nil {
			check(i, 0, m.legacy.inner["arguments"])
		}
	}
}

func checkArgumentsString(d *decoded, report report) {
	eachArguments(d, func(message, part int, arguments json.RawMessage) {
		if k := rawjson.KindOf(arguments); k != rawjson.String {
			report(message, part, "arguments must be a string, is "+string(k))
		}
	})
}

func checkArgumentsObject(d *decoded, report report) {
	eachArguments(d, func(message, part int, arguments json.RawMessage) {
		var inner string
		if rawjson.KindOf(arguments) != rawjson.String || json.Unmarshal(arguments, &inner) != nil {
			return
		}
		inner = strings.Trim(inner, " \t\r\n")
		if !strings.HasPrefix(inner, "{") || !rawjson.Valid([]byte(inner)) {
			report(message, part, "arguments hold no JSON object")
		}
	})
}

func checkCallsAnswered(d *decoded, report report) { d.unanswered(false, report) }

func checkLastCallsAnswered(d *decoded, report report) { d.unanswered(true, report) }
