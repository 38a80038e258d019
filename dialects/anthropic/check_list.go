package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkShape(j *judged, report report) {
	for _, f := range j.flaws {
		report(f.message, f.part, f.detail)
	}
}

func checkRequestSize(j *judged, report report) {
	size := 0
	for _, raw := range slices.Concat(j.list.System, j.list.Messages) {
		size += len(raw) + 1
	}
	if size > maxRequest {
		report(-1, 0, fmt.Sprintf("system prompt and messages are %d bytes, at most %d are possible", size, maxRequest))
	}
}

func checkWholeCharacters(j *judged, report report) {
	const detail = "an escape is half of a surrogate pair"
	for i, raw := range j.list.System {
		if json.Valid(raw) && !rawjson.Keeps(raw) {
			report(-1, i, detail)
		}
	}
	for i, m := range j.messages {
		if m.fields != nil && !rawjson.Keeps(j.list.Messages[i]) {
			report(i, 0, detail)
		}
	}
}

func checkMessagesNotEmpty(j *judged, report report) {
	if len(j.messages) == 0 {
		report(-1, 0, "there are no messages")
	}
}

func checkMessageFields(j *judged, report report) {
	for i, m := range j.messages {
		extra := 0
		for key := range m.fields {
			known := key == "role" || key == "content"
			if !known && (m.role != roleSystem || key != "clear_at" && key != "output_config") {
				extra++
			}
		}
		if extra > 0 {
			report(i, 0, fmt.Sprintf("there are %d fields that a message does not have", extra))
		}
	}
}

func checkFirstMessageUser(j *judged, report report) {
	if len(j.messages) == 0 || j.messages[0].role != roleAssistant {
		return
	}
	if blocks := j.messages[0].blocks; len(blocks) == 0 || blocks[0].typ != typeCompaction {
		report(0, 0, "the first message is the assistant's")
	}
}

func checkLastMessageUser(j *judged, report report) {
	n := len(j.messages)
	if n == 0 || j.messages[n-1].role != roleAssistant {
		return
	}
	blocks := j.messages[n-1].blocks
	if len(blocks) > 0 {
		if last := blocks[len(blocks)-1].typ; serverUse(last) || serverResult(last) {
			return
		}
	}
	report(n-1, max(len(blocks)-1, 0), "the last message is the assistant's")
}

func checkAlternateRoles(j *judged, report report) {
	for i := 1; i < len(j.messages); i++ {
		if role := j.messages[i].role; role == j.messages[i-1].role && (role == roleUser || role == roleAssistant) {
			report(i, 0, "the message before has the same role: "+role)
		}
	}
}

func checkSystemText(j *judged, report report) {
	for _, b := range j.system {
		if b.typ != typeText {
			report(-1, b.part, "the system prompt holds a block of type "+typeName(b.typ))
		}
	}
	for i, m := range j.messages {
		for _, b := range m.blocks {
			if m.role == roleSystem && b.typ != typeText && b.typ != typeToolAddition && b.typ != typeToolRemoval {
				report(i, b.part, "a message of role system holds a block of type "+typeName(b.typ))
			}
		}
	}
}

func checkSystemMessagePlace(j *judged, report report) {
	for i, m := range j.messages {
		switch {
		case m.role != roleSystem:
		case i == 0 || j.messages[i-1].role != roleUser:
			report(i, 0, "the message before is not the user's")
		case !j.isLast(i) && j.messages[i+1].role != roleAssistant:
			report(i, 0, "the next message is not the assistant's")
		}
	}
}

func checkContentNotEmpty(j *judged, report report) {
	for i, m := range j.messages {
		optional := j.isLast(i) && m.role == roleAssistant
		if m.empty() && !optional {
			report(i, 0, "the content is empty")
		}
	}
}

// empty says whether a message has no content at all; flaws are content, too.
func (m judgedMessage) empty() bool {
	if m.broken || len(m.blocks) > 0 {
		return false
	}
	elements, err := rawjson.SplitArray(m.fields["content"])
	return m.isString || err == nil && len(elements) == 0
}

func checkTextNotBlank(j *judged, report report) {
	const detail = "a text is empty or nothing but white space"
	for _, b := range j.system {
		if b.typ == typeText && isBlank(b.text("text")) {
			report(-1, b.part, detail)
		}
	}
	j.eachBlock(func(i int, b judgedBlock) {
		if b.typ == typeText && isBlank(b.text("text")) {
			report(i, b.part, detail)
		}
	})
}
