package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (messagesAPI) Validate(list *dialect.List, mode dialect.Mode) []dialect.Violation {
	return dialect.Run(checks, judge(list), mode)
}

// judged is a list taken apart for the checks, anew from its JSON. What has a wrong type is a flaw, and the checks that
// are not about shapes pass over it.
type judged struct {
	list     *dialect.List
	system   []judgedBlock
	messages []judgedMessage
	flaws    []flaw
}

type flaw struct {
	message, part int
	detail        string
}

type judgedMessage struct {
	role   string
	fields rawjson.Object
	// isString says that the content is a string; blocks then holds it as one block, unless it is empty.
	isString bool
	blocks   []judgedBlock
	// broken says that the content could not be taken apart.
	broken bool
}

type judgedBlock struct {
	// part is the position in the message.
	part   int
	typ    string
	fields rawjson.Object
	// inner are the blocks of a tool result.
	inner []judgedBlock
}

// text is a field of the block, empty where it is no text.
func (b judgedBlock) text(key string) string {
	text, err := b.fields.Text(key)
	if err != nil {
		return ""
	}
	return text
}

func judge(list *dialect.List) *judged {
	j := &judged{list: list}
	for i, raw := range list.System {
		if !json.Valid(raw) {
			j.flaw(-1, i, rawjson.ErrNotJSON)
			continue
		}
		if b, ok := j.block(bytes.TrimSpace(raw), -1, i); ok {
			j.system = append(j.system, b)
		}
	}
	for i, raw := range list.Messages {
		j.messages = append(j.messages, j.message(raw, i))
	}
	return j
}

func (j *judged) flaw(message, part int, err error) {
	if err != nil {
		j.flaws = append(j.flaws, flaw{message, part, err.Error()})
	}
}

func (j *judged) message(raw json.RawMessage, i int) judgedMessage {
	if !json.Valid(raw) {
		j.flaw(i, 0, rawjson.ErrNotJSON)
		return judgedMessage{broken: true}
	}
	o, err := rawjson.SplitObject(bytes.TrimSpace(raw))
	if err != nil {
		j.flaw(i, 0, err)
		return judgedMessage{broken: true}
	}
	m := judgedMessage{fields: o}
	role, err := o.DemandText("role")
	if err == nil && role != roleUser && role != roleAssistant && role != roleSystem {
		err = rawjson.In("role", errRole)
	}
	j.flaw(i, 0, err)
	if err == nil {
		m.role = role
	}
	switch content := o["content"]; rawjson.KindOf(content) {
	case rawjson.String:
		m.isString = true
		if string(content) != `""` {
			m.blocks = []judgedBlock{{typ: typeText, fields: rawjson.Object{"text": content}}}
		}
	case rawjson.Array:
		m.blocks = j.blocks(content, i, -1)
	default:
		m.broken = true
		j.flaw(i, 0, rawjson.In("content", errContent))
	}
	return m
}

// blocks takes an array apart. The blocks of a tool result count as the part that the result is.
func (j *judged) blocks(array json.RawMessage, message, result int) []judgedBlock {
	raws, err := rawjson.SplitArray(array)
	if err != nil {
		j.flaw(message, max(result, 0), err)
		return nil
	}
	var blocks []judgedBlock
	for i, raw := range raws {
		part := i
		if result >= 0 {
			part = result
		}
		if b, ok := j.block(raw, message, part); ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (j *judged) block(raw json.RawMessage, message, part int) (judgedBlock, bool) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		j.flaw(message, part, err)
		return judgedBlock{}, false
	}
	b := judgedBlock{part: part, fields: o}
	if b.typ, err = o.DemandText("type"); err != nil {
		j.flaw(message, part, err)
		return judgedBlock{}, false
	}
	if err := shapeOf(b); err != nil {
		j.flaw(message, part, err)
		return judgedBlock{}, false
	}
	if b.typ == typeToolResult && rawjson.KindOf(o["content"]) == rawjson.Array {
		b.inner = j.blocks(o["content"], message, part)
	}
	return b, true
}

// shapeOf says what is wrong with the types of a block's fields.
func shapeOf(b judgedBlock) error {
	for _, key := range demandedTexts(b.typ) {
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
		source, err := rawjson.SplitObject(b.fields["source"])
		if err != nil {
			return rawjson.In("source", err)
		}
		if _, err := source.DemandText("type"); err != nil {
			return rawjson.In("source", err)
		}
	}
	return nil
}

func demandedTexts(typ string) []string {
	switch {
	case typ == typeText:
		return []string{"text"}
	case typ == typeThinking:
		return []string{"thinking"}
	case typ == typeToolUse:
		return []string{"id", "name"}
	case typ == typeToolResult, serverResult(typ):
		return []string{"tool_use_id"}
	case serverUse(typ):
		return []string{"id"}
	default:
		return nil
	}
}

// report tells of a place that breaks a rule.
type report = func(message, part int, detail string)

// eachBlock visits the blocks of messages, those within results too.
func (j *judged) eachBlock(visit func(message int, b judgedBlock)) {
	for i, m := range j.messages {
		for _, b := range m.blocks {
			visit(i, b)
			for _, inner := range b.inner {
				visit(i, inner)
			}
		}
	}
}

// of visits the blocks of a type in messages of a role.
func (j *judged) of(role, typ string, visit func(message int, b judgedBlock)) {
	for i, m := range j.messages {
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

func (j *judged) isLast(message int) bool { return message == len(j.messages)-1 }

// typeName names a type of block, if it is one that is known: others may be anything that the conversation says.
func typeName(typ string) string {
	switch typ {
	case typeText, typeThinking, typeRedactedThinking, typeToolUse, typeToolResult, typeImage, typeDocument,
		typeServerToolUse, typeMCPToolUse, typeContainerUpload, typeSearchResult, typeCompaction, typeFallback,
		typeToolAddition, typeToolRemoval:
		return typ
	default:
		if serverResult(typ) {
			return "a server tool's result"
		}
		return "that is not known"
	}
}
