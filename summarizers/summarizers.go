// Package summarizers holds who writes the summary that replaces the older part of a conversation.
//
// A Summarizer is given a Request and writes text. It stores nothing and decides nothing: what is to be summarized,
// whether the text passes, and what happens if it does not, is the caller's business.
package summarizers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrUnknown says that no summarizer has the name that was asked for.
var ErrUnknown = errors.New("unknown summarizer")

// Kind is what a summary is of.
type Kind int

// The kinds of what is written.
const (
	// History covers complete turns, merged into the previous summary if there is one.
	History Kind = iota
	// TurnPrefix covers the first part of a turn whose rest is kept.
	TurnPrefix
	// Observation is no summary of messages but one tool result, Request.Result, written shorter. Its text needs no
	// sections and no line on how to have the whole result back: ToolResult.Replacement adds that one, and the budget
	// holds both. Of the request Messages, Lead, PreviousSummary and the sections are empty.
	Observation
)

// Request is what a Summarizer gets.
type Request struct {
	Kind Kind
	// Result is the tool result of an Observation; nil for the other kinds.
	Result *ToolResult
	// Messages are what is to be summarized, in the order of the log, as the log holds them. May be empty where
	// PreviousSummary is not.
	Messages []*compactordv1.LoggedMessage
	// Lead is the leading run of SYSTEM and DEVELOPER messages: never summarized, since every view shows it, but there
	// to be understood.
	Lead []*compactordv1.LoggedMessage
	// PreviousSummary is the text of the summary that Messages follow. What it says must not be lost.
	PreviousSummary string
	// PreviousSections are those that PreviousSummary was written with; empty where that is not known.
	PreviousSections []*compactordv1.Section
	// Focus is what the caller wants attended to.
	Focus string
	// Sections are those that the summary is to have; empty for the standard ones.
	Sections []*compactordv1.Section
	// PromptOverride replaces the instructions of a model, and ExtraContext is text that it is given beside the
	// conversation. Who is no model ignores both.
	PromptOverride string
	ExtraContext   []string
	// Input says how a model is shown the messages.
	Input Input
	// MaxTokens is the budget of the summary, as Count counts. At least 64.
	MaxTokens uint32
	// Replaces is the size of what the summary replaces, as Count counts: it must have fewer tokens.
	Replaces uint32
	// Count estimates tokens of text, by the session's estimator.
	Count func(text string) uint32
	// Redact replaces the secrets in a text; nil where the policy wants none replaced. Nothing leaves the daemon without
	// it. Texts are redacted before they are cut, since half a secret is not recognized.
	Redact func(text string) string
	// View draws the agent's own prompt up to the cut, in a dialect; nil where the conversation is to be sent as text.
	View func(ctx context.Context, dialect compactordv1.Dialect) (*View, error)
	// TryTimeout bounds each request to a provider. A summarizer that makes none is bounded as a whole.
	TryTimeout time.Duration
	// Fault is why the last try was refused, in one sentence; empty at the first try.
	Fault string
}

// Input says how messages are written down for a model. Characters are UTF-16 code units.
type Input struct {
	ToolResultChars, ToolArgumentChars int
	// Thinking says whether the agent's thinking is shown.
	Thinking bool
}

// View is the agent's own prompt, as its provider takes it.
type View struct {
	// System and Messages are what dialect.List holds of a view.
	System, Messages []json.RawMessage
	// Tools are the agent's tool definitions, a JSON array; empty where it has none.
	Tools json.RawMessage
}

// Summary is what a Summarizer wrote.
type Summary struct {
	Text string
	// Model, Usage and CostUSD are empty where no model wrote it.
	Model   string
	Usage   *compactordv1.Usage
	CostUSD *float64
	// Calls is how many requests were made to a provider, and Retries how many of them repeat one that failed.
	Calls, Retries uint32
	// Rejected are the checks that texts failed which were then written again; an error tells of the last one.
	Rejected []string
	// PromptVersion is that of the prompts it was asked with; 0 where it takes none.
	PromptVersion uint32
	// CachedPrefix says that it was written on Request.View.
	CachedPrefix bool
	// AsText is why the conversation was sent as text although Request.View was there: one of the AsText words; else empty.
	AsText string
	// CutOff says that the text ends where the output limit was, and not where the model had finished.
	CutOff bool
	// Faults are the bugs of its own that the summarizer got over.
	Faults []Fault
}

// Fault is a bug that a summarizer got over: it left something out and wrote the rest. It holds nothing of the conversation.
type Fault struct {
	// Stage is one of the Stage words.
	Stage string
	// Index is the message, where the stage is about one.
	Index uint32
	// Cause is the type of what the code panicked with, Stack where that was. Where faults are many, only the first have a
	// stack.
	Cause, Stack string
}

// What was left out by a fault.
const (
	// StageFocus: the words of the focus.
	StageFocus = "focus"
	// StagePrevious: the sense of a line of the previous summary, which is kept as it stands.
	StagePrevious = "previous"
	// StageLead: a message of the leading run. Rules in it may be said twice.
	StageLead = "lead"
	// StageMessage: a message.
	StageMessage = "message"
	// StageRequest: what the user said in such a message, which else is kept as it stands.
	StageRequest = "request"
	// StageSettle: what can be told only once all is read, such as which errors are resolved.
	StageSettle = "settle"
	// StagePlan: the choice of what matters. The summary holds the last requests and the previous summary, and little else.
	StagePlan = "plan"
	// StageResult: the choice of lines of a tool result. Its head and its tail are kept.
	StageResult = "result"
)

