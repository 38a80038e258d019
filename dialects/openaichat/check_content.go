package openaichat

import (
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkContentRequired(d *decoded, report report) {
	for i, m := range d.messages {
		switch m.role {
		case "", roleAssistant:
			continue
		case roleFunction:
			if rawjson.KindOf(m.content) == rawjson.Null {
				continue
			}
		}
		if !m.object.Has("content") {
			report(i, 0, "a message of role "+m.role+" has no content")
		}
	}
}

func checkAssistantContent(d *decoded, report report) {
	for i, m := range d.messages {
		if m.role != roleAssistant || len(m.calls) > 0 || m.legacy != nil || m.object.Has("audio") {
			continue
		}
		if isEmptyValue(m.content) {
			report(i, 0, "a message of the assistant has neither content nor calls")
		}
	}
}

func checkContentNotEmpty(d *decoded, report report) {
	for i, m := range d.messages {
		speaks := m.role == roleSystem || m.role == roleDeveloper || m.role == roleUser
		switch k := rawjson.KindOf(m.content); {
		case k == rawjson.String && speaks && isEmptyValue(m.content):
			report(i, 0, "content is an empty text")
		// Another rule checks an assistant's message without calls.
		case k == rawjson.Array && len(m.parts) == 0 && (m.role != roleAssistant || len(m.calls) > 0 || m.legacy != nil):
			report(i, 0, "content is an empty array")
		}
		for j, p := range m.parts {
			if (p.partType == "text" || p.partType == "refusal") && isEmptyValue(p.object[p.partType]) {
				report(i, j, "a part of the content is an empty text")
			}
		}
	}
}

var (
	mediaTypes = []string{typeImage, typeAudio, typeFile}
	textRoles  = []string{roleSystem, roleDeveloper, roleTool, roleFunction}
)

func checkPartsOfRole(d *decoded, report report) {
	for i, m := range d.messages {
		for j, p := range m.parts {
			wrong := false
			switch {
			case p.partType == "", p.partType == "text":
			case p.partType == "refusal":
				wrong = m.role != roleAssistant
			case slices.Contains(mediaTypes, p.partType):
				wrong = m.role != roleUser
			default:
				// Types that are not in the reference are not checked, since some servers know them.
				wrong = slices.Contains(textRoles, m.role)
			}
			if wrong {
				report(i, j, "a message of role "+m.role+" holds a part of a type that it may not hold")
			}
		}
	}
}

func checkRefusalAlone(d *decoded, report report) {
	for i, m := range d.messages {
		if m.role != roleAssistant || len(m.parts) < 2 {
			continue
		}
		for j, p := range m.parts {
			if p.partType == "refusal" {
				report(i, j, "a refusal is not the only part of the content")
			}
		}
	}
}
