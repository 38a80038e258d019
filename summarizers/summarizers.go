// Package summarizers defines the summarizers, which write the summary that replaces the older part of a conversation.
//
// A Summarizer gets a Request and writes text. It stores and decides nothing: the caller decides what is summarized,
// whether the text passes the checks, and what happens if it does not.
package summarizers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrUnknown says that no summarizer has the requested name.
var ErrUnknown = errors.New("unknown summarizer")

// Kind says what a text is about.
type Kind int

// The kinds of texts.
const (
	// History covers complete turns. The previous summary, if there is one, is merged into it.
	History Kind = iota
	// TurnPrefix covers the first part of a turn whose other part is kept.
	TurnPrefix
	// Observation is not a summary of messages: it is one tool result, Request.Result, in fewer words. Its text needs
	// no sections and no line on how to recall the whole result. ToolResult.Replacement adds that line, and the budget
	// includes it. Messages, Lead, PreviousSummary and the sections of the request are empty.
	Observation
	// Range covers messages that are folded: its text takes their place between the messages around them. They are
	// complete turns, or a part of one; Request.Task is what the user asked for there.
	Range
)

// Request is the input of a Summarizer.
type Request struct {
	Kind Kind
	// Result is the tool result of an Observation; nil for the other kinds.
	Result *ToolResult
	// Messages are the messages to summarize, unchanged and in the order of the log. They may be empty if
	// PreviousSummary is not.
	Messages []*compactordv1.LoggedMessage
	// Contents returns one of Messages as it is in the log, where they may be outlines (session.Outlines); nil where none
	// is. It is only set for summarizers that are Piecewise.
	Contents func(m *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error)
	// Lead is the run of SYSTEM and DEVELOPER messages at the start. Every view shows them, so they are not summarized;
	// they help to understand Messages.
	Lead []*compactordv1.LoggedMessage
	// Beside is what views show beside messages of the log: instructions in place of earlier leading messages, which Lead
	// lacks, and context blocks. They have no index and are not summarized: what they say need not be repeated.
	Beside []*compactordv1.Message
	// Kept are the messages after the summary, as the view shows them. They are not summarized: what they say need not be
	// repeated. They may be empty.
	Kept []*compactordv1.LoggedMessage
	// Following are messages between Messages and Kept that another text of the same summary covers: the first part of a
	// split turn. They show how the work went on, and are not summarized. They may be empty, and outlines as Messages may.
	Following []*compactordv1.LoggedMessage
	// Earlier are the newest of the messages that PreviousSummary covers, unchanged and in the order of the log. They are
	// summarized already: who quotes chooses anew from them, since what was left out can matter by now. They may be empty.
	Earlier []*compactordv1.LoggedMessage
	// PreviousSummary is the text of the summary before Messages. The new summary must preserve what it says.
	PreviousSummary string
	// PreviousSections are the sections of PreviousSummary. They are empty if they are unknown.
	PreviousSections []*compactordv1.Section
	// Task is the user's request that a Range serves, where its messages do not have it. Guidelines say what a Range keeps
	// and leaves out. Both may be empty, and are so for the other kinds.
	Task, Guidelines string
	// WithoutToolWords says that the summary speaks with the operator's voice: it holds no words of tools, of what they
	// fetched or of files that they read.
	WithoutToolWords bool
	// Focus is what the caller wants the summary to concentrate on.
	Focus string
	// Sections are the sections of the new summary. Empty means the standard ones.
	Sections []*compactordv1.Section
	// PromptOverride replaces the instructions for a model. ExtraContext is text that the model gets beside the
	// conversation. A summarizer without a model ignores both.
	PromptOverride string
	ExtraContext   []string
	// Input says how the messages are shown to a model.
	Input Input
	// MaxTokens is the budget of the summary, measured by Count. At least 64.
	MaxTokens uint32
	// NarrativeTokens is the part of the budget that a model is told, since quotes are added to its text. 0 means all of
	// it. The checks allow MaxTokens.
	NarrativeTokens uint32
	// Replaces is the size of what the summary replaces, measured by Count. The summary must have fewer tokens.
	Replaces uint32
	// Count estimates the tokens of a text with the session's estimator.
	Count func(text string) uint32
	// Redact replaces the secrets in a text. It is nil if the policy turns redaction off. Every text must pass through
	// it before it leaves the daemon, and before it is cut, since half a secret is not recognized.
	Redact func(text string) string
	// View renders the agent's own prompt up to the cut in a dialect. It is nil if the conversation is to be sent as
	// text.
	View func(ctx context.Context, dialect compactordv1.Dialect) (*View, error)
	// ViewBytes is about the size in bytes of what View renders, without media. Who cannot send that much need not render it.
	ViewBytes int
	// TryTimeout limits each request to a provider. For a summarizer that makes no requests, it limits the whole text.
	TryTimeout time.Duration
	// Refusal says in one sentence why the last try was refused. It is empty at the first try.
	Refusal string
}

