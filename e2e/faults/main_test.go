// Package faults_test tests every known failure of a model through a whole daemon, from the RPC to the provider's HTTP.
// Whatever a provider does, the log is unchanged, or has a valid record that says who wrote the summary.
package faults_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Suite{M: m}) }

const (
	noFallback  = compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL
	fallingBack = compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
)

// model is a summarizer on a scripted provider.
type model struct {
	*llm.Summarizer
	server *llmtest.Server

	mu    sync.Mutex
	waits []time.Duration
}

// tries is how often a request is sent at most.
const tries = 3

// newModel returns a model for a protocol. It does not wait before a retry, but records how long it would.
func newModel(t testing.TB, p llmtest.Protocol, change func(*llm.Profile, *daemontest.Server)) *model {
	t.Helper()
	m := &model{server: llmtest.New(t)}
	profile := llm.Profile{
		Name: p.String(), Kind: daemontest.Kind(p), Model: daemontest.ModelName, Window: 100_000, MaxOutput: 8_000, Tries: tries,
		TokenFactor: 1,
	}
	at := daemontest.Server{BaseURL: m.server.BaseURL(p), APIKey: "key", Client: m.server.Client(), MaxAnswerBytes: 64 << 10}
	if change != nil {
		change(&profile, &at)
	}
	m.Summarizer = llm.New(profile, daemontest.Provider(t, p, at), llm.WithTimer(m.after))
	return m
}

func (m *model) after(d time.Duration) <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits = append(m.waits, d)
	passed := make(chan time.Time, 1)
	passed <- time.Time{}
	return passed
}

// waited returns the waits since its last call.
func (m *model) waited() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	waits := m.waits
	m.waits = nil
	return waits
}

// budget is the budget of a summary in tokens.
const budget = 600

// policy names a summarizer that writes one summary of whole turns.
func policy(name string, fallback compactordv1.SummaryFallback) *compactordv1.Policy {
	p := daemontest.By(name, fallback, 500)
	p.GetStrategy().GetSummarize().SplitTurn = compactordv1.SplitTurn_SPLIT_TURN_OFF.Enum()
	p.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(budget)
	return p
}

// details are an error's reason, metadata and retry delay.
type details struct {
	reason   string
	metadata map[string]string
	retry    time.Duration
}

func detailsOf(err error) details {
	var d details
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			d.reason, d.metadata = detail.GetReason(), detail.GetMetadata()
		case *errdetails.RetryInfo:
			d.retry = detail.GetRetryDelay().AsDuration()
		}
	}
	return d
}

func requireSameViews(t testing.TB, want, got []*compactordv1.ViewMessage) {
	t.Helper()
	require.True(t, slices.EqualFunc(want, got, func(a, b *compactordv1.ViewMessage) bool { return proto.Equal(a, b) }))
}

func ending(events []*compactordv1.CompactionEvent) *compactordv1.CompactionEvent {
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1]
}

// profileOf is the profile that a test changes.
type profileOf = llm.Profile

func summarizersOf(models ...*model) []summarizers.Summarizer {
	all := make([]summarizers.Summarizer, len(models))
	for i, m := range models {
		all[i] = m
	}
	return all
}
