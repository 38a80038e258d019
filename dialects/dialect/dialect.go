// Package dialect says what a provider's message shape is to compactord, and holds what all shapes share.
//
// A Dialect parses a provider's JSON into the neutral messages of a log, renders messages as that JSON, and validates
// lists of it by the provider's rules. For all that was not edited, Render after Parse gives back an equal JSON: what
// the neutral message has no field for is kept in attachments (see Residue and Restore).
//
// A list can be rendered in two ways. As written, it is what was parsed, with all that is wrong with it: that is for
// exports. Otherwise it is for a request, and what the provider would refuse is repaired and the repair reported.
package dialect

import (
	"encoding/json"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Dialect is a provider's message shape. It is safe for concurrent use and keeps no state.
type Dialect interface {
	// Kind is the contract's name of it.
	Kind() compactordv1.Dialect
	// Name is its name in commands and documents, such as `openai_chat`.
	Name() string
	// Parse reads a list of messages, one message, a request body, a response body, or the list of all events of a streamed
	// response, which gives what the whole body would have given. What has no clear meaning is an *InputError.
	Parse(raw []byte) (*Parsed, error)
	// Render writes messages. It takes any list of valid messages in which each result stands behind its call. An error
	// is always a bug.
	Render(messages []*compactordv1.Message, opts RenderOptions) (*Rendered, error)
	// Split reads the same as Parse, but only takes it apart: what Validate checks may be malformed. An *InputError says
	// that there is no list in it.
	Split(raw []byte) (*List, error)
	// Document writes a list as the part of the provider's request body that holds it: a JSON object.
	Document(list *List) json.RawMessage
	// Prompt writes messages of ours, a system prompt or none and one of the user, as the list of a request.
	Prompt(messages []*compactordv1.Message) (*List, error)
	// Continue puts a prompt, as Prompt writes it, behind a view of a conversation with these tools, a JSON array or nothing.
	// The view's elements stay byte for byte, but for what the last one gets so that the provider takes the list and finds what
	// is before the prompt in its cache.
	Continue(view *List, tools json.RawMessage, prompt *List) (*List, error)
	// RequestBody writes the body of a request for a streamed answer to a list, whose elements stay byte for byte.
	RequestBody(list *List, opts RequestOptions) json.RawMessage
	// NewAnswer begins to read an answer.
	NewAnswer() AnswerReader
	// Rules is the table of what Validate checks, in a fixed order.
	Rules() []Rule
	// Validate checks a list by the rules. It takes anything, and returns violations in the order of the list.
	Validate(list *List, mode Mode) []Violation
}

// List is a message list in a provider's JSON.
type List struct {
	// System is the system prompt, where the dialect keeps it apart: Anthropic's text blocks, Gemini's systemInstruction
	// (one), the instructions of OpenAI Responses (one).
	System []json.RawMessage
	// SystemAsText says that Anthropic's system prompt is a plain string, of which System holds the one block.
	SystemAsText bool
	// Messages are the messages, items or contents.
	Messages []json.RawMessage
}

// Parsed is what was read.
type Parsed struct {
	// Messages have no origin: whoever takes them knows where they came from. But one of role USER that stands for a
	// message of which nothing could be read has CONTINUE, since it is no request.
	Messages []*compactordv1.Message
	// Positions tells for each message which one of the provider's list it came from, from 0. A system prompt that stood
	// apart counts as position 0.
	Positions []int
	// Findings are what was malformed and taken all the same, by position in the provider's list.
	Findings []Finding
	// Response says that it was a response body, or the events of a streamed one: its one ASSISTANT message tells usage,
	// model and stop reason.
	Response bool
	// ProviderStop is the provider's own word for why the model stopped writing its last message; empty where the JSON has
	// none.
	ProviderStop string
	// Cut says that the events of a streamed response broke off, so that its message counts as aborted.
	Cut bool
}

// RenderOptions are how a list is to be rendered. The zero value renders for a request.
type RenderOptions struct {
	// AsWritten renders what was parsed as it was: nothing is repaired, merged or left out, and ids stay.
	AsWritten bool
	// Breakpoints are the messages after which a cache breakpoint is to be marked, by position, ascending; at most three.
	// Not nil, even if empty: breakpoints that the client had set are left out. Dialects without breakpoints in their
	// lists do nothing.
	Breakpoints []int
}

// Rendered is a list with what was done to make it.
type Rendered struct {
	List
	// From tells for each element of List.Messages which messages it was made from. A system prompt that stands apart has
	// no element.
	From []Span
	// Merged counts the messages that were put into the element of the message before: results of one batch, and
	// neighbours where the provider demands alternation.
	Merged int
	// Dropped are parts that were left out or put as text.
	Dropped []Dropped
	// Repairs are what was changed so that the provider takes the list.
	Repairs []Repair
	// DisableThinking says that the live tool loop had to lose its thinking: the client must turn thinking off for its
	// next request.
	DisableThinking bool
}

// Span is a range of messages by position.
type Span struct {
	// First is the first message, End the one behind the last.
	First, End int
}

// Dropped is a part that was left out or put as text.
type Dropped struct {
	// Message and Part are positions in what was rendered.
	Message, Part int
	// Why, in one sentence that quotes nothing.
	Why string
}

// Repair is a change that keeps a list valid.
type Repair struct {
	// Rule is the id of the rule that would have been broken.
	Rule string
	// Message is the position in what was rendered.
	Message int
	// What was done, in one sentence that quotes nothing.
	What string
}
