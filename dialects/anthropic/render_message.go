package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderInstruction adds a SYSTEM or DEVELOPER message within the conversation. One that was written in this dialect
// keeps its role where the provider accepts that. joinMessages later checks the message after it.
func (r *renderer) renderInstruction(i int) {
	native := isNoted(r.messages[i].GetAttachments(), notePlace, noteMessages)
	if native && len(r.open) == 0 && r.last(roleAssistant) == nil && len(r.rendered) > 0 {
		if blocks := r.renderNative(i); len(blocks) > 0 {
			t := r.messageFor(roleSystem, i)
			t.rest = append(t.rest, blocks...)
		}
		return
	}
	if blocks := r.instructionText(i); len(blocks) > 0 {
		t := r.messageFor(roleUser, i)
		t.rest = append(t.rest, blocks...)
	}
}

// renderNative returns the blocks of a message of role system, as they were written.
func (r *renderer) renderNative(i int) []renderedBlock {
	var texts []json.RawMessage
	for j, p := range r.messages[i].GetParts() {
		if b, ok := r.renderText(p, i, j); ok {
			texts = append(texts, r.written(&b))
		}
	}
	others := slices.DeleteFunc(placedBlocks(r.messages[i]), func(other placedBlock) bool { return !isToolChange(other.raw) })
	all := mergePlaced(texts, others)
	blocks := make([]renderedBlock, len(all))
	for j, raw := range all {
		blocks[j] = renderedBlock{raw: raw, typ: typeText, message: i}
	}
	return blocks
}

// isToolChange reports whether a system message can hold this block beside text.
func isToolChange(raw json.RawMessage) bool {
	o, err := rawjson.SplitObject(raw)
	return err == nil && (o.IsText("type", typeToolAddition) || o.IsText("type", typeToolRemoval))
}

// instructionText returns an instruction as text of the user.
func (r *renderer) instructionText(i int) []renderedBlock {
	var blocks []renderedBlock
	for j, p := range r.messages[i].GetParts() {
		if text := p.GetText().GetText(); !isBlank(text) {
			blocks = append(blocks, r.madeText(wording.Instruction(text), i, j))
		} else {
			r.drop(i, j, whyBlank)
		}
	}
	for range placedBlocks(r.messages[i]) {
		r.drop(i, 0, "a block of a system message has no place in a message of the user")
	}
	if len(blocks) > 0 {
		r.repair(ruleSystemMessagePlace, i, "an instruction becomes text of the user")
	}
	return blocks
}

// renderedBlock is a block of a request while it is being made.
type renderedBlock struct {
	// raw is the block as JSON; nil where it is a draft, which is written in its message.
	raw   json.RawMessage
	draft rawjson.Draft
	typ   string
	// id is the id of a tool_use, or of the call that a tool_result answers.
	id string
	// message and part are the positions of what it was made from.
	message, part int
	// made reports that nothing in it is JSON of the log, which could have breakpoints and halves of characters.
	made bool
	// foreign reports that thinking is another provider's or not signed. moved reports that the message changed its place,
	// to which its thinking is bound. trailing reports that thinking ends its message.
	foreign, moved, trailing bool
}

// renderedMessage is a message of a request while it is being made.
type renderedMessage struct {
	role string
	// results come before the rest.
	results, rest []renderedBlock
	span          dialect.Span
	// fields are the other fields that the provider accepts beside role and content.
	fields rawjson.Object
	// unknown are the positions of the neutral messages with fields that the provider does not accept.
	unknown []int
	// isString reports that the content of its first message was a string. A single block is then written as a string,
	// too.
	isString bool
	// stop is the stop reason of the last neutral ASSISTANT message in it.
	stop compactordv1.StopReason
}

func newMessage(role string, at int, m *compactordv1.Message) *renderedMessage {
	t := &renderedMessage{role: role, span: dialect.Span{First: at, End: at}}
	t.take(at, m)
	t.isString = isNoted(m.GetAttachments(), noteForm, noteString)
	return t
}

// take adds a neutral message's attachments and position to this message.
func (t *renderedMessage) take(at int, m *compactordv1.Message) {
	t.span.End = at + 1
	for _, a := range m.GetAttachments() {
		switch key, value := a.GetKey(), json.RawMessage(a.GetJson()); {
		case a.GetDialect() != kind, strings.HasPrefix(key, dialect.NotePrefix), len(value) == 0, key == "content":
		case t.role == roleSystem && isMessageField(t.role, key) && rawjson.Valid(value):
			if t.fields == nil {
				t.fields = rawjson.Object{}
			}
			t.fields[key] = value
		case len(t.unknown) == 0 || t.unknown[len(t.unknown)-1] != at:
			t.unknown = append(t.unknown, at)
		}
	}
}

func (t *renderedMessage) empty() bool { return len(t.results)+len(t.rest) == 0 }

// written returns a block as JSON.
func (r *renderer) written(b *renderedBlock) json.RawMessage {
	if b.raw == nil {
		b.raw = r.by.Write(b.draft)
	}
	return b.raw
}

func areMade(blocks []renderedBlock) bool {
	return !slices.ContainsFunc(blocks, func(b renderedBlock) bool { return !b.made })
}

// encodeMessage returns a message as JSON.
func (r *renderer) encodeMessage(t *renderedMessage) json.RawMessage {
	blocks := slices.Concat(t.results, t.rest)
	o := rawjson.Object{"role": rawjson.Quote(t.role)}
	maps.Copy(o, t.fields)
	raw := r.by.Write(r.withContent(o, blocks, t.isString))
	if areMade(blocks) && len(t.fields) == 0 {
		return raw
	}
	return r.wholeCharacters(raw, t.span.First)
}

func (r *renderer) renderUser(i int) {
	blocks := r.renderBlocks(i)
	if len(blocks) == 0 && len(r.open) == 0 && r.last(roleUser) == nil {
		r.repair(ruleContentNotEmpty, i, "a message of the user without content says that it is empty")
		blocks = []renderedBlock{r.madeText(wording.EmptyUser, i, 0)}
	}
	t := r.messageFor(roleUser, i)
	t.rest = append(t.rest, blocks...)
}
