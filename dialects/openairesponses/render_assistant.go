package openairesponses

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderAssistant renders the items of an ASSISTANT message.
func (r *renderer) renderAssistant(m *compactordv1.Message) {
	items := r.renderItems(m)
	var last []*renderedItem
	if !r.asWritten {
		items, last = r.repairItems(m, items)
		if len(items)+len(last) == 0 {
			r.repair(ruleContentNotEmpty, "A message of the assistant without content was left out.")
		}
		if len(items) > 0 {
			r.emitHeld()
		}
	}
	for _, it := range items {
		if raw, unread := wasUnread(m, it.part); unread && r.asWritten {
			r.emit(raw)
			continue
		}
		r.emit(it.encode(r.by))
	}
	for _, it := range last {
		r.held = append(r.held, heldThinking{renderedItem: it, at: r.at})
	}
}

// renderItems makes items from the parts of a message. Texts become as many message items as they came from.
func (r *renderer) renderItems(m *compactordv1.Message) []*renderedItem {
	var items []*renderedItem
	add := func(it *renderedItem) {
		if it != nil {
			items = append(items, it)
		}
	}
	var settled map[*compactordv1.Part]bool
	if !r.asWritten {
		settled = r.settledParts(m)
	}
	pieces := piecesOf(m.GetParts())
	for i := 0; i < len(pieces); i++ {
		p := m.GetParts()[i]
		switch {
		case p.GetThinking() != nil:
			add(r.renderThinking(p, i))
		case p.GetToolCall() != nil:
			add(r.renderCall(p, i))
		case p.GetOpaque() != nil && !isWithin(p):
			add(r.renderOpaque(pieces[i], settled[p]))
		default:
			end := i + 1
			for end < len(pieces) && continues(m.GetParts()[end]) {
				end++
			}
			add(r.renderAssistantMessage(pieces[i:end]))
			i = end - 1
		}
	}
	return items
}

// continues reports whether a part was in the same message item as the part before.
func continues(p *compactordv1.Part) bool {
	_, continued := dialect.Noted(p.GetAttachments(), kind, noteContinued)
	return continued && (p.GetText() != nil || p.GetOpaque() != nil && isWithin(p))
}

func (r *renderer) renderAssistantMessage(pieces []piece) *renderedItem {
	first := pieces[0].attachments
	if text, only := r.onlyText(pieces, first); only {
		fields := rawjson.Object{"role": rawjson.Quote(roleAssistant)}
		return &renderedItem{typ: typeMessage, part: pieces[0].at, fields: fields, text: text, textField: "content"}
	}
	o := r.encodeMessage(compactordv1.Role_ROLE_ASSISTANT, pieces, noted(first, noteContent) == inParts)
	if !r.asWritten && isEmptyContent(o["content"]) {
		return nil
	}
	var fields []*compactordv1.Attachment
	if known, err := rawjson.ParseObject(attached(first, keyItem)); err == nil {
		for key, value := range known {
			fields = append(fields, &compactordv1.Attachment{Dialect: kind, Key: key, Json: string(value)})
		}
	}
	r.restore(o, fields, guardsOfMessage(pieces, assistantSide))
	return &renderedItem{typ: typeMessage, part: pieces[0].at, fields: o}
}

// repairItems repairs what the provider would refuse in the items of a message. It returns reasoning at the end
// separately, since the provider accepts it only if an item follows.
func (r *renderer) repairItems(m *compactordv1.Message, items []*renderedItem) (repaired, last []*renderedItem) {
	if r.isTorn(m, items) {
		r.lost = true
		r.repair(ruleThinkingFollowed, "What the model said without all of its reasoning is sent without the ids of its items.")
		items = r.dropIDs(items)
	} else if r.refusesID(items) {
		r.repair(ruleItemIDs, "Ids of items that the provider would refuse were left out.")
		items = r.dropIDs(items)
	}
	items, last = splitLastThinking(items)
	if !slices.ContainsFunc(items, isThinking) {
		items = r.messagesFirst(items)
	}
	for _, it := range items {
		r.claim(it)
	}
	for _, it := range last {
		r.claim(it)
	}
	return items, last
}

func (r *renderer) refusesID(items []*renderedItem) bool {
	seen := make(map[string]bool)
	for _, it := range items {
		id, has := idOf(it.fields)
		if !r.isAcceptedID(it) || has && seen[id] {
			return true
		}
		seen[id] = has
	}
	return false
}

// Some of the provider's own items that belong to reasoning can be sent without their ids, and some only by their ids.
var (
	withoutIDs = map[string]bool{"web_search_call": true}
	byID       = map[string]bool{
		"file_search_call": true, "code_interpreter_call": true, "image_generation_call": true, "mcp_call": true,
		typeItemReference: true,
	}
)

// dropIDs removes the ids that connect items. Reasoning stays where it is encrypted.
func (r *renderer) dropIDs(items []*renderedItem) []*renderedItem {
	rest := make([]*renderedItem, 0, len(items))
	seen := make(map[string]bool)
	for _, it := range items {
		id, has := idOf(it.fields)
		again := has && seen[id]
		seen[id] = has
		switch {
		case isThinking(it) && !isEncrypted(it):
			r.drop(it.part, "The provider knows the reasoning only by its id, and not all of its items are there.")
			continue
		case it.raw != nil && (byID[it.typ] || again):
			r.drop(it.part, "The provider knows the item only by its id, and not all that belongs to it is there.")
			continue
		case it.raw == nil || withoutIDs[it.typ]:
			it.dropID()
		}
		rest = append(rest, it)
	}
	return rest
}

// messagesFirst moves messages after calls before them, so that nothing is between the calls and their outputs.
func (r *renderer) messagesFirst(items []*renderedItem) []*renderedItem {
	first := slices.IndexFunc(items, func(it *renderedItem) bool { return it.isCall })
	if first < 0 || !slices.ContainsFunc(items[first:], isMessage) {
		return items
	}
	r.repair(ruleResultsFollowCalls, "A message after calls was moved before them.")
	ordered := slices.Clone(items[:first])
	for _, it := range items[first:] {
		if isMessage(it) {
			ordered = append(ordered, it)
		}
	}
	for _, it := range items[first:] {
		if !isMessage(it) {
			ordered = append(ordered, it)
		}
	}
	return ordered
}

func isMessage(it *renderedItem) bool { return it.typ == typeMessage }
