package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// reply is the answer of a scripted model.
type reply struct {
	// deltas are streamed before anything else.
	deltas []string
	answer llm.Answer
	err    error
	// hangs says that nothing more comes until the request is cancelled.
	hangs bool
	// meanwhile is called while the request runs.
	meanwhile func()
}

// says returns an answer in pieces.
func says(pieces ...string) reply {
	return reply{deltas: pieces, answer: llm.Answer{Text: strings.Join(pieces, "")}}
}

// fails returns a failed request.
func fails(e *summarizers.ProviderError) reply { return reply{err: e} }

// status returns the error for an HTTP status.
func status(code int) *summarizers.ProviderError {
	retryable := slices.Contains([]int{408, 409, 429}, code) || code >= 500
	refusesAll := slices.Contains([]int{401, 402, 403, 404}, code)
	return &summarizers.ProviderError{Status: code, Retryable: retryable, RefusesAll: refusesAll}
}

func overflow() *summarizers.ProviderError {
	return &summarizers.ProviderError{Status: http.StatusBadRequest, Code: "context_length_exceeded", Overflow: true}
}

// model answers by a script. After the end of the script it repeats the last reply.
type model struct {
	script []reply
	// answers is the script if replies depend on the request.
	answers func(c *llm.Completion) reply
	dialect compactordv1.Dialect
	sent    []llm.Completion
}

func (m *model) Dialect() compactordv1.Dialect { return m.dialect }

func (m *model) Complete(ctx context.Context, c *llm.Completion, text func(string)) (*llm.Answer, error) {
	m.sent = append(m.sent, *c)
	var r reply
	if m.answers != nil {
		r = m.answers(c)
	} else {
		r = m.script[min(len(m.sent), len(m.script))-1]
	}
	for _, d := range r.deltas {
		text(d)
	}
	if r.meanwhile != nil {
		r.meanwhile()
	}
	if r.hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	answer := r.answer
	return &answer, r.err
}

// listener records progress and checks the guarantees of its interface.
type listener struct {
	t     require.TestingT
	reads []uint32
	// shown is the text since the last Again.
	shown  string
	voided int
}

func (l *listener) Read(tokens uint32) {
	if len(l.reads) > 0 {
		require.Greater(l.t, tokens, l.reads[len(l.reads)-1], "what was read fell")
	}
	l.reads = append(l.reads, tokens)
}

func (l *listener) Text(delta string) { l.shown += delta }

func (l *listener) Again() {
	require.NotEmpty(l.t, l.shown, "nothing to void")
	l.shown = ""
	l.voided++
}

// clock ends all waits at once and records them.
type clock struct{ waits []time.Duration }

func (c *clock) after(wait time.Duration) <-chan time.Time {
	c.waits = append(c.waits, wait)
	ended := make(chan time.Time, 1)
	ended <- time.Time{}
	return ended
}

// run is one call of Summarize and everything that it did.
type run struct {
	*model
	*listener
	clock
	summary *summarizers.Summary
	err     error
}

var small = llm.Profile{Name: "small", Kind: "openai", Model: "m", Window: 32_000, MaxOutput: 8_000}

func summarize(t require.TestingT, profile llm.Profile, req *summarizers.Request, script ...reply) *run {
	return summarizeBy(context.Background(), t, profile, req, &model{script: script})
}

func summarizeBy(ctx context.Context, t require.TestingT, profile llm.Profile, req *summarizers.Request, m *model) *run {
	r := &run{model: m, listener: &listener{t: t}}
	r.summary, r.err = llm.New(profile, m, llm.WithTimer(r.after)).Summarize(ctx, req, r.listener)
	if r.summary != nil {
		require.Equal(t, uint32(len(m.sent)), r.summary.Calls, "calls told and made")
	}
	if r.err == nil {
		require.Equal(t, r.summary.Text, r.shown, "the text and what was streamed of it")
	}
	return r
}

func count(text string) uint32 {
	counter, _ := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	return session.TextTokens(counter, text)
}

// asking returns a request with one message for each text.
func asking(kind summarizers.Kind, texts ...string) *summarizers.Request {
	req := &summarizers.Request{Kind: kind, MaxTokens: 1_000, Replaces: 1_000_000, Count: count}
	for i, text := range texts {
		role := compactordv1.Role_ROLE_USER
		if i%2 == 1 {
			role = compactordv1.Role_ROLE_ASSISTANT
		}
		req.Messages = append(req.Messages, &compactordv1.LoggedMessage{
			Index: uint32(i), Tokens: count(text),
			Message: &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
				{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
			}},
		})
	}
	if kind == summarizers.Observation {
		req.Result = &summarizers.ToolResult{Index: 3, Tool: "bash", Text: strings.Join(texts, "\n")}
		req.Messages = nil
	}
	return req
}

// long returns messages of about 500 tokens each.
func long(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("Message %d: ", i) + strings.Repeat("the parser reads line by line and fails. ", 55)
	}
	return texts
}

// summaryOf returns a summary with all the headings of a kind.
func summaryOf(kind summarizers.Kind, said string) string {
	return summaryUnder(summarizers.Headings(kind, nil), said)
}

func summaryUnder(headings []summarizers.Heading, said string) string {
	var b strings.Builder
	for _, h := range headings {
		b.WriteString(h.Line() + "\n" + said + "\n")
	}
	return strings.TrimSpace(b.String())
}

var good = summaryOf(summarizers.History, "- The parser reads line by line [#1]")

func requireCheck(t testing.TB, want string, err error) {
	t.Helper()
	var refused *summarizers.CheckError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, want, refused.Check)
}

func requireProviderError(t testing.TB, err error) *summarizers.ProviderError {
	t.Helper()
	var failure *summarizers.ProviderError
	require.ErrorAs(t, err, &failure)
	return failure
}

var errStopped = errors.New("stopped")

// exactly counts like OpenAI's models.
func exactly(t require.TestingT, text string) uint32 {
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	require.NoError(t, err)
	return session.TextTokens(counter, text)
}

// stopped returns a context that has ended.
func stopped(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	return ctx
}
