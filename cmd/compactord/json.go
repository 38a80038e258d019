package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// apiJSON writes a message of the API as the contract names its fields; null where it is not there.
type apiJSON struct {
	proto.Message
	// zeros says whether fields without presence are written that are zero, false or empty. Programs read an index of 0
	// then, and need not know what is left out. The many parts of a view's messages would be long for it.
	zeros bool
}

// wholeAnswer writes an answer of the API with its zeros.
func wholeAnswer(m proto.Message) apiJSON { return apiJSON{m, true} }

// wholeAnswers makes a JSON array of what pages of an answer held.
func wholeAnswers[M proto.Message](messages []M) []apiJSON {
	list := make([]apiJSON, len(messages))
	for i, m := range messages {
		list[i] = wholeAnswer(m)
	}
	return list
}

// MarshalJSON takes out the white space that protojson varies on purpose.
func (m apiJSON) MarshalJSON() ([]byte, error) {
	if m.Message == nil || !m.ProtoReflect().IsValid() {
		return []byte("null"), nil
	}
	raw, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: m.zeros}.Marshal(m.Message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, raw)
	return compact.Bytes(), err
}

// apiList makes a JSON array of messages of the API.
func apiList[M proto.Message](messages []M) []apiJSON {
	list := make([]apiJSON, len(messages))
	for i, m := range messages {
		list[i] = apiJSON{Message: m}
	}
	return list
}

// optional leaves a message out of a document where it is not there.
func optional[M proto.Message](m M) *apiJSON {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	return &apiJSON{Message: m}
}

// printJSON prints one document.
func printJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// What is raw stays readable: this is no page of HTML.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("cannot write the JSON document: %w", err)
	}
	return nil
}

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
