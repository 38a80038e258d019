package compaction

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// compactionItem is the type of a provider's own compaction item, in all dialects that have one.
const compactionItem = "compaction"

// CheckProviderBlock refuses an item that its provider would not accept in place of a summary.
func (c *Config) CheckProviderBlock(block *compactordv1.OpaquePart, field string) error {
	shape, known := c.Dialects[block.GetDialect()]
	if !known {
		return apierror.NotImplemented(field + ".dialect")
	}
	switch block.GetDialect() {
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		// After a compaction that failed, the content is null. With it everything before the item would be lost.
		if session.ItemText(block) == "" {
			return apierror.InvalidField(field+".json", "an item of anthropic needs `content`, a text that is not empty")
		}
	default:
		return apierror.InvalidField(field+".dialect", "only OPENAI_RESPONSES and ANTHROPIC have an item of their own for a compaction")
	}
	var item struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(block.GetJson()), &item); err != nil {
		return apierror.InvalidField(field+".json", "must be a JSON object")
	}
	if item.Type != compactionItem || block.GetType() != compactionItem {
		return apierror.InvalidField(field+".type", "must be `"+compactionItem+"`, here and in the JSON")
	}
	return checkItemFits(shape, block, field)
}

// checkItemFits returns an error where a request of the dialect cannot begin with the item.
func checkItemFits(shape dialect.Dialect, block *compactordv1.OpaquePart, field string) error {
	messages := append(
		session.ItemMessages(&compactordv1.CompactionEntry{ProviderBlock: block}),
		&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart("Go on.")}},
	)
	rendered, err := shape.Render(messages, dialect.RenderOptions{})
	if err != nil {
		return err
	}
	if found := shape.Validate(&rendered.List, dialect.Request); len(found) > 0 {
		return apierror.InvalidField(field+".json", "breaks a rule of "+shape.Name()+": "+found[0].Rule)
	}
	if len(rendered.Dropped) > 0 || len(rendered.Repairs) > 0 {
		return apierror.InvalidField(field+".json", "is no item that "+shape.Name()+" takes in place of a summary")
	}
	return nil
}
