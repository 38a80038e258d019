package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// decoded is a list that was decoded for the checks, from its JSON and from what its Writer knows. A wrong type is a
// shapeError, which only checkShape reports.
type decoded struct {
	by          *dialect.Writer
	list        *dialect.List
	system      []decodedBlock
	messages    []decodedMessage
	breakpoints []decodedBreakpoint
	shapeErrors []shapeError
}

type shapeError struct {
	message, part int
	detail        string
}

type decodedMessage struct {
	role   string
	fields rawjson.Object
	// isString reports that the content is a string. Unless it is empty, blocks holds it as one block.
	isString bool
	blocks   []decodedBlock
	// broken reports that the content could not be decoded.
	broken bool
}

type decodedBlock struct {
	// part is the position in the message.
	part   int
	typ    string
	fields rawjson.Object
	// inner are the blocks of a tool result.
	inner []decodedBlock
}

// text returns a field of the block, or nothing where it is no text.
func (b decodedBlock) text(key string) string { return b.fields.TextOrEmpty(key) }

func decode(list *dialect.List, by *dialect.Writer) *decoded {
	d := &decoded{by: by, list: list}
	for i, raw := range list.System {
		if !by.Valid(raw) {
			d.wrongShape(-1, i, rawjson.ErrNotJSON)
			continue
		}
		if b, ok := d.decodeBlock(bytes.TrimSpace(raw), -1, i); ok {
			d.system = append(d.system, b)
		}
	}
	for i, raw := range list.Messages {
		d.messages = append(d.messages, d.decodeMessage(raw, i))
	}
	d.breakpoints = d.findBreakpoints()
	return d
}

func (d *decoded) wrongShape(message, part int, err error) {
	if err != nil {
		d.shapeErrors = append(d.shapeErrors, shapeError{message, part, err.Error()})
	}
}

func (d *decoded) decodeMessage(raw json.RawMessage, i int) decodedMessage {
	if !d.by.Valid(raw) {
		d.wrongShape(i, 0, rawjson.ErrNotJSON)
		return decodedMessage{broken: true}
	}
	o, err := d.by.SplitObject(bytes.TrimSpace(raw))
	if err != nil {
		d.wrongShape(i, 0, err)
		return decodedMessage{broken: true}
	}
	m := decodedMessage{fields: o}
	role, err := o.DemandText("role")
	if err == nil && role != roleUser && role != roleAssistant && role != roleSystem {
		err = rawjson.In("role", errRole)
	}
	d.wrongShape(i, 0, err)
	if err == nil {
		m.role = role
	}
	switch content := o["content"]; rawjson.KindOf(content) {
	case rawjson.String:
		m.isString = true
		if string(content) != `""` {
			m.blocks = []decodedBlock{{typ: typeText, fields: rawjson.Object{"text": content}}}
		}
	case rawjson.Array:
		m.blocks = d.decodeBlocks(content, i, -1)
	default:
		m.broken = true
		d.wrongShape(i, 0, rawjson.In("content", errContent))
	}
	return m
}

// decodeBlocks decodes an array of blocks. The blocks of a tool result have the result's part number.
func (d *decoded) decodeBlocks(array json.RawMessage, message, result int) []decodedBlock {
	raws, err := d.by.SplitArray(array)
	if err != nil {
		d.wrongShape(message, max(result, 0), err)
		return nil
	}
	var blocks []decodedBlock
	for i, raw := range raws {
		part := i
		if result >= 0 {
			part = result
		}
		if b, ok := d.decodeBlock(raw, message, part); ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (d *decoded) decodeBlock(raw json.RawMessage, message, part int) (decodedBlock, bool) {
	o, err := d.by.SplitObject(raw)
	if err != nil {
		d.wrongShape(message, part, err)
		return decodedBlock{}, false
	}
	b := decodedBlock{part: part, fields: o}
	if b.typ, err = o.DemandText("type"); err != nil {
		d.wrongShape(message, part, err)
		return decodedBlock{}, false
	}
	if err := d.checkFields(b); err != nil {
		d.wrongShape(message, part, err)
		return decodedBlock{}, false
	}
	if b.typ == typeToolResult && rawjson.KindOf(o["content"]) == rawjson.Array {
		b.inner = d.decodeBlocks(o["content"], message, part)
	}
	return b, true
}

// checkFields returns an error where a field of a block has the wrong type.
func (d *decoded) checkFields(b decodedBlock) error {
	for _, key := range requiredTexts(b.typ) {
		if rawjson.KindOf(b.fields[key]) != rawjson.String {
			return rawjson.In(key, rawjson.WrongKind(b.fields[key], rawjson.String))
		}
	}
	if mark := b.fields[cacheKey]; b.fields.Has(cacheKey) && rawjson.KindOf(mark) != rawjson.ObjectKind {
		return rawjson.In(cacheKey, rawjson.WrongKind(mark, rawjson.ObjectKind))
	}
	switch b.typ {
	case typeToolResult:
		if _, err := b.fields.Truth("is_error"); err != nil {
			return err
		}
		kinds := []rawjson.Kind{rawjson.Missing, rawjson.String, rawjson.Array}
		if !slices.Contains(kinds, rawjson.KindOf(b.fields["content"])) {
			return rawjson.In("content", errContent)
		}
	case typeImage, typeDocument:
		source, err := d.by.SplitObject(b.fields["source"])
		if err != nil {
			return rawjson.In("source", err)
		}
		if _, err := source.DemandText("type"); err != nil {
			return rawjson.In("source", err)
		}
	}
	return nil
}

func requiredTexts(typ string) []string {
	switch {
	case typ == typeText:
		return []string{"text"}
	case typ == typeThinking:
		return []string{"thinking"}
	case typ == typeToolUse:
		return []string{"id", "name"}
	case typ == typeToolResult, isServerResult(typ):
		return []string{"tool_use_id"}
	case isServerUse(typ):
		return []string{"id"}
	default:
		return nil
	}
}

// eachBlock visits the blocks of messages, including those in results.
func (d *decoded) eachBlock(visit func(message int, b decodedBlock)) {
	for i, m := range d.messages {
		for _, b := range m.blocks {
			visit(i, b)
			for _, inner := range b.inner {
				visit(i, inner)
			}
		}
	}
}

// eachOf visits the blocks of a type in messages of a role.
func (d *decoded) eachOf(role, typ string, visit func(message int, b decodedBlock)) {
	for i, m := range d.messages {
		if m.role != role {
			continue
		}
		for _, b := range m.blocks {
			if b.typ == typ {
				visit(i, b)
			}
		}
	}
}

func (d *decoded) isLast(message int) bool { return message == len(d.messages)-1 }
