package anthropic

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkServerTools(d *decoded, report report) {
	waiting := make(map[string]bool)
	for i, m := range d.messages {
		if m.role != roleAssistant {
			continue
		}
		open, callers := make(map[string]decodedBlock), make(map[string]bool)
		for _, b := range m.blocks {
			id := b.text("id")
			switch {
			case isServerUse(b.typ):
				if before, twice := open[id]; twice {
					report(i, before.part, "another use of a server tool has the same id")
				}
				open[id] = b
			case isServerResult(b.typ):
				id = b.text("tool_use_id")
				if _, found := open[id]; !found && !waiting[id] {
					report(i, b.part, "the result of a server tool has no use before it")
				}
				delete(open, id)
				delete(waiting, id)
			case b.typ == typeToolUse && callerOf(b) != "":
				if _, found := open[callerOf(b)]; !found && !waiting[callerOf(b)] {
					report(i, b.part, "the program that makes the call does not wait")
				}
				callers[callerOf(b)] = true
			}
		}
		for id, use := range open {
			switch {
			case callers[id]:
				waiting[id] = true
			case !d.isLast(i):
				report(i, use.part, "the use of a server tool has no result in the message")
			}
		}
	}
}

// callerOf returns the id of the program that made a call.
func callerOf(b decodedBlock) string {
	if !b.fields.Has("caller") {
		return ""
	}
	caller, err := rawjson.SplitObject(b.fields["caller"])
	if err != nil {
		return ""
	}
	return decodedBlock{fields: caller}.text("tool_id")
}

func checkProgramResults(d *decoded, report report) {
	for i, m := range d.messages {
		if i == 0 || m.role != roleUser || d.messages[i-1].role != roleAssistant {
			continue
		}
		called := false
		for _, b := range d.messages[i-1].blocks {
			called = called || b.typ == typeToolUse && callerOf(b) != ""
		}
		for _, b := range m.blocks {
			if called && b.typ != typeToolResult {
				report(i, b.part, "a block of another type is beside the results for a program")
			}
		}
	}
}