// Read returns one of the messages as it is in the log. Who reads them one after the other needs no more memory for a
// long conversation than for a short one.
func (r *Request) Read(m *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
	if r.Contents == nil {
		return m, nil
	}
	return r.Contents(m)
}

// WithContents returns the request with all messages as they are in the log.
func (r *Request) WithContents() (*Request, error) {
	if r.Contents == nil {
		return r, nil
	}
	whole := *r
	whole.Contents, whole.Messages = nil, make([]*compactordv1.LoggedMessage, len(r.Messages))
	for i, m := range r.Messages {
		var err error
		if whole.Messages[i], err = r.Contents(m); err != nil {
			return nil, err
		}
	}
	return &whole, nil
}

// ModelBudget returns how many tokens a model is told that its text may have.
func (r *Request) ModelBudget() uint32 {
	return min(cmp.Or(r.NarrativeTokens, r.MaxTokens), r.MaxTokens)
}

// Input says how messages are shown to a model. Characters are UTF-16 code units.
type Input struct {
	ToolResultChars, ToolArgumentChars int
	// Thinking says whether the agent's thinking is shown.
	Thinking bool
}

// View is the agent's own prompt in the dialect of its provider.
type View struct {
	// System and Messages are those that dialect.List returns for a view.
	System, Messages []json.RawMessage
	// Tools is a JSON array of the agent's tool definitions. It is empty if the agent has none.
	Tools json.RawMessage
}

// Summary is a text that a Summarizer wrote.
type Summary struct {
	Text string
	// Model, Usage and CostUSD are empty if no model wrote it.
	Model   string
	Usage   *compactordv1.Usage
	CostUSD *float64
	// Calls is how many requests were made to a provider, and Retries how many of them repeated a failed one.
	Calls, Retries uint32
	// Rejected are the checks that refused texts which were then written again. If no text passed, the error holds the
	// last check.
	Rejected []string
	// PromptVersion is the version of the prompts; 0 if none were used.
	PromptVersion uint32
	// CachedPrefix says that the summary was written on Request.View.
	CachedPrefix bool
	// AsText says why the conversation was sent as text although Request.View was set: one of the AsText words.
	// Otherwise it is empty.
	AsText string
	// CutOff says that the output limit ended the text before the model had finished.
	CutOff bool
	// Faults are bugs of the summarizer that it survived.
	Faults []Fault
}

// Fault is a bug that a summarizer survived: it left something out and wrote the rest. It contains nothing of the
// conversation.
type Fault struct {
	// Stage is one of the Stage words.
	Stage string
	// Index is the index of the message, if the stage is about one.
	Index uint32
	// Cause is the type of the panic's value, and Stack its stack. If there are many faults, only the first ones have a
	// stack.
	Cause, Stack string
}

