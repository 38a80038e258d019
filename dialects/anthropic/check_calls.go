package anthropic

import (
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkBlockOfRole(j *judged, report report) {
	for i, m := range j.messages {
		for _, b := range m.blocks {
			wrong := false
			switch m.role {
			case roleUser:
				wrong = ofAssistant(b.typ)
			case roleAssistant:
				wrong = b.typ == typeToolResult || b.typ == typeImage || b.typ == typeDocument
			}
			if wrong {
				report(i, b.part, fmt.Sprintf("a message of role %s holds a block of type %s", m.role, typeName(b.typ)))
			}
		}
	}
}

// ids are the ids that blocks of a type have in a message.
func (m judgedMessage) ids(typ, key string) map[string]bool {
	ids := make(map[string]bool)
	for _, b := range m.blocks {
		if b.typ == typ {
			ids[b.text(key)] = true
		}
	}
	return ids
}

func checkResultsFollowCalls(j *judged, report report) {
	for i, m := range j.messages {
		if m.role != roleAssistant || j.isLast(i) {
			continue
		}
		var answered map[string]bool
		if next := j.messages[i+1]; next.role == roleUser {
			answered = next.ids(typeToolResult, "tool_use_id")
		}
		for _, b := range m.blocks {
			if b.typ == typeToolUse && !answered[b.text("id")] {
				report(i, b.part, "the call has no result in the next message")
			}
		}
	}
}

func checkResultsHaveCalls(j *judged, report report) {
	for i, m := range j.messages {
		if m.role != roleUser {
			continue
		}
		var called map[string]bool
		if i > 0 && j.messages[i-1].role == roleAssistant {
			called = j.messages[i-1].ids(typeToolUse, "id")
		}
		for _, b := range m.blocks {
			if b.typ == typeToolResult && !called[b.text("tool_use_id")] {
				report(i, b.part, "the result answers no call of the message before")
			}
		}
	}
}

func checkOneResultACall(j *judged, report report) {
	for i, m := range j.messages {
		answered := make(map[string]bool)
		for _, b := range m.blocks {
			if m.role != roleUser || b.typ != typeToolResult {
				continue
			}
			if id := b.text("tool_use_id"); answered[id] {
				report(i, b.part, "the call has a result already")
			} else {
				answered[id] = true
			}
		}
	}
}

func checkResultsFirst(j *judged, report report) {
	for i, m := range j.messages {
		other := false
		for _, b := range m.blocks {
			if m.role == roleUser && b.typ == typeToolResult && other {
				report(i, b.part, "the result stands behind other content")
			}
			other = other || b.typ != typeToolResult
		}
	}
}

// isName says whether a text is of what ids and names are made of.
func isName(text string) bool {
	for _, c := range []byte(text) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return text != ""
}

func checkCallIDs(j *judged, report report) {
	j.of(roleAssistant, typeToolUse, func(i int, b judgedBlock) {
		if !isName(b.text("id")) {
			report(i, b.part, "the id of the call is empty or has other characters")
		}
	})
}

func checkCallIDsUnique(j *judged, report report) {
	used := make(map[string]bool)
	j.of(roleAssistant, typeToolUse, func(i int, b judgedBlock) {
		if id := b.text("id"); used[id] {
			report(i, b.part, "an earlier call has the same id")
		} else {
			used[id] = true
		}
	})
}

func checkToolNames(j *judged, report report) {
	j.of(roleAssistant, typeToolUse, func(i int, b judgedBlock) {
		if name := b.text("name"); !isName(name) || len(name) > maxToolName {
			report(i, b.part, "the name of the tool is empty, too long, or has other characters")
		}
	})
}

func checkInputObject(j *judged, report report) {
	j.of(roleAssistant, typeToolUse, func(i int, b judgedBlock) {
		if kind := rawjson.KindOf(b.fields["input"]); kind != rawjson.ObjectKind {
			report(i, b.part, fmt.Sprintf("the input is %s", kind))
		}
	})
}

func checkFailedResults(j *judged, report report) {
	j.of(roleUser, typeToolResult, func(i int, b judgedBlock) {
		if failed, err := b.fields.Truth("is_error"); err != nil || !failed {
			return
		}
		if b.text("content") == "" && len(b.inner) == 0 {
			report(i, b.part, "the failed result has no content")
		}
		for _, inner := range b.inner {
			if inner.typ != typeText {
				report(i, b.part, "the failed result holds a block of type "+typeName(inner.typ))
			}
		}
	})
}

// resultTakes says whether a result can hold blocks of a type. Types that are not known are not judged.
func resultTakes(typ string) bool {
	switch typ {
	case typeToolResult, typeCompaction, typeContainerUpload:
		return false
	default:
		return !ofAssistant(typ)
	}
}

func checkResultContent(j *judged, report report) {
	j.of(roleUser, typeToolResult, func(i int, b judgedBlock) {
		for _, inner := range b.inner {
			if !resultTakes(inner.typ) {
				report(i, b.part, "the result holds a block of type "+typeName(inner.typ))
			}
		}
	})
}
