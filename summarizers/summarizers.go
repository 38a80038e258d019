// Package summarizers holds who writes the summary that replaces the older part of a conversation.
//
// A Summarizer is given a Request and writes text. It stores nothing and decides nothing: what is to be summarized,
// whether the text passes, and what happens if it does not, is the caller's business.
package summarizers

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	// holds both. Of the request Messages, Lead, PreviousSummary and Sections are empty.
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
	// Focus is what the caller wants attended to.
	Focus    string
	Sections compactordv1.SectionSet
	// MaxTokens is the budget of the summary, as Count counts. At least 64.
	MaxTokens uint32
	// Count estimates tokens of text, by the session's estimator.
	Count func(text string) uint32
	// Fault is why the last try was refused, in one sentence; empty at the first try.
	Fault string
}

// Summary is what a Summarizer wrote.
type Summary struct {
	Text string
	// Model, Usage and CostUSD are empty where no model wrote it.
	Model   string
	Usage   *compactordv1.Usage
	CostUSD *float64
	// Calls is how many requests were made to a provider.
	Calls uint32
	// CutOff says that the text ends where the output limit was, and not where the model had finished.
	CutOff bool
}

// Progress takes in what happens while a summary is written. Its methods are called from one goroutine at a time and
// may block; they fail only once the context has ended.
type Progress interface {
	// Read says how many tokens of the request's messages have been taken in so far. It never falls.
	Read(tokens uint32)
	// Text hands on a piece of the summary as it is written.
	Text(delta string)
}

// Summarizer writes summaries.
type Summarizer interface {
	// Name is what policies call it.
	Name() string
	// Summarize writes a summary, telling progress. It returns the context's cause once that has ended, within the time
	// of one message.
	Summarize(ctx context.Context, req *Request, progress Progress) (*Summary, error)
}

// Registry knows summarizers by name.
type Registry struct {
	byName map[string]Summarizer
}

// NewRegistry returns a registry of these. Two of one name are an error.
func NewRegistry(all ...Summarizer) (*Registry, error) {
	r := &Registry{byName: make(map[string]Summarizer, len(all))}
	for _, s := range all {
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
