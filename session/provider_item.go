package session

import (
	"encoding/json"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// providerItem returns the item that the provider of this dialect made when it compacted what the entry covers; nil
// where there is none.
func providerItem(e *compactordv1.CompactionEntry, dialect compactordv1.Dialect) *compactordv1.OpaquePart {
	item := e.GetProviderBlock()
	if item == nil || item.GetDialect() != dialect {
		return nil
	}
	return item
}

// ItemMessages returns the messages that replace an entry's summary in views for the provider that made its own item:
// the item, as an ASSISTANT message, and the facts from the log that the item does not state.
func ItemMessages(e *compactordv1.CompactionEntry) []*compactordv1.Message {
	item := e.GetProviderBlock()
	messages := []*compactordv1.Message{{
		Role:  compactordv1.Role_ROLE_ASSISTANT,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Opaque{Opaque: item}}},
	}}
	if beside := wording.BesideItem(e, ItemText(item)); beside != "" {
		messages = append(messages, &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{TextPart(beside)},
		})
	}
	return messages
}

// ItemText returns what a provider's item says in plain text; empty where only the provider can read it.
func ItemText(item *compactordv1.OpaquePart) string {
	var readable struct {
		Content string `json:"content"`
	}
	if json.Unmarshal([]byte(item.GetJson()), &readable) != nil {
		return ""
	}
	return readable.Content
}
