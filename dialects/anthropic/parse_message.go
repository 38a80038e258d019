package anthropic

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseUser makes a TOOL message of each result, and a USER message of the rest. The first one has the attachments of
// the provider's message.
func (p *parser) parseUser(c content, own []*compactordv1.Attachment) error {
	rest := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER}
	late := -1
	var results []*compactordv1.Message
	var places []int
	for i, block := range c.blocks {
		part, err := parseBlock(block, roleUser)
		if err != nil {
			return dialect.Malformed(p.at, i, inBlock(i, err))
		}
		if part.GetToolResult() == nil {
			rest.Parts = append(rest.Parts, part)
			continue
		}
		if len(rest.GetParts()) > 0 && late < 0 {
			late = i
		}
		results = append(results, &compactordv1.Message{
			Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{part},
		})
		places = append(places, i)
	}
	if late >= 0 {
		for i, m := range results {
			m.Attachments = append(m.Attachments, dialect.Note(kind, noteAt, strconv.Itoa(places[i])))
		}
		p.find(dialect.InputResultsOutOfOrder, late, "a tool result comes after other content; accepted as if it came before")
	}
	if len(rest.GetParts()) > 0 || len(results) == 0 {
		results = append(results, rest)
	}
	if p.followsResult() {
		own = append(own, dialect.Note(kind, noteBegin, noteMessage))
	}
	results[0].Attachments = append(results[0].Attachments, own...)
	for _, m := range results {
		if err := p.add(m); err != nil {
			return err
		}
	}
	return nil
}

// followsResult reports whether the message before is a result. Rendering would then put this message into the same
// one.
func (p *parser) followsResult() bool {
	n := len(p.parsed.Messages)
	return n > 0 && p.parsed.Messages[n-1].GetRole() == compactordv1.Role_ROLE_TOOL
}

func (p *parser) parseAssistant(o rawjson.Object, c content, own []*compactordv1.Attachment) error {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Attachments: own}
	for i, block := range c.blocks {
		part, err := parseBlock(block, roleAssistant)
		if err != nil {
			return dialect.Malformed(p.at, i, inBlock(i, err))
		}
		if call := part.GetToolCall(); call != nil && !isArguments(call.GetArguments()) {
			p.find(dialect.InputArgumentsNotJSON, i, "the input of the call is no JSON object; kept as it is")
		}
		m.Parts = append(m.Parts, part)
	}
	// Clients also keep whole responses in their lists.
	p.parsed.ProviderStop = ""
	if isResponse(o) {
		if err := p.fillFromResponse(m, o); err != nil {
			return err
		}
	}
	return p.add(m)
}

// parseInstruction makes a SYSTEM message from one within the conversation. A SYSTEM message holds only text. Other
// blocks, such as changes of the tools, are kept in a note.
func (p *parser) parseInstruction(c content, own []*compactordv1.Attachment) error {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_SYSTEM}
	others := rawjson.Object{}
	for i, block := range c.blocks {
		o, typ, err := typed(block)
		if err == nil && typ != typeText {
			others[strconv.Itoa(i)] = block
			continue
		}
		var part *compactordv1.Part
		if err == nil {
			part, err = parseText(o)
		}
		if err != nil {
			return dialect.Malformed(p.at, i, inBlock(i, err))
		}
		m.Parts = append(m.Parts, part)
	}
	m.Attachments = append(own, dialect.Note(kind, notePlace, noteMessages))
	if len(others) > 0 {
		kept := string(others.Encode())
		if len(kept) > dialect.MaxText {
			return rawjson.In("content", rawjson.TooLarge(len(kept), dialect.MaxText))
		}
		m.Attachments = append(m.Attachments, &compactordv1.Attachment{
			Dialect: kind, Key: dialect.NotePrefix + noteBlocks, Json: kept,
		})
	}
	return p.add(m)
}

// parseSystem makes one message from the system prompt.
func (p *parser) parseSystem(list *dialect.List) error {
	if len(list.System) == 0 {
		return nil
	}
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_SYSTEM}
	found := len(p.parsed.Findings)
	for i, raw := range list.System {
		part, err := p.parseLenientSystem(raw, i)
		if err != nil {
			return dialect.Malformed(0, i, rawjson.In("system", rawjson.InElement(i, err)))
		}
		m.Parts = append(m.Parts, part)
	}
	dialect.KeepUnread(kind, m, rawjson.EncodeArray(list.System), p.parsed.Findings[found:])
	if list.SystemAsText {
		m.Attachments = append(m.Attachments, dialect.Note(kind, noteForm, noteString))
	}
	return p.add(m)
}

// parseSystemBlock makes a part from a block of the system prompt.
func parseSystemBlock(raw json.RawMessage) (*compactordv1.Part, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	if !o.IsText("type", typeText) {
		return nil, rawjson.In("type", errOnlyText)
	}
	return parseText(o)
}

func (p *parser) parseMessage(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if err := dialect.CheckDialect(kind, o); err != nil {
		return err
	}
	role, err := o.DemandText("role")
	if err != nil {
		return err
	}
	c, err := contentOf(o, dialect.MaxParts)
	if err != nil {
		return err
	}
	// The parts hold the content, except where it is empty.
	usual := rawjson.Object{"role": o["role"], "content": o["content"]}
	if len(c.blocks) == 0 {
		usual["content"] = json.RawMessage("[]")
	}
	own, err := dialect.Residue(kind, o, usual)
	if err != nil {
		return err
	}
	if c.isString {
		own = append(own, dialect.Note(kind, noteForm, noteString))
	}
	if len(c.blocks) == 0 {
		p.find(dialect.InputEmptyMessage, 0, "the message is empty; kept as it is")
	}
	switch role {
	case roleUser:
		return p.parseUser(c, own)
	case roleAssistant:
		return p.parseAssistant(o, c, own)
	case roleSystem:
		return p.parseInstruction(c, own)
	default:
		return rawjson.In("role", errRole)
	}
}

// content holds the blocks of a message or a tool result, as they were written.
type content struct {
	blocks []json.RawMessage
	// isString reports that the one block stands for a string.
	isString bool
}

// contentOf returns the blocks of a message's or a result's content, at most the given number. A string is one text
// block, and an empty string is none.
func contentOf(o rawjson.Object, most int) (content, error) {
	switch value := o["content"]; rawjson.KindOf(value) {
	case rawjson.Missing, rawjson.Null:
		return content{}, nil
	case rawjson.String:
		if string(value) == `""` {
			return content{}, nil
		}
		// A shorter value cannot hold a text that is too long, so it need not be decoded here.
		if len(value) > dialect.MaxText {
			if _, err := o.BoundedText("content", dialect.MaxText); err != nil {
				return content{}, err
			}
		}
		block := rawjson.Object{"type": rawjson.Quote(typeText), "text": value}
		return content{blocks: []json.RawMessage{block.Encode()}, isString: true}, nil
	case rawjson.Array:
		blocks, err := rawjson.SplitArray(value)
		if err == nil && len(blocks) > most {
			err = fmt.Errorf("%w: more than %d blocks", dialect.ErrLimit, most)
		}
		return content{blocks: blocks}, rawjson.In("content", err)
	default:
		return content{}, rawjson.In("content", errContent)
	}
}

// inBlock adds the path of a block of the content to an error.
func inBlock(i int, err error) error { return rawjson.In("content", rawjson.InElement(i, err)) }
