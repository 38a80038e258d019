package anthropic

import (
	"fmt"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkShape(d *decoded, report report) {
	for _, f := range d.shapeErrors {
		report(f.message, f.part, f.detail)
	}
}

func checkRequestSize(d *decoded, report report) {
	size := d.list.Before.Bytes
	for _, raw := range slices.Concat(d.list.System, d.list.Messages) {
		size += len(raw) + 1
	}
	if size > maxRequest {
		report(-1, 0, fmt.Sprintf("system prompt and messages are %d bytes, at most %d are possible", size, maxRequest))
	}
}

func checkWholeCharacters(d *decoded, report report) {
	const detail = "an escape is half of a surrogate pair"
	for i, raw := range d.list.System {
		if d.by.Valid(raw) && !rawjson.Keeps(raw) {
			report(-1, i, detail)
		}
	}
	for i, m := range d.messages {
		if m.fields != nil && !rawjson.Keeps(d.list.Messages[i]) {
			report(i, 0, detail)
		}
	}
}

func checkMessagesNotEmpty(d *decoded, report report) {
	if len(d.messages) == 0 {
		report(-1, 0, "there are no messages")
	}
}

func checkMessageFields(d *decoded, report report) {
	for i, m := range d.messages {
		extra := 0
		for key := range m.fields {
			known := key == "role" || key == "content"
			if !known && (m.role != roleSystem || key != "clear_at" && key != "output_config") {
				extra++
			}
		}
		switch {
		case extra == 1:
			report(i, 0, "there is 1 field that a message does not have")
		case extra > 1:
			report(i, 0, fmt.Sprintf("there are %d fields that a message does not have", extra))
		}
	}
}

func checkFirstMessageUser(d *decoded, report report) {
	if d.list.Before.Messages > 0 || len(d.messages) == 0 || d.messages[0].role != roleAssistant {
		return
	}
	if blocks := d.messages[0].blocks; len(blocks) == 0 || blocks[0].typ != typeCompaction {
		report(0, 0, "the first message is the assistant's")
	}
}

func checkLastMessageUser(d *decoded, report report) {
	n := len(d.messages)
	if n == 0 || d.messages[n-1].role != roleAssistant {
		return
	}
	blocks := d.messages[n-1].blocks
	if len(blocks) > 0 {
		if last := blocks[len(blocks)-1].typ; isServerUse(last) || isServerResult(last) {
			return
		}
	}
	report(n-1, max(len(blocks)-1, 0), "the last message is the assistant's")
}

func checkAlternateRoles(d *decoded, report report) {
	for i := 1; i < len(d.messages); i++ {
		if role := d.messages[i].role; role == d.messages[i-1].role && (role == roleUser || role == roleAssistant) {
			report(i, 0, "the message before has the same role: "+role)
		}
	}
}

func checkSystemText(d *decoded, report report) {
	for _, b := range d.system {
		if b.typ != typeText {
			report(-1, b.part, "the system prompt holds a block of type "+typeName(b.typ))
		}
	}
	for i, m := range d.messages {
		for _, b := range m.blocks {
			if m.role == roleSystem && b.typ != typeText && b.typ != typeToolAddition && b.typ != typeToolRemoval {
				report(i, b.part, "a message of role system holds a block of type "+typeName(b.typ))
			}
		}
	}
}

func checkSystemMessagePlace(d *decoded, report report) {
	for i, m := range d.messages {
		switch {
		case m.role != roleSystem:
		case i == 0 || d.messages[i-1].role != roleUser:
			report(i, 0, "the message before is not the user's")
		case !d.isLast(i) && d.messages[i+1].role != roleAssistant:
			report(i, 0, "the next message is not the assistant's")
		}
	}
}
