package anthropic

import (
	"encoding/json"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// user makes a TOOL message of each result, and a USER message of the rest. The first has the message's own fields.
func (p *parser) user(c content, own []*compactordv1.Attachment) error {
	rest := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER}
	late := -1
	var results []*compactordv1.Message
	var places []int
	for i, block := range c.blocks {
		part, err := readBlock(block, roleUser)
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
		p.find(dialect.InputResultsOutOfOrder, late, "a tool result stands behind other content; taken as if it stood before")
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

// followsResult says whether the message before is a result, so that this one would be taken for a part of its message.
func (p *parser) followsResult() bool {
	n := len(p.parsed.Messages)
	return n > 0 && p.parsed.Messages[n-1].GetRole() == compactordv1.Role_ROLE_TOOL
}

func (p *parser) assistant(o rawjson.Object, c content, own []*compactordv1.Attachment) error {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Attachments: own}
	for i, block := range c.blocks {
		part, err := readBlock(block, roleAssistant)
		if err != nil {
			return dialect.Malformed(p.at, i, inBlock(i, err))
		}
		if call := part.GetToolCall(); call != nil && !isObject(call.GetArguments()) {
			p.find(dialect.InputArgumentsNotJSON, i, "the input of the call is no JSON object; kept as it is")
		}
		m.Parts = append(m.Parts, part)
	}
	// Clients keep whole responses in their lists, too.
	p.parsed.ProviderStop = ""
	if isResponse(o) {
		if err := p.fillFromEnvelope(m, o); err != nil {
			return err
		}
	}
	return p.add(m)
}

func isObject(arguments string) bool {
	return arguments == "" || rawjson.KindOf(json.RawMessage(arguments)) == rawjson.ObjectKind
}

// instruction makes a SYSTEM message of one within the conversation. It can hold text only; other blocks, such as changes
// of the tools, are kept in a note.
func (p *parser) instruction(c content, own []*compactordv1.Attachment) error {
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
			part, err = textPart(o)
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
