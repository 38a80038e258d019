package summaries_test

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

type summarize func(ctx context.Context, req *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error)

// scripted is a summarizer that does what a test says.
type scripted struct {
	name string
	do   summarize

	mu       sync.Mutex
	requests []*summarizers.Request
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Summarize(
	ctx context.Context, req *summarizers.Request, p summarizers.Progress,
) (*summarizers.Summary, error) {
	s.mu.Lock()
	seen := *req
	s.requests = append(s.requests, &seen)
	s.mu.Unlock()
	return s.do(ctx, req, p)
}

// persistent is one that tries again by itself, with its own time limits.
type persistent struct {
	*scripted
	try, total time.Duration
}

func (p persistent) Timeouts() (try, total time.Duration) { return p.try, p.total }

// concurrent is one that writes several texts at a time.
type concurrent struct {
	*scripted
	atATime int
}

func (c concurrent) Concurrency() int { return c.atATime }

// says returns a summarizer that writes the texts one after the other, at a price, and then the last one again and
// again.
func says(texts ...string) *scripted {
	s := &scripted{name: "writer"}
	s.do = func(_ context.Context, _ *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error) {
		text := texts[min(len(s.requests), len(texts))-1]
		p.Text(text)
		return &summarizers.Summary{
			Text: text, Model: "small", Calls: 1, Usage: &compactordv1.Usage{InputTokens: 100, OutputTokens: 10},
			CostUSD: proto.Float64(0.25), PromptVersion: 3,
		}, nil
	}
	return s
}

// failing returns a summarizer that fails, after a request that was paid for.
func failing(err error) *scripted {
	return &scripted{name: "writer", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{Calls: 1}, err
	}}
}

// heard records the calls of a Listener.
type heard struct {
	reads   []uint32
	total   uint32
	deltas  map[uint32]string
	last    uint32
	checked int
}

func (h *heard) Read(_ context.Context, read, total uint32) {
	h.reads, h.total = append(h.reads, read), total
}

func (h *heard) Delta(_ context.Context, attempt uint32, text string) {
	if h.deltas == nil {
		h.deltas = make(map[uint32]string)
	}
	h.deltas[attempt] += text
	h.last = max(h.last, attempt)
}

func (h *heard) Checked(context.Context) { h.checked++ }

// text returns the text of the last attempt.
func (h *heard) text() string { return h.deltas[h.last] }

// setting is a Writer with its parts.
type setting struct {
	*summaries.Writer
	op       *summaries.Operation
	log      *strings.Builder
	listener *heard
	registry *prometheus.Registry
}

type change func(op *summaries.Operation)

func falling(op *summaries.Operation) {
	op.Policy.Summary.Fallback = compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE.Enum()
}

// newWriter returns a Writer for a summarizer, without a fallback.
func newWriter(t *testing.T, by summarizers.Summarizer, changes ...change) *setting {
	t.Helper()
	return newWriterWith(t, extractive.New(), by, changes...)
}

// newWriterWith is newWriter with a fallback, which is used if a change turns it on.
func newWriterWith(t *testing.T, fallback, by summarizers.Summarizer, changes ...change) *setting {
	t.Helper()
	known := []summarizers.Summarizer{fallback}
	if by.Name() != summaries.Fallback && by.Name() != summarizers.Client {
		known = append(known, by)
	}
	registry, err := summarizers.NewRegistry(known...)
	require.NoError(t, err)
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	s := &setting{log: &strings.Builder{}, listener: &heard{}, registry: prometheus.NewRegistry()}
	s.op = &summaries.Operation{
		ID: "op", SessionUID: "session", State: &session.State{Counter: counter}, Listener: s.listener, ToRead: 1000,
		Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
			Summarizer: proto.String(by.Name()), Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum(),
		}},
	}
	if by.Name() == summarizers.Client {
		s.op.Client, s.op.Policy.Summary.Summarizer = by, proto.String(summaries.Fallback)
	}
	for _, change := range changes {
		change(s.op)
	}
	shapes := make(map[compactordv1.Dialect]dialect.Dialect)
	for _, d := range dialects.All() {
		shapes[d.Kind()] = d
	}
	metrics, err := summaries.NewMetrics(s.registry)
	require.NoError(t, err)
	s.Writer, err = summaries.NewWriter(t.Context(), &summaries.Config{
		Summarizers: registry, Dialects: shapes, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Metrics: metrics,
	}, s.op)
	require.NoError(t, err)
	return s
}

// counted returns the metrics that are not 0, in hundredths, by their names and labels.
func (s *setting) counted(t *testing.T) map[string]int {
	t.Helper()
	families, err := s.registry.Gather()
	require.NoError(t, err)
	all := make(map[string]int)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), "compactord_")
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			all[name] = int(100 * m.GetCounter().GetValue())
		}
	}
	maps.DeleteFunc(all, func(_ string, value int) bool { return value == 0 })
	return all
}

// talk returns messages of an agent at work, from an index on.
func talk(first uint32, texts ...string) []*compactordv1.LoggedMessage {
	logged := make([]*compactordv1.LoggedMessage, len(texts))
	for i, text := range texts {
		role := compactordv1.Role_ROLE_USER
		if i%2 == 1 {
			role = compactordv1.Role_ROLE_ASSISTANT
		}
		logged[i] = &compactordv1.LoggedMessage{
			Index: first + uint32(i), Tokens: uint32(len(text)/4 + 1),
			Message: &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{session.TextPart(text)}},
		}
	}
	return logged
}

// goal returns a summary with a goal, as it is stored.
func goal(text string) string {
	var b strings.Builder
	for i, h := range summarizers.Headings(summarizers.History, nil) {
		b.WriteString(strings.Repeat("#", h.Level) + " " + h.Title + "\n")
		if i == 0 {
			b.WriteString(text + "\n\n")
		} else {
			b.WriteString("- some\n\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// conversation returns a task with some messages.
func conversation() *summaries.Task {
	return &summaries.Task{
		History:   talk(1, "Please mend the parser. "+strings.Repeat("It loops. ", 300), "I did."),
		MaxTokens: 500, Replaces: 1000,
	}
}
