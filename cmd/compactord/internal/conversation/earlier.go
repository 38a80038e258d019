package conversation

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Entry finds a compaction of the log by its id; nil where there is none.
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

// EarlierJSON is a compaction that was in effect before, or that is in effect, by what its summary stands for.
type EarlierJSON struct {
	EntryID string `json:"entry_id"`
	// Start and End are the messages that its summary stands for: End is not one of them.
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
	// ImportedFrom is the tool that made it, where it was imported.
	ImportedFrom string `json:"imported_from,omitempty"`
}

// EarlierOf is a compaction by what its summary stands for; nil where there is none.
func EarlierOf(e *compactordv1.CompactionEntry) *EarlierJSON {
	if e == nil {
		return nil
	}
	return &EarlierJSON{e.GetId(), e.GetCovered().GetStart(), e.GetCovered().GetEnd(), e.GetImportedFrom()}
}

// StandsFor names the messages that a summary stands for, and whose summary it is.
func (c *Conversation) StandsFor(e *compactordv1.CompactionEntry) (messages, whose string) {
	r := e.GetCovered()
	messages = MessageRange(r)
	switch {
	case e.GetImportedFrom() == "":
		whose = "written before"
	case c.Transcript != nil:
		whose = "that the file brought"
	default:
		whose = "that was imported"
	}
	if ToolKnown(e) {
		whose += ", made by " + terminal.Printable(e.GetImportedFrom())
	}
	return messages, whose
}

// ToolKnown says whether it is known which tool made a compaction that was imported.
func ToolKnown(e *compactordv1.CompactionEntry) bool {
	const untold = "unknown"
	return e.GetImportedFrom() != "" && e.GetImportedFrom() != untold
}
