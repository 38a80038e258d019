package transcripts

import (
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// place is a message of the log with its position in the file.
type place struct {
	Index          uint32  `json:"index"`
	SourcePosition *uint32 `json:"source_position,omitempty"`
}

func placeOf(l *compactordv1.LoggedMessage) *place {
	if l == nil {
		return nil
	}
	return &place{Index: l.GetIndex(), SourcePosition: l.GetMessage().SourcePosition}
}

// skippedJSON says why nothing was done.
type skippedJSON struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// KeepRecentTokens is a value of --keep-recent-tokens with which the compaction would do something, if there is
	// one.
	KeepRecentTokens uint32 `json:"keep_recent_tokens,omitempty"`
}

type cutJSON struct {
	FirstKept      *place `json:"first_kept"`
	SplitTurnStart *place `json:"split_turn_start,omitempty"`
}

// resultJSON is the document of `compact --json`.
type resultJSON struct {
	Entry    *terminal.APIJSON         `json:"entry,omitempty"`
	Prune    *terminal.APIJSON         `json:"prune,omitempty"`
	Plan     *terminal.APIJSON         `json:"plan,omitempty"`
	Cut      *cutJSON                  `json:"cut,omitempty"`
	Earlier  *conversation.EarlierJSON `json:"earlier,omitempty"`
	Skipped  *skippedJSON              `json:"skipped,omitempty"`
	Report   *terminal.APIJSON         `json:"report,omitempty"`
	Notes    []string                  `json:"notes"`
	Messages uint32                    `json:"messages"`
	View     *[]terminal.APIJSON       `json:"view,omitempty"`
}

func (r *result) printJSON(w io.Writer) error {
	doc := resultJSON{
		Entry:    terminal.Optional(r.Completed.GetCompaction()),
		Prune:    terminal.Optional(r.Completed.GetPrune()),
		Plan:     terminal.Optional(r.Planned),
		Earlier:  conversation.EarlierOf(r.earlier),
		Report:   terminal.Optional(r.report),
		Notes:    append([]string{}, r.conversation.Notes()...),
		Messages: r.messages,
	}
	if r.firstKept != nil {
		doc.Cut = &cutJSON{placeOf(r.firstKept), placeOf(r.turnStart)}
	}
	if r.Skipped != nil {
		doc.Skipped = &skippedJSON{Reason: r.Skipped.GetReason().String(), Message: r.Skipped.GetMessage()}
		if r.keepLess != nil {
			doc.Skipped.KeepRecentTokens = r.keepLess.tokens
		}
	}
	if r.view != nil {
		view := terminal.APIList(r.view.Messages)
		doc.View = &view
	}
	return terminal.PrintJSON(w, doc)
}
