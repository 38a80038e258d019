package faults_test

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// prose is text of about this many tokens. Summarizers get it whole, since users and agents write such text.
func prose(tokens int) string {
	const line = "The harbour master wrote down each ship that came in, and what it carried.\n"
	return strings.Repeat(line, tokens/15)
}

// largeLog is a log of about this many tokens. Message i contains daemontest.Mark(i).
func largeLog(tokens int) []*compactordv1.Message {
	const each = 1_500
	said := func(role compactordv1.Role, i int) *compactordv1.Message {
		return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
			{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: daemontest.Mark(i) + "\n" + prose(each)}}},
		}}
	}
	messages := make([]*compactordv1.Message, 0, tokens/each+1)
	for len(messages)*each < tokens {
		messages = append(messages, said(compactordv1.Role_ROLE_USER, len(messages)), said(compactordv1.Role_ROLE_ASSISTANT, len(messages)+1))
	}
	return messages
}

var marks = regexp.MustCompile(`mark-\d{5}`)

// A log a hundred times as long as the summarizer's window is read whole. By the server's count each request fits into
// the window together with its answer. The requests are made one at a time.
func TestThreeMillionTokensThroughASmallWindow(t *testing.T) {
	t.Parallel()
	const window = 32_000
	const size = 3_000_000
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	require.NoError(t, err)
	m := newModel(t, llmtest.Chat, func(p *profileOf, _ *daemontest.Server) { p.Window, p.MaxOutput = window, 4_000 })
	m.server.Window(window, func(text string) uint32 { return session.TextTokens(counter, text) })
	// A few lines alone would be refused as a fragment.
	lines := slices.Repeat([]string{"The work goes on with the next module of the shop, as it did before."}, 20)
	m.server.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{Lines: lines}) })
	d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m)})
	p := policy(m.Name(), noFallback)
	p.ContextWindow = proto.Uint32(1_000_000)
	messages := largeLog(size)
	d.Create("s", p, messages...)

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	events, err := d.Compact(t.Context(), daemontest.Request("s"))
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	requireProgress(t, events)
	entry := ending(events).GetCompleted().GetCompaction()
	requests := m.server.Requests()
	require.EqualValues(t, len(requests), entry.GetProvenance().GetSummarizerCalls())
	require.GreaterOrEqual(t, len(requests), size/window)
	require.Equal(t, 1, m.server.MostOpen(), "one request at a time")
	read, sent := map[string]bool{}, 0
	for _, asked := range requests {
		require.LessOrEqual(t, asked.Tokens+asked.MaxTokens, uint32(window), "request %d", asked.Number)
		sent += int(asked.Tokens)
		for _, mark := range marks.FindAllString(asked.User, -1) {
			read[mark] = true
		}
	}
	require.GreaterOrEqual(t, sent, size)
	require.GreaterOrEqual(t, int(entry.GetCovered().GetEnd()), len(messages)-4)
	for i := range entry.GetCovered().GetEnd() {
		require.True(t, read[daemontest.Mark(int(i))], "message %d is covered and was never read", i)
	}
	t.Logf("%d messages in %d requests, the largest of %d tokens; %d MiB of heap before, %d MiB after, %d MiB allocated",
		len(messages), len(requests), m.server.Largest(), before.HeapAlloc>>20, after.HeapAlloc>>20, (after.TotalAlloc-before.TotalAlloc)>>20)
}
