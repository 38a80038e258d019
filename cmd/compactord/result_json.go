package main

import (
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// place is a message of the log and where it came from.
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
	// KeepRecentTokens is the --keep-recent-tokens that would do something, where one was looked for and found.
	KeepRecentTokens uint32 `json:"keep_recent_tokens,omitempty"`
}

type cutJSON struct {
	FirstKept      *place `json:"first_kept"`
	SplitTurnStart *place `json:"split_turn_start,omitempty"`
}

// resultJSON is the document of `compact --json`.
type resultJSON struct {
	Entry    *apiJSON     `json:"entry,omitempty"`
	Prune    *apiJSON     `json:"prune,omitempty"`
	Plan     *apiJSON     `json:"plan,omitempty"`
	Cut      *cutJSON     `json:"cut,omitempty"`
	Earlier  *earlierJSON `json:"earlier,omitempty"`
	Skipped  *skippedJSON `json:"skipped,omitempty"`
	Report   *apiJSON     `json:"report,omitempty"`
	Notes    []string     `json:"notes"`
	Messages uint32       `json:"messages"`
	View     *[]apiJSON   `json:"view,omitempty"`
}

func (r *result) printJSON(w io.Writer) error {
	doc := resultJSON{
		Entry:    optional(r.completed.GetCompaction()),
		Prune:    optional(r.completed.GetPrune()),
		Plan:     optional(r.planned.GetPlan()),
		Earlier:  earlierOf(r.earlier),
		Report:   optional(r.report),
		Notes:    append([]string{}, r.conversation.notes()...),
		Messages: r.messages,
	}
	if r.firstKept != nil {
		doc.Cut = &cutJSON{placeOf(r.firstKept), placeOf(r.turnStart)}
	}
	if r.skipped != nil {
		doc.Skipped = &skippedJSON{Reason: r.skipped.GetReason().String(), Message: r.skipped.GetMessage()}
		if r.keepLess != nil {
			doc.Skipped.KeepRecentTokens = r.keepLess.tokens
		}
	}
	if r.view != nil {
		view := apiList(r.view.messages)
		doc.View = &view
	}
	return printJSON(w, doc)
}
