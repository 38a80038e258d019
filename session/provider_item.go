package session

import (
	"encoding/json"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// providerItem returns the item by which the provider of a dialect compacted what the entry covers; nil where it did not.
func providerItem(e *compactordv1.CompactionEntry, dialect compactordv1.Dialect) *compactordv1.OpaquePart {
	item := e.GetProviderBlock()
	if item == nil || item.GetDialect() != dialect {
		return nil
	}
	return item
}

// ItemMessages are the messages that stand in place of an entry's summary for the provider that made an item of its own:
// the item, as the model said it, and the facts from the log that it does not tell itself.
func ItemMessages(e *compactordv1.CompactionEntry) []*compactordv1.Message {
	item := e.GetProviderBlock()
	messages := []*compactordv1.Message{{
		Role:  compactordv1.Role_ROLE_ASSISTANT,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Opaque{Opaque: item}}},
	}}
	if beside := besideItem(e, ItemText(item)); beside != "" {
		messages = append(messages, &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{TextPart(beside)},
		})
	}
	return messages
}

// besideItem tells the slots and files that an item does not tell itself; what it says is empty where nobody can read it.
func besideItem(e *compactordv1.CompactionEntry, said string) string {
	var b strings.Builder
	writeTodos(&b, e.GetSlots().GetOpenTodos())
	writeUnnamedFiles(&b, "modified", e.GetFiles().GetModified(), said)
	writeUnnamedFiles(&b, "read", e.GetFiles().GetRead(), said)
	writeLastRequest(&b, &compactordv1.CompactionEntry{Summary: said, Slots: e.GetSlots()})
	return strings.TrimLeft(b.String(), "\n")
}

// ItemText is what a provider's item says in plain text; empty where only the provider can read it.
func ItemText(item *compactordv1.OpaquePart) string {
	var readable struct {
		Content string `json:"content"`
	}
	if json.Unmarshal([]byte(item.GetJson()), &readable) != nil {
		return ""
	}
	return readable.Content
}
