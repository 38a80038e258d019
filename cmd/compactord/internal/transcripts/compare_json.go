package transcripts

import (
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// comparisonJSON is the document of `compare --json`.
type comparisonJSON struct {
	File          string `json:"file"`
	Messages      int    `json:"messages"`
	Tokens        uint32 `json:"tokens"`
	ContextWindow uint32 `json:"context_window"`
	// LeftOut is how many compactions the file tells of.
	LeftOut int         `json:"compactions_left_out"`
	Notes   []string    `json:"notes"`
	Presets []trialJSON `json:"presets"`
}

type trialJSON struct {
	Name   string         `json:"name"`
	Once   *onceJSON      `json:"once,omitempty"`
	Replay *replayFigures `json:"replay,omitempty"`
	Failed string         `json:"failed,omitempty"`
}

// onceJSON is what one compaction did. Edits are the messages that they are in force on, by the names of the contract.
type onceJSON struct {
	TokensBefore  uint32            `json:"tokens_before"`
	TokensAfter   uint32            `json:"tokens_after"`
	MessagesKept  uint32            `json:"messages_kept"`
	ResultsHidden uint32            `json:"results_hidden"`
	Edits         map[string]uint32 `json:"edits"`
	Summary       bool              `json:"summary"`
	Skipped       *skippedJSON      `json:"skipped,omitempty"`
}

func (c *comparison) printJSON(w io.Writer) error {
	doc := comparisonJSON{
		File: c.file.Name, Messages: len(c.file.Messages), Tokens: c.tokens, ContextWindow: *c.limits.ContextWindow,
		LeftOut: c.file.Compactions(), Notes: append([]string{}, c.file.Notes...),
	}
	for _, t := range c.trials {
		one := trialJSON{Name: t.preset, Replay: t.replay}
		if t.once != nil {
			one.Once = t.once.json()
		}
		if t.failed != nil {
			one.Failed = t.failed.Error()
		}
		doc.Presets = append(doc.Presets, one)
	}
	return terminal.PrintJSON(w, doc)
}

func (f *onceFigures) json() *onceJSON {
	doc := &onceJSON{
		TokensBefore: f.before, TokensAfter: f.after, MessagesKept: f.kept, Summary: f.summary,
		ResultsHidden: f.edits[compactordv1.EditKind_EDIT_KIND_HIDE_RESULT], Edits: make(map[string]uint32),
	}
	for kind, n := range f.edits {
		doc.Edits[kind.String()] = n
	}
	if f.skipped != nil {
		doc.Skipped = &skippedJSON{Reason: f.skipped.GetReason().String(), Message: f.skipped.GetMessage()}
	}
	return doc
}
