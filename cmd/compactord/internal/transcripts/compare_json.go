package transcripts

import (
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// comparisonJSON is the document of `compare --json`.
type comparisonJSON struct {
	File          string `json:"file"`
	Messages      int    `json:"messages"`
	Tokens        uint32 `json:"tokens"`
	ContextWindow uint32 `json:"context_window"`
	// LeftOut is the number of compactions in the file.
	LeftOut int          `json:"compactions_left_out"`
	Notes   []string     `json:"notes"`
	Presets []presetJSON `json:"presets"`
}

type presetJSON struct {
	Name   string          `json:"name"`
	Once   *onceJSON       `json:"once,omitempty"`
	Replay *replay.Figures `json:"replay,omitempty"`
	Failed string          `json:"failed,omitempty"`
}

// onceJSON is the result of one compaction. Edits counts the edited messages by the contract's names of edits.
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
	for _, r := range c.results {
		one := presetJSON{Name: r.preset, Replay: r.replay}
		if r.once != nil {
			one.Once = r.once.json()
		}
		if r.failed != nil {
			one.Failed = r.failed.Error()
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