// The stages say what a fault left out.
const (
	// StageFocus: the words of the focus.
	StageFocus = "focus"
	// StagePrevious: the interpretation of a line of the previous summary. The line itself is kept unchanged.
	StagePrevious = "previous"
	// StageLead: a leading message. Rules in it may occur twice.
	StageLead = "lead"
	// StageKept: a leading or kept message. The summary may quote what it says, too.
	StageKept = "kept"
	// StageMessage: a message.
	StageMessage = "message"
	// StageRequest: the user's words in such a message, if they could not be kept unchanged either.
	StageRequest = "request"
	// StageQuotes: what a message has to quote.
	StageQuotes = "quotes"
	// StageSettle: what can be decided only after everything was read, such as which errors are resolved.
	StageSettle = "settle"
	// StagePlan: the choice of what matters. The summary has the last requests and the previous summary, and little
	// else.
	StagePlan = "plan"
	// StageResult: the choice of lines of a tool result. Its head and its tail are kept.
	StageResult = "result"
)

// Stages returns all stages.
func Stages() []string {
	return []string{
		StageFocus, StagePrevious, StageLead, StageKept, StageMessage, StageRequest, StageQuotes, StageSettle, StagePlan,
		StageResult,
	}
}

// The AsText words say why a summary was not written on the agent's own prompt.
const (
	// AsTextSecret: an opaque item of a provider contains a secret.
	AsTextSecret = "secret_in_item"
	// AsTextNotDrawn: the prompt could not be rendered in the provider's dialect.
	AsTextNotDrawn = "not_drawn"
	// AsTextDoesNotFit: by our count, the prompt is too long for the model's window.
	AsTextDoesNotFit = "does_not_fit"
	// AsTextOverflow: the provider said that the prompt is too long.
	AsTextOverflow = "overflow"
	// AsTextRefused: the provider refused the prompt.
	AsTextRefused = "refused"
)

// ErrSecretInItem says that the agent's own prompt cannot be sent: an opaque item holds a secret, and must be sent back
// to its provider byte for byte.
var ErrSecretInItem = errors.New("a provider's own item holds a secret")

// TimeLimitError says that a time limit has passed.
type TimeLimitError struct{ Limit time.Duration }

func (e *TimeLimitError) Error() string { return fmt.Sprintf("no answer within %s", e.Limit) }

// Unwrap returns context.DeadlineExceeded.
func (e *TimeLimitError) Unwrap() error { return context.DeadlineExceeded }

// Progress receives what happens while a summary is written. Its methods are called by one goroutine at a time. They
// may block, but not after the context has ended.
type Progress interface {
	// Read reports how many tokens of the request's messages were read so far. The number never falls.
	Read(tokens uint32)
	// Text receives a piece of the summary as it is written.
	Text(delta string)
	// Again withdraws all Text of this call of Summarize so far. The text is written anew.
	Again()
}

// Summarizer writes summaries.
type Summarizer interface {
	// Name returns the summarizer's name in policies.
	Name() string
	// Summarize writes a summary and reports its progress. When the context ends, it returns the context's cause, at
	// the latest after the message that it is reading. A Summary beside an error has no text and says what was spent.
	Summarize(ctx context.Context, req *Request, progress Progress) (*Summary, error)
}

// Piecewise is a Summarizer that reads messages by Request.Read only.
type Piecewise interface {
	Summarizer
	// Piecewise does nothing.
	Piecewise()
}

// Persistent is a Summarizer that makes its own retries. It applies Request.TryTimeout to each request, repeats
// requests after transient failures, and writes a text again, with the reason, after Check refused it. Its error is
// final: a *CheckError, a *ProviderError, or the context's cause.
type Persistent interface {
	Summarizer
	// Timeouts returns its own limits for one request and for all texts of one compaction. They apply where the policy
	// sets none; 0 means no limit of its own.
	Timeouts() (try, total time.Duration)
}

// Concurrent is a Summarizer that can write several texts of one operation at the same time.
type Concurrent interface {
	Summarizer
	// Concurrency returns how many texts it can write at the same time at most.
	Concurrency() int
}

// Estimator is a Summarizer that can estimate the cost of a request beforehand.
type Estimator interface {
	Summarizer
	Estimate(ctx context.Context, req *Request) (*Estimate, error)
}

// Estimate is what a request costs if no request to the provider has to be repeated.
type Estimate struct {
	// Calls is the number of requests to the provider, and InputTokens their total size, as the summarizer counts.
	Calls, InputTokens uint32
	// CostUSD is nil if the price is not configured.
	CostUSD *float64
}

