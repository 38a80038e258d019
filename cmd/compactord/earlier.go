package main

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// entry finds a compaction of the log by its id; nil where there is none.
func (c *conversation) entry(ctx context.Context, id string) (*compactordv1.CompactionEntry, error) {
	if id == "" {
		return nil, nil
	}
	records, err := c.records(ctx, 0)
	for _, r := range slices.Backward(records) {
		if r.GetCompaction().GetId() == id {
			return r.GetCompaction(), err
		}
	}
	return nil, err
}

// earlierJSON is a compaction that was in effect before, or that is in effect, by what its summary stands for.
type earlierJSON struct {
	EntryID string `json:"entry_id"`
	// Start and End are the messages that its summary stands for: End is not one of them.
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
	// ImportedFrom is the tool that made it, where it was imported.
	ImportedFrom string `json:"imported_from,omitempty"`
}

func earlierOf(e *compactordv1.CompactionEntry) *earlierJSON {
	if e == nil {
		return nil
	}
	return &earlierJSON{e.GetId(), e.GetCovered().GetStart(), e.GetCovered().GetEnd(), e.GetImportedFrom()}
}

// standsFor names the messages that a summary stands for, and whose summary it is.
func (c *conversation) standsFor(e *compactordv1.CompactionEntry) (messages, whose string) {
	r := e.GetCovered()
	messages = messageRange(r)
	switch {
	case e.GetImportedFrom() == "":
		whose = "written before"
	case c.transcript != nil:
		whose = "that the file brought"
	default:
		whose = "that was imported"
	}
	if toolKnown(e) {
		whose += ", made by " + printable(e.GetImportedFrom())
	}
	return messages, whose
}

// toolKnown says whether it is known which tool made a compaction that was imported.
func toolKnown(e *compactordv1.CompactionEntry) bool {
	const untold = "unknown"
	return e.GetImportedFrom() != "" && e.GetImportedFrom() != untold
}
