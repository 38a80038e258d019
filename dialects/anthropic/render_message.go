package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// addInstruction adds a SYSTEM or DEVELOPER message of mid-conversation. One that was written in this dialect keeps its
// role where the provider can take it; settle looks at what follows.
func (r *request) addInstruction(i int) {
	native := noted(r.messages[i].GetAttachments(), notePlace, noteMessages)
	if native && len(r.open) == 0 && r.last(roleAssistant) == nil && len(r.turns) > 0 {
		if blocks := r.nativeInstruction(i); len(blocks) > 0 {
			t := r.turnFor(roleSystem, i)
			t.rest = append(t.rest, blocks...)
		}
		return
	}
	if blocks := r.instructionText(i); len(blocks) > 0 {
		t := r.turnFor(roleUser, i)
		t.rest = append(t.rest, blocks...)
	}
}

// nativeInstruction are the blocks of a message of role system, as it was written.
func (r *request) nativeInstruction(i int) []block {
	var texts []json.RawMessage
	for j, p := range r.messages[i].GetParts() {
		if b, ok := r.textBlock(p, i, j); ok {
			texts = append(texts, b.raw)
		}
	}
	others := slices.DeleteFunc(otherBlocks(r.messages[i]), func(other otherBlock) bool { return !changesTools(other.raw) })
	all := withOthers(texts, others)
	blocks := make([]block, len(all))
	for j, raw := range all {
		blocks[j] = block{raw: raw, typ: typeText, message: i}
	}
	return blocks
}

// changesTools says whether a block is one of those that a system message can hold beside text.
func changesTools(raw json.RawMessage) bool {
	o, err := rawjson.SplitObject(raw)
	return err == nil && (o.IsText("type", typeToolAddition) || o.IsText("type", typeToolRemoval))
}

// instructionText is an instruction as text of the user.
func (r *request) instructionText(i int) []block {
	var blocks []block
	for j, p := range r.messages[i].GetParts() {
		if text := p.GetText().GetText(); !isBlank(text) {
			blocks = append(blocks, r.made(dialect.InstructionText(text), i, j))
		} else {
			r.dropped(i, j, whyBlank)
		}
	}
	for range otherBlocks(r.messages[i]) {
		r.dropped(i, 0, "a block of a system message has no place in a message of the user")
	}
	if len(blocks) > 0 {
		r.repaired(ruleSystemMessagePlace, i, "an instruction is put as text of the user")
	}
	return blocks
}
