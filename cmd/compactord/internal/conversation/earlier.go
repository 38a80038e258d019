package conversation

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Entry returns the compaction with an id; nil where the id is empty or the log has no such compaction.
func (c *Conversation) Entry(ctx context.Context, id string) (*compactordv1.CompactionEntry, error) {
	if id == "" {
		return nil, nil
	}
	records, err := c.Records(ctx, &compactordv1.ListRecordsRequest{CompactionId: id})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return records[0].GetCompaction(), nil
}

// EarlierJSON is a compaction that is in effect, or was before: its id and the messages that its summary covers.
type EarlierJSON struct {
	EntryID string `json:"entry_id"`
	// Start and End are the range of covered messages, without End.
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
	// ImportedFrom is the tool that made an imported compaction.
	ImportedFrom string `json:"imported_from,omitempty"`
}

// EarlierOf returns a compaction's EarlierJSON; nil for nil.
func EarlierOf(e *compactordv1.CompactionEntry) *EarlierJSON {
	if e == nil {
		return nil
	}
	return &EarlierJSON{e.GetId(), e.GetCovered().GetStart(), e.GetCovered().GetEnd(), e.GetImportedFrom()}
}

// Coverage returns the messages that a summary covers, and a text that says where the summary comes from.
func (c *Conversation) Coverage(e *compactordv1.CompactionEntry) (messages, source string) {
	r := e.GetCovered()
	messages = MessageRange(r)
	switch {
	case e.GetImportedFrom() == "":
		source = "written before"
	case c.Transcript != nil:
		source = "from the file"
	default:
		source = "that was imported"
	}
	if ToolKnown(e) {
		source += ", made by " + terminal.Printable(e.GetImportedFrom())
	}
	return messages, source
}

// ToolKnown says whether a compaction was imported from a known tool.
func ToolKnown(e *compactordv1.CompactionEntry) bool {
	const unknown = "unknown"
	return e.GetImportedFrom() != "" && e.GetImportedFrom() != unknown
}
