package faults_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

var standard = session.StandardSections()

// crowd counts waiting requests, and lets them go when the wanted number waits.
type crowd struct {
	mu            sync.Mutex
	waiting, most int
	wanted        int
	enough        chan struct{}
}

func newCrowd(wanted int) *crowd { return &crowd{wanted: wanted, enough: make(chan struct{})} }

// arrive returns when the wanted number of requests waits. They have got no byte of their answers yet.
func (c *crowd) arrive() {
	c.mu.Lock()
	c.waiting++
	c.most = max(c.most, c.waiting)
	if c.waiting == c.wanted {
		select {
		case <-c.enough:
		default:
			close(c.enough)
		}
	}
	c.mu.Unlock()
	<-c.enough
	c.mu.Lock()
	c.waiting--
	c.mu.Unlock()
}

// compressing is a policy that lets a model shorten all tool results but the newest.
func compressing(name string, fallback compactordv1.SummaryFallback) *compactordv1.Policy {
	p := daemontest.By(name, fallback, 0)
	p.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{
		CompressObservations: &compactordv1.CompressObservationsStrategy{
			OverTokens: proto.Uint32(64), KeepGroups: proto.Uint32(1),
		},
	}}
	return p
}

// As many results are shortened in parallel as the profile allows. Each replaces its own result, whichever is ready
// first.
func TestResultsAreWrittenSeveralAtATime(t *testing.T) {
	t.Parallel()
	const results = 14
	mark := regexp.MustCompile(`mark-\d+\nline`)
	for configured, atATime := range map[int]int{0: 4, 1: 1, 2: 2, 7: 7, 32: results} {
		t.Run(strconv.Itoa(configured), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, llmtest.Chat, func(p *profileOf, _ *daemontest.Server) { p.Concurrency = configured })
			crowd := newCrowd(atATime)
			m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
				crowd.arrive()
				return llmtest.Text("shorter: " + mark.FindString(req.User))
			})
			d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
			d.Create("s", compressing(m.Name(), noFallback), daemontest.Working(results+1, 3000)...)
			events, err := d.Compact(t.Context(), daemontest.Request("s"))
			require.NoError(t, err)
			requireProgress(t, events)
			require.Equal(t, atATime, crowd.most)
			prune := ending(events).GetCompleted().GetPrune()
			require.Len(t, prune.GetEdits(), results)
			require.EqualValues(t, results, prune.GetProvenance().GetSummarizerCalls())
			require.EqualValues(t, results*int(llmtest.DefaultUsage.Output), prune.GetProvenance().GetUsage().GetOutputTokens())
			for i, e := range prune.GetEdits() {
				require.EqualValues(t, 3+4*i, e.GetIndex())
				require.Contains(t, e.GetReplacement(), "shorter: "+daemontest.Mark(3+4*i)+"\n")
			}
		})
	}
}

// Without a fallback, the first failure cancels the other requests.
func TestFirstFailureCancelsTheOtherResults(t *testing.T) {
	t.Parallel()
	m := newModel(t, llmtest.Messages, nil)
	crowd := newCrowd(4)
	m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
		crowd.arrive()
		if req.Number == 2 {
			return llmtest.Status(401)
		}
		return llmtest.Stall("so far")
	})
	d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
	d.Create("s", compressing(m.Name(), noFallback), daemontest.Working(15, 3000)...)
	before := d.View("s")
	_, err := d.Compact(t.Context(), daemontest.Request("s"))
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.Equal(t, "SUMMARIZER_REFUSED", detailsOf(err).reason)
	require.Len(t, m.server.Requests(), 4)
	for _, req := range m.server.Requests() {
		<-req.Ended()
		if req.Number != 2 {
			<-req.Closed()
		}
	}
	requireSameViews(t, before, d.View("s"))
	attempt := newest(d.Records("s")).GetAttempt()
	require.EqualValues(t, 4, attempt.GetProvenance().GetSummarizerCalls(), "what was cancelled was paid for")
}

// With a fallback the other requests go on, but a provider that refuses the key gets no new ones.
func TestFallbackLetsTheOtherResultsGoOn(t *testing.T) {
	t.Parallel()
	m := newModel(t, llmtest.Chat, func(p *profileOf, _ *daemontest.Server) { p.Concurrency = 3 })
	crowd := newCrowd(3)
	m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
		crowd.arrive()
		return llmtest.Status(401)
	})
	d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
	d.Create("s", compressing(m.Name(), fallingBack), daemontest.Working(9, 3000)...)
	events, err := d.Compact(t.Context(), daemontest.Request("s"))
	require.NoError(t, err)
	prune := ending(events).GetCompleted().GetPrune()
	require.Len(t, prune.GetEdits(), 8)
	require.Equal(t, fallingBack, prune.GetProvenance().GetFallback())
	require.Len(t, m.server.Requests(), 3, "those that were under way")
}

// Cancelling a compaction cancels all its running requests.
func TestCancelEndsAllResultsUnderWay(t *testing.T) {
	t.Parallel()
	m := newModel(t, llmtest.Gemini, nil)
	m.server.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Stall("so far") })
	d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
	d.Create("s", compressing(m.Name(), fallingBack), daemontest.Working(15, 3000)...)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	ended := make(chan error, 1)
	go func() {
		_, err := d.Compact(ctx, daemontest.Request("s"))
		ended <- err
	}()
	m.server.Await(3)
	hangUp()
	require.Equal(t, codes.Canceled, status.Code(<-ended))
	for _, req := range m.server.Requests() {
		<-req.Closed()
	}
	require.Len(t, m.server.Requests(), 4)
}

// The two summaries of a split turn are written in parallel. The second is streamed when the first is complete.
func TestHalvesOfASplitTurnAreWrittenAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, p, nil)
			pieces := make(chan string)
			turnArrived := make(chan *llmtest.Request, 1)
			m.server.Handle(func(req *llmtest.Request) llmtest.Reply {
				if ofTurn(req) {
					turnArrived <- req
					return llmtest.Summary(llmtest.Written{})
				}
				return llmtest.Slow(pieces)
			})
			d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
			d.Create("s", daemontest.By(m.Name(), noFallback, 20), daemontest.Working(3, 500)...)
			go func() {
				// The first summary begins when the second is complete.
				<-(<-turnArrived).Ended()
				for piece := range strings.SplitAfterSeq(llmtest.Written{Sections: standard}.Of(&llmtest.Request{}), " ") {
					pieces <- piece
				}
				close(pieces)
			}()
			events, err := d.Compact(t.Context(), daemontest.Request("s"))
			require.NoError(t, err)
			requireProgress(t, events)
			require.Equal(t, ending(events).GetCompleted().GetCompaction().GetSummary(), lastAttempt(events))
			streamed := ""
			for _, e := range events {
				// Later attempts show what is stored: without empty sections, and with quotes.
				if delta := e.GetSummaryDelta(); delta != nil && delta.GetAttempt() == 1 {
					streamed += delta.GetText()
				}
			}
			require.True(t, strings.HasPrefix(streamed, llmtest.Written{Sections: standard}.Of(&llmtest.Request{})),
				"the first text is shown whole before the second: %s", streamed)
		})
	}
}