// Describer is a Summarizer that describes itself.
type Describer interface {
	Summarizer
	Describe() *compactordv1.SummarizerInfo
}

// ProviderError says why a model's provider gave no answer. It contains nothing of the conversation, and none of the
// provider's own text, which may quote it.
type ProviderError struct {
	// Status is the HTTP status; 0 if there was no response. It is 200 if a response began well but contained no
	// answer.
	Status int
	// Code is the provider's name for the error, such as `rate_limit_error`, or one of the Code constants. It may be
	// empty. At most 64 characters: letters, digits, `_`, `.` and `-`.
	Code string
	// Retryable says that the same request may succeed later: after 408, 409, 429, 5xx, a broken connection or stream,
	// or a time limit.
	Retryable bool
	// RefusesAll says that any other request would fail in the same way, because of the key, the account, the model or
	// the address.
	RefusesAll bool
	// Overflow says that the request was too long for the model.
	Overflow bool
	// Param is the parameter that the provider objects to. It may be empty. Its characters are those of Code.
	Param string
	// Host is the host that the request was sent to, with its port if the address has one. It is for logs, and not for
	// clients.
	Host string
	// RetryAfter is how long the provider wants us to wait; 0 if it did not say.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is. Its text must not be logged.
	Err error
}

func (e *ProviderError) Error() string {
	said := e.what()
	switch {
	case e.Code != "" && e.Param != "":
		said += " (" + e.Code + ": " + e.Param + ")"
	case e.Code != "":
		said += " (" + e.Code + ")"
	case e.Param != "":
		said += " (" + e.Param + ")"
	}
	return said
}

// Kind is the code, or else the HTTP status, or else a word that says neither is known.
func (e *ProviderError) Kind() string {
	switch {
	case e.Code != "":
		return e.Code
	case e.Status != 0:
		return strconv.Itoa(e.Status)
	default:
		return "no_answer"
	}
}

// The codes of errors that do not come from a provider.
const (
	CodeNotAStream        = "not_a_stream"
	CodeConnectionRefused = "connection_refused"
	CodeConnectionFailed  = "connection_failed"
	CodeConnectTimeout    = "connect_timeout"
	CodeNameNotFound      = "name_not_found"
	CodeCertificate       = "certificate_refused"
)

func (e *ProviderError) what() string {
	switch {
	case e.Code == CodeNotAStream:
		return "the answer is not from a model's API; check the base_url"
	case e.Status == http.StatusOK:
		return "the provider reported an error in its stream"
	case e.Status != 0:
		return fmt.Sprintf("the provider answered with HTTP status %d", e.Status)
	}
	switch e.Code {
	case CodeConnectionRefused, CodeConnectionFailed, CodeConnectTimeout, CodeNameNotFound, CodeCertificate:
		return "there is no connection to the provider"
	default:
		return "the provider gave no answer"
	}
}

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// Registry finds summarizers by their names.
type Registry struct {
	byName map[string]Summarizer
}

// Client is the name that records give to texts which the client's own model wrote.
const Client = "client"

// NewRegistry returns a registry of these summarizers. Two with the same name are an error, and so is one named Client.
func NewRegistry(all ...Summarizer) (*Registry, error) {
	r := &Registry{byName: make(map[string]Summarizer, len(all))}
	for _, s := range all {
		if s.Name() == Client {
			return nil, fmt.Errorf("no summarizer can be named %q: records use this name for texts of the client's own model", Client)
		}
		if _, ok := r.byName[s.Name()]; ok {
			return nil, fmt.Errorf("two summarizers are named %q", s.Name())
		}
		r.byName[s.Name()] = s
	}
	return r, nil
}

// Get returns the summarizer with this name. Otherwise it returns ErrUnknown with the known names.
func (r *Registry) Get(name string) (Summarizer, error) {
	s, ok := r.byName[name]
	if !ok {
		return nil, fmt.Errorf("%w %q; known: %v", ErrUnknown, name, r.Names())
	}
	return s, nil
}

// Names returns the known names, sorted.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.byName))
	for name := range r.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
