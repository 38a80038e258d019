package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// assistant renders what the model said and did, one item after another.
func (w *writer) assistant(m *compactordv1.Message) {
	items := w.itemsOf(m)
	var last []*item
	if !w.asWritten {
		items, last = w.mend(m, items)
		if len(items)+len(last) == 0 {
			w.repair(ruleContentNotEmpty, "A message of the assistant without content was left out.")
		}
		if len(items) > 0 {
			w.emitHeld()
		}
	}
	for _, it := range items {
		if raw, unread := wasUnread(m, it.part); unread && w.asWritten {
			w.emit(raw)
			continue
		}
		w.emit(it.encode())
	}
	for _, it := range last {
		w.held = append(w.held, heldItem{item: it, at: w.at})
	}
}

// heldItem is reasoning at the end of a message. Agents that append each item as it is written put what follows the
// reasoning into a message of its own.
type heldItem struct {
	*item
	at int
}

// emitHeld writes the reasoning that was held, since what follows it comes now.
func (w *writer) emitHeld() {
	at := w.at
	for _, h := range w.held {
		w.at = h.at
		w.emit(h.encode())
	}
	w.held, w.at = nil, at
}

// dropHeld leaves out the reasoning that was held, since nothing of the model follows it.
func (w *writer) dropHeld() {
	at := w.at
	for _, h := range w.held {
		w.at = h.at
		w.drop(h.part, "Nothing follows the reasoning, which the provider does not take.")
	}
	w.held, w.at = nil, at
}

// itemsOf makes items of the parts of a message: of texts message items, as many as there were.
func (w *writer) itemsOf(m *compactordv1.Message) []*item {
	var items []*item
	add := func(it *item) {
		if it != nil {
			items = append(items, it)
		}
	}
	var settled map[*compactordv1.Part]bool
	if !w.asWritten {
		settled = w.settledParts(m)
	}
	pieces := piecesOf(m.GetParts())
	for i := 0; i < len(pieces); i++ {
		p := m.GetParts()[i]
		switch {
		case p.GetThinking() != nil:
			add(w.thinking(p, i))
		case p.GetToolCall() != nil:
			add(w.call(p, i))
		case p.GetOpaque() != nil && !isWithin(p):
			add(w.opaqueItem(pieces[i], settled[p]))
		default:
			end := i + 1
			for end < len(pieces) && continues(m.GetParts()[end]) {
				end++
			}
			add(w.assistantMessage(pieces[i:end]))
			i = end - 1
		}
	}
	return items
}

// continues says whether a part stood in the same message item as the part before.
func continues(p *compactordv1.Part) bool {
	_, continued := dialect.Noted(p.GetAttachments(), kind, noteContinued)
	return continued && (p.GetText() != nil || p.GetOpaque() != nil && isWithin(p))
}

func (w *writer) assistantMessage(pieces []piece) *item {
	first := pieces[0].attachments
	o := w.easyMessage(compactordv1.Role_ROLE_ASSISTANT, pieces, noted(first, noteContent) == inParts)
	if !w.asWritten && isEmptyContent(o["content"]) {
		return nil
	}
	var fields []*compactordv1.Attachment
	if known, err := rawjson.ParseObject(attached(first, keyItem)); err == nil {
		for key, value := range known {
			fields = append(fields, &compactordv1.Attachment{Dialect: kind, Key: key, Json: string(value)})
		}
	}
	w.restore(o, fields, guardsOfMessage(pieces, assistantSide))
	return &item{typ: typeMessage, part: pieces[0].at, fields: o}
}

// thinking renders reasoning. A request holds only what the provider finds again: by its encrypted content or its id.
func (w *writer) thinking(p *compactordv1.Part, at int) *item {
	it := &item{typ: typeReasoning, part: at, fields: usualReasoning(p.GetThinking(), p.GetAttachments())}
	w.restore(it.fields, p.GetAttachments(), nil)
	if w.asWritten {
		return it
	}
	if !isReasoningContent(it.fields["content"]) {
		delete(it.fields, "content")
	}
	if rawjson.KindOf(it.fields["encrypted_content"]) != rawjson.String {
		delete(it.fields, "encrypted_content")
	}
	if _, has := idOf(it.fields); !has && !isEncrypted(it) {
		w.drop(at, "The reasoning has neither an id nor an encrypted content of this provider.")
		return nil
	}
	return it
}