// Why the agent's own prompt was not summarized on.
const (
	// AsTextSecret: a provider's own item holds a secret.
	AsTextSecret = "secret_in_item"
	// AsTextNotDrawn: it could not be drawn in the provider's dialect.
	AsTextNotDrawn = "not_drawn"
	// AsTextDoesNotFit: it is too long for the model's window as counted.
	AsTextDoesNotFit = "does_not_fit"
	// AsTextOverflow: the provider found it too long.
	AsTextOverflow = "overflow"
	// AsTextRefused: the provider refused it.
	AsTextRefused = "refused"
)

// ErrSecretInItem says that the agent's own prompt cannot be sent: a provider's item must come back byte for byte.
var ErrSecretInItem = errors.New("a provider's own item holds a secret")

// TimeLimitError says which limit has passed.
type TimeLimitError struct{ Limit time.Duration }

func (e *TimeLimitError) Error() string { return fmt.Sprintf("no answer within %s", e.Limit) }

// Unwrap returns context.DeadlineExceeded.
func (e *TimeLimitError) Unwrap() error { return context.DeadlineExceeded }

// Progress takes in what happens while a summary is written. Its methods are called from one goroutine at a time and
// may block; they fail only once the context has ended.
type Progress interface {
	// Read says how many tokens of the request's messages have been taken in so far. It never falls.
	Read(tokens uint32)
	// Text hands on a piece of the summary as it is written.
	Text(delta string)
	// Again voids all Text of this call of Summarize so far: what follows is written anew.
	Again()
}

// Summarizer writes summaries.
type Summarizer interface {
	// Name is what policies call it.
	Name() string
	// Summarize writes a summary, telling progress. It returns the context's cause once that has ended, within the time
	// of one message. A Summary beside an error has no text and says what was spent.
	Summarize(ctx context.Context, req *Request, progress Progress) (*Summary, error)
}

// Persistent is a Summarizer that tries again by itself: it keeps to Request.TryTimeout request by request, repeats those
// that failed for a reason that passes, and writes again, with the fault named, what Check refused. Its error is final:
// a *CheckError, a *ProviderError, or the context's cause.
type Persistent interface {
	Summarizer
	// Timeouts are its own limits for a request and for all that it writes for one compaction, where the policy sets none;
	// 0 where it has none.
	Timeouts() (try, total time.Duration)
}

// Concurrent is a Summarizer that can write several texts of one operation at a time.
type Concurrent interface {
	Summarizer
	// Concurrency is how many texts it wants to write at a time, at the most.
	Concurrency() int
}

// Estimator is a Summarizer that can tell beforehand what a request takes.
type Estimator interface {
	Summarizer
	Estimate(ctx context.Context, req *Request) (*Estimate, error)
}

// Estimate is what a request takes where nothing has to be repeated.
type Estimate struct {
	// Calls is how many requests to the provider it takes, and InputTokens what they hold in all, as the summarizer counts.
	Calls, InputTokens uint32
	// CostUSD is nil where the price is not configured.
	CostUSD *float64
}

// Describer is a Summarizer that tells of itself.
type Describer interface {
	Summarizer
	Describe() *compactordv1.SummarizerInfo
}

// ProviderError is why a model's provider gave no answer. It holds nothing of the conversation and nothing of what the
// provider said, which may quote it.
type ProviderError struct {
	// Status is the HTTP status; 0 where there was no answer. It is 200 where an answer that had begun well was none.
	Status int
	// Code is the provider's name of the error, such as `rate_limit_error`; empty where it has none. At most 64 characters,
	// letters, digits, `_`, `.` and `-`.
	Code string
	// Retryable says that the same request may succeed later: 408, 409, 429, 5xx, a broken connection or stream, a time limit.
	Retryable bool
	// RefusesAll says that any other request would fail alike: it is for the key, the account, the model or the address.
	RefusesAll bool
	// Overflow says that the request was too long for the model.
	Overflow bool
	// Param is the parameter that the provider objects to; empty where it names none. Characters as in Code.
	Param string
	// Host is the host that was asked, and its port where it is named. It is for logs, and not for who is told of the error.
	Host string
	// RetryAfter is when the provider wants to be asked again; 0 where it did not say.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is. Its text is not for logs.
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

// The codes of what no provider says, where an error tells more of them.
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
		return "what answered is no model's API, see its base_url"
	case e.Status == http.StatusOK:
		return "the provider told of an error in its stream"
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

// Registry knows summarizers by name.
type Registry struct {
	byName map[string]Summarizer
}

// Client is the name under which records tell of texts that the client's own model wrote.
const Client = "client"

// NewRegistry returns a registry of these. Two of one name are an error, and so is one named Client.
func NewRegistry(all ...Summarizer) (*Registry, error) {
	r := &Registry{byName: make(map[string]Summarizer, len(all))}
	for _, s := range all {
		if s.Name() == Client {
			return nil, fmt.Errorf("no summarizer can be named %q: records tell by it what the client's own model wrote", Client)
		}
		if _, ok := r.byName[s.Name()]; ok {
			return nil, fmt.Errorf("two summarizers are named %q", s.Name())
		}
		r.byName[s.Name()] = s
	}
	return r, nil
}

// Get returns the summarizer of that name, or ErrUnknown with the names that are known.
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
