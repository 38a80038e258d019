package anthropic

import (
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// ids returns the ids of the blocks of a type in a message.
func (m decodedMessage) ids(typ, key string) map[string]bool {
	ids := make(map[string]bool)
	for _, b := range m.blocks {
		if b.typ == typ {
			ids[b.text(key)] = true
		}
	}
	return ids
}

func checkCallsAnswered(d *decoded, report report) {
	for i, m := range d.messages {
		if m.role != roleAssistant || d.isLast(i) {
			continue
		}
		var answered map[string]bool
		if next := d.messages[i+1]; next.role == roleUser {
			answered = next.ids(typeToolResult, "tool_use_id")
		}
		for _, b := range m.blocks {
			if b.typ == typeToolUse && !answered[b.text("id")] {
				report(i, b.part, "the call has no result in the next message")
			}
		}
	}
}

func checkCallIDs(d *decoded, report report) {
	d.eachOf(roleAssistant, typeToolUse, func(i int, b decodedBlock) {
		if !dialect.IsName(b.text("id")) {
			report(i, b.part, "the id of the call is empty or has other characters")
		}
	})
}

func checkCallIDsUnique(d *decoded, report report) {
	used := make(map[string]bool)
	d.eachOf(roleAssistant, typeToolUse, func(i int, b decodedBlock) {
		if id := b.text("id"); used[id] {
			report(i, b.part, "an earlier call has the same id")
		} else {
			used[id] = true
		}
	})
}

func checkToolNames(d *decoded, report report) {
	d.eachOf(roleAssistant, typeToolUse, func(i int, b decodedBlock) {
		if name := b.text("name"); !dialect.IsName(name) || len(name) > maxToolName {
			report(i, b.part, "the name of the tool is empty, too long, or has other characters")
		}
	})
}

func checkArgumentsObject(d *decoded, report report) {
	d.eachOf(roleAssistant, typeToolUse, func(i int, b decodedBlock) {
		if kind := rawjson.KindOf(b.fields["input"]); kind != rawjson.ObjectKind {
			report(i, b.part, fmt.Sprintf("the input is %s", kind))
		}
	})
}