func isReasoningContent(raw json.RawMessage) bool {
	if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
		return true
	}
	elements, err := rawjson.ParseArray(raw)
	return err == nil && !slices.ContainsFunc(elements, func(element json.RawMessage) bool {
		return rawjson.KindOf(element) != rawjson.ObjectKind
	})
}

func isEncrypted(it *item) bool {
	content, err := it.fields.Text("encrypted_content")
	return err == nil && content != ""
}

// mend makes items such as the provider takes them together. What it returns apart is reasoning that nothing in the
// message follows.
func (w *writer) mend(m *compactordv1.Message, items []*item) (mended, last []*item) {
	if w.isTorn(m, items) {
		w.lost = true
		w.repair(ruleReasoningFollowed, "What the model said without all of its reasoning is sent without the ids of its items.")
		items = w.untie(items)
	} else if w.refusesID(items) {
		w.repair(ruleItemIDs, "Ids of items that the provider would refuse were left out.")
		items = w.untie(items)
	}
	items, last = lastReasoning(items)
	if !slices.ContainsFunc(items, isReasoning) {
		items = w.callsLast(items)
	}
	for _, it := range items {
		w.claim(it)
	}
	for _, it := range last {
		w.claim(it)
	}
	return items, last
}

func isReasoning(it *item) bool { return it.typ == typeReasoning }

// isTorn says whether reasoning is missing, or an item that belonged to it: what is left cannot be sent by ids.
func (w *writer) isTorn(m *compactordv1.Message, items []*item) bool {
	whole := noted(m.GetAttachments(), noteReasoning)
	if whole == "" {
		return w.lost && slices.ContainsFunc(items, (*item).hasID)
	}
	reasonings, others := 0, 0
	for _, it := range items {
		switch {
		case isReasoning(it):
			reasonings++
		case it.hasID():
			others++
		}
	}
	return tally(reasonings, others) != whole
}

func (w *writer) refusesID(items []*item) bool {
	seen := make(map[string]bool)
	for _, it := range items {
		id, has := idOf(it.fields)
		if !w.idIsTaken(it) || has && seen[id] {
			return true
		}
		seen[id] = has
	}
	return false
}

// Of the provider's own items that belong to reasoning, some can be sent without their ids, and some only by them.
var (
	withoutIDs = map[string]bool{"web_search_call": true}
	byID       = map[string]bool{
		"file_search_call": true, "code_interpreter_call": true, "image_generation_call": true, "mcp_call": true,
		typeItemReference: true,
	}
)

// untie takes away the ids by which items belong to each other. Reasoning stays where it is encrypted.
func (w *writer) untie(items []*item) []*item {
	rest := make([]*item, 0, len(items))
	seen := make(map[string]bool)
	for _, it := range items {
		id, has := idOf(it.fields)
		again := has && seen[id]
		seen[id] = has
		switch {
		case isReasoning(it) && !isEncrypted(it):
			w.drop(it.part, "The provider knows the reasoning only by its id, and not all of its items are there.")
			continue
		case it.raw != nil && (byID[it.typ] || again):
			w.drop(it.part, "The provider knows the item only by its id, and not all that belongs to it is there.")
			continue
		case it.raw == nil || withoutIDs[it.typ]:
			it.dropID()
		}
		rest = append(rest, it)
	}
	return rest
}

// lastReasoning takes the reasoning at the end apart.
func lastReasoning(items []*item) (rest, last []*item) {
	end := len(items)
	for end > 0 && isReasoning(items[end-1]) {
		end--
	}
	return items[:end], items[end:]
}

// callsLast puts messages that stand behind calls before them, so that nothing parts the calls from their answers.
func (w *writer) callsLast(items []*item) []*item {
	first := slices.IndexFunc(items, func(it *item) bool { return it.isCall })
	if first < 0 || !slices.ContainsFunc(items[first:], isMessage) {
		return items
	}
	w.repair(ruleOutputsFollow, "A message that stood behind calls was put before them.")
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

func isMessage(it *item) bool { return it.typ == typeMessage }
