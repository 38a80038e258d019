package dialect

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Answer is what is known of a model's answer, beside its text, as far as it was read.
type Answer struct {
	// Model is the model as its server names it; empty where it was not told.
	Model string
	// Usage is nil where it was not told.
	Usage *compactordv1.Usage
	// Complete says that the model told why it stopped, or the provider why it did not begin. No text follows.
	Complete bool
	// CutOff says that the output limit ended the answer, ToolCall that it holds a tool call, Refused that the model or its
	// provider declined to answer.
	CutOff, ToolCall, Refused bool
	// Failed says that the provider could not go on, and Overflow that this was for the request's length. Such an answer is
	// not complete, whatever its text.
	Failed, Overflow bool
	// Stop is the provider's word for why the answer ended; empty where it is not a word of a list.
	Stop string
}

// Piece is what an event, or a whole body, adds to an answer.
type Piece struct {
	// Text is what it adds to the text.
	Text string
	// Other is the size of what is no text and takes as much: thinking, and the arguments of calls.
	Other int
	// Last says that no later event matters.
	Last bool
}

// AnswerReader reads one answer of a model, for who wants its text as it comes and no message for a log. Servers that
// imitate a provider leave out events and fields, or write other kinds of values: what cannot be read says nothing.
type AnswerReader interface {
	// Event takes in the next event of a stream. It fails where what comes is so unlike an event that the rest cannot be
	// trusted.
	Event(event json.RawMessage) (Piece, error)
	// Body takes in an answer that was not streamed; false where the JSON is none.
	Body(body json.RawMessage) (Piece, bool)
	// Answer is what is known so far.
	Answer() *Answer
}

// End takes in why the model stopped, with the provider's word for it.
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
		// It had finished, or has a reason of its own.
	}
	a.Complete = true
}

// Tokens is a count of tokens as providers and their imitators write it: a number of any kind, or a text of one. What is
// neither counts as 0.
type Tokens int64

// UnmarshalJSON never fails, so that one odd count does not cost the others.
func (t *Tokens) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(n) {
		n = 0
	}
	*t = Tokens(min(max(n, -math.MaxUint32), math.MaxUint32))
	return nil
}

// Count is the count as the contract holds it.
func (t Tokens) Count() uint32 { return uint32(min(max(t, 0), math.MaxUint32)) }

// Content is the content of a message of OpenAI's APIs as servers write it: a list of parts, or a text, which is read as
// the one part of type `text`.
type Content []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSON never fails, so that content of another kind does not cost what stands beside it.
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

// IsObject says whether JSON is an object. Null, which says nothing, is none.
func IsObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
