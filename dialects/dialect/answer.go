package dialect

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Answer is what was read so far of a model's answer, except its text.
type Answer struct {
	// Model is the model's name, as the server reports it. Empty where it did not report one.
	Model string
	// Usage is nil where the server did not report it.
	Usage *compactordv1.Usage
	// Complete reports that the model said why it stopped, or that the provider said why the model did not start. No text
	// follows.
	Complete bool
	// CutOff reports that the output limit ended the answer, ToolCall that the answer holds a tool call, and Refused that
	// the model or its provider declined to answer.
	CutOff, ToolCall, Refused bool
	// Failed reports that the provider failed, and Overflow that it failed because the request was too long. Such an
	// answer is not complete, even if it has text.
	Failed, Overflow bool
	// Stop is the provider's word for why the answer ended. Empty where the provider has no fixed word for it.
	Stop string
}

// Piece is what one event, or a whole body, adds to an answer.
type Piece struct {
	// Text is the text that it adds.
	Text string
	// Other is the size in bytes of what it adds besides text: thinking, and the arguments of calls.
	Other int
	// Last reports that later events can be ignored.
	Last bool
}

// AnswerReader reads one answer of a model, for callers that want its text as it arrives and no message for a log.
// Servers that imitate a provider leave out events and fields, or write other types of values. The reader ignores what
// it cannot read.
type AnswerReader interface {
	// Event reads the next event of a stream. It fails where the data is so unlike an event that the rest cannot be
	// trusted.
	Event(event json.RawMessage) (Piece, error)
	// Body reads an answer that was not streamed. It returns false where the JSON is no answer.
	Body(body json.RawMessage) (Piece, bool)
	// Answer returns what is known so far.
	Answer() *Answer
}

// End records why the model stopped, with the provider's word for it.
func (a *Answer) End(reason compactordv1.StopReason, word string) {
	a.Stop = word
	switch reason {
	case compactordv1.StopReason_STOP_REASON_LENGTH:
		a.CutOff = true
	case compactordv1.StopReason_STOP_REASON_TOOL_USE, compactordv1.StopReason_STOP_REASON_PAUSE:
		a.ToolCall = true
	case compactordv1.StopReason_STOP_REASON_REFUSAL:
		a.Refused = true
	case compactordv1.StopReason_STOP_REASON_ERROR, compactordv1.StopReason_STOP_REASON_ABORTED:
		a.Failed = true
		return
	default:
		// The answer had ended, or has another stop reason.
	}
	a.Complete = true
}

// Tokens is a token count as providers and their imitators write it: any number, or a string that holds one. Anything
// else counts as 0.
type Tokens int64

// UnmarshalJSON never fails, so that one wrong count does not make the others unreadable.
func (t *Tokens) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(n) {
		n = 0
	}
	*t = Tokens(min(max(n, -math.MaxUint32), math.MaxUint32))
	return nil
}

// Count returns the count in the range of the contract's fields.
func (t Tokens) Count() uint32 { return uint32(min(max(t, 0), math.MaxUint32)) }

// Content is the content of a message of OpenAI's APIs, as servers write it: a list of parts, or a string, which is
// read as one part of type `text`.
type Content []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSON never fails, so that content of another type does not make the fields beside it unreadable.
func (c *Content) UnmarshalJSON(raw []byte) error {
	type parts Content
	var list parts
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		list = make(parts, 1)
		list[0].Type, list[0].Text = "text", text
	} else {
		_ = json.Unmarshal(raw, &list)
	}
	*c = Content(list)
	return nil
}

// IsObject reports whether the JSON is an object. Null is no object.
func IsObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
