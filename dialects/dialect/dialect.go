// Package dialect defines what a dialect is, and holds what all dialects share.
//
// A Dialect parses a provider's JSON into the neutral messages of a log, renders messages as that JSON, and checks
// lists by the provider's rules. Where nothing was edited, rendering what was parsed returns an equal JSON: attachments
// keep what the neutral message has no field for (see Residue and Restore).
//
// A list can be rendered in two ways. As written, it is what was parsed, including its errors: this is for exports.
// Otherwise it is for a request: what the provider would refuse is repaired, and each repair is reported.
package dialect

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Dialect is a provider's message shape. It is safe for concurrent use and has no state.
type Dialect interface {
	// Kind returns its value in the contract.
	Kind() compactordv1.Dialect
	// Name returns its name in commands and documents, such as `openai_chat`.
	Name() string
	// Parse reads a list of messages, one message, a request body, a response body, or the list of all events of a
	// streamed response, which counts as the whole body. Where the meaning is not clear, the error is an *InputError.
	Parse(raw []byte) (*Parsed, error)
	// Render writes messages. It accepts any list of valid messages in which each result follows its call. An error is
	// always a bug.
	Render(messages []*compactordv1.Message, opts RenderOptions) (*Rendered, error)
	// Split accepts the same input as Parse, but only finds the list in it. What Validate checks may be malformed. An
	// *InputError means that there is no list.
	Split(raw []byte) (*List, error)
	// Document returns the part of the provider's request body that holds the list: a JSON object.
	Document(list *List) json.RawMessage
	// Prompt writes the daemon's own messages as the list of a request: at most one system prompt, and one message of the
	// user.
	Prompt(messages []*compactordv1.Message) (*List, error)
	// Continue puts a prompt, as Prompt writes it, after a view of a conversation with these tools: a JSON array, or
	// empty. The view's elements stay byte for byte. Only the last one can get additions, so that the provider accepts the
	// list and finds everything before the prompt in its cache.
	Continue(view *List, tools json.RawMessage, prompt *List) (*List, error)
	// RequestBody writes the body of a request for a streamed answer. The elements of the list stay byte for byte.
	RequestBody(list *List, opts RequestOptions) json.RawMessage
	// NewAnswer returns a reader for one answer.
	NewAnswer() AnswerReader
	// Rules returns the rules that Validate checks, in a fixed order.
	Rules() []Rule
	// Validate checks a list by the rules. It accepts any list, and returns violations in the order of the list.
	Validate(list *List, mode Mode) []Violation
	// Judge checks a list that was rendered with this Writer as Validate does, by what its JSON was written from. It reads
	// JSON only of what the log holds as JSON.
	Judge(list *List, by *Writer, mode Mode) []Violation
}

// List is a message list in a provider's JSON.
type List struct {
	// System is the system prompt, where the dialect has it apart from the messages: Anthropic's text blocks, Gemini's one
	// systemInstruction, the one instructions of OpenAI Responses.
	System []json.RawMessage
	// SystemAsText reports that Anthropic's system prompt is a plain string, which System holds as one block.
	SystemAsText bool
	// Messages are the messages, items or contents.
	Messages []json.RawMessage
	// Before is what comes before, where this is only a part of a list.
	Before Before
}

// Before is what comes before a part of a list.
type Before struct {
	// Messages is how many elements come before, and Bytes how many bytes they and the system prompt have, each with a
	// comma.
	Messages, Bytes int
}

// Parsed is what Parse read.
type Parsed struct {
	// Messages have no origin, since only the caller knows it. The exception is a message with role USER that stands for
	// an unreadable message: its origin is CONTINUE, since it is no request of the user.
	Messages []*compactordv1.Message
	// Positions holds for each message its position, from 0, in the provider's list. A system prompt apart from the
	// messages has position 0.
	Positions []int
	// Findings are what was malformed and accepted, by position in the provider's list.
	Findings []Finding
	// Response reports that the input was a response body, or the events of a streamed one. Its one ASSISTANT message has
	// usage, model and stop reason.
	Response bool
	// ProviderStop is the provider's own word for why the model stopped writing the last message. Empty where the JSON has
	// none.
	ProviderStop string
	// Cut reports that the events of a streamed response broke off, so that its message counts as aborted.
	Cut bool
}

// RenderOptions say how to render a list. The zero value is for a request.
type RenderOptions struct {
	// AsWritten renders the list as it was parsed: nothing is repaired, merged or left out, and ids stay the same.
	AsWritten bool
	// Breakpoints are the positions of messages after which to mark a cache breakpoint, ascending; at most three. Where it
	// is not nil, even if empty, the breakpoints that the client had set are left out. It has no effect in dialects
	// without breakpoints in their lists. In a part of a list these are positions in the part.
	Breakpoints []int
	// Before is nil, unless the messages are the rest of a list, whose part before was rendered. A list can be cut where
	// Seams finds a place.
	Before *Carried
	// More reports that messages follow which are rendered later.
	More bool
	// Adaptive reports that the model decides before each answer whether it thinks. Then each message of a tool loop keeps
	// or loses its thinking by itself, and DisableThinking is not set.
	Adaptive bool
	// Writer writes the list, so that Judge can check it. nil where nobody asks it to.
	Writer *Writer
}

// Writer knows of the objects and arrays of one rendered list what they were written from.
type Writer = rawjson.Writer

// NewWriter returns a Writer for a list that is rendered from about so many messages.
func NewWriter(messages int) *Writer { return rawjson.NewWriter(2 * messages) }

// Rendered is a list, and what was changed to make it.
type Rendered struct {
	List
	// From says for each element of List.Messages which messages it was made from. A system prompt apart from the messages
	// has no entry.
	From []Span
	// Merged counts the messages that were put into the element of the message before: results of one batch, and
	// neighbours where the provider demands alternating roles.
	Merged int
	// Dropped are the parts that were left out or shown as text.
	Dropped []Dropped
	// Repairs are the changes that were made so that the provider accepts the list.
	Repairs []Repair
	// DisableThinking reports that the running tool loop lost its thinking. The client must turn thinking off for its next
	// request.
	DisableThinking bool
	// After is for rendering the messages that follow. It is nil where More was not set, and where these messages cannot be
	// rendered without those that follow.
	After *Carried
}

// Span is a range of messages by position.
type Span struct {
	// First is the first message, and End the one after the last.
	First, End int
}

// Dropped is a part that was left out or shown as text.
type Dropped struct {
	// Message and Part are positions in the messages that were rendered.
	Message, Part int
	// Why is the reason, in one sentence that quotes nothing.
	Why string
}

// Repair is a change that keeps a list valid.
type Repair struct {
	// Rule is the id of the rule that would have been broken.
	Rule string
	// Message is the position in the messages that were rendered.
	Message int
	// What is the change, in one sentence that quotes nothing.
	What string
}
