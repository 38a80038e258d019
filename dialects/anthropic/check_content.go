package anthropic

import (
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkContentNotEmpty(d *decoded, report report) {
	for i, m := range d.messages {
		optional := d.isLast(i) && m.role == roleAssistant
		if m.empty() && !optional {
			report(i, 0, "the content is empty")
		}
	}
}

// empty reports whether a message has no content at all. Content that cannot be decoded counts as content.
func (m decodedMessage) empty() bool {
	if m.broken || len(m.blocks) > 0 {
		return false
	}
	elements, err := rawjson.SplitArray(m.fields["content"])
	return m.isString || err == nil && len(elements) == 0
}

func checkTextNotBlank(d *decoded, report report) {
	const detail = "a text is empty or nothing but white space"
	for _, b := range d.system {
		if b.typ == typeText && b.isBlank() {
			report(-1, b.part, detail)
		}
	}
	d.eachBlock(func(i int, b decodedBlock) {
		if b.typ == typeText && b.isBlank() {
			report(i, b.part, detail)
		}
	})
}

// isBlank reports whether a text says nothing. Nearly all texts show with their first letter that they say something.
func (b decodedBlock) isBlank() bool {
	raw := b.fields["text"]
	for at := 1; at < len(raw); at++ {
		switch c := raw[at]; {
		case c == ' ':
		case c == '\\' && at+1 < len(raw) && (raw[at+1] == 'n' || raw[at+1] == 't' || raw[at+1] == 'r'):
			at++
		case c > ' ' && c < 0x7f && c != '\\' && c != '"':
			return false
		default:
			return isBlank(b.text("text"))
		}
	}
	return isBlank(b.text("text"))
}

func checkPartsOfRole(d *decoded, report report) {
	for i, m := range d.messages {
		for _, b := range m.blocks {
			wrong := false
			switch m.role {
			case roleUser:
				wrong = isOfAssistant(b.typ)
			case roleAssistant:
				wrong = b.typ == typeToolResult || b.typ == typeImage || b.typ == typeDocument
			}
			if wrong {
				report(i, b.part, fmt.Sprintf("a message of role %s holds a block of type %s", m.role, typeName(b.typ)))
			}
		}
	}
}

func checkCompactionContent(d *decoded, report report) {
	d.eachBlock(func(i int, b decodedBlock) {
		if b.typ == typeCompaction && b.fields.Has("content") && b.text("content") == "" {
			report(i, b.part, "the content of the compaction is empty or no text")
		}
	})
}
