package llm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
	"github.com/compactord/compactord/summarizers/openai"
)

// served returns a model on a real server.
func served(t *testing.T) (*llmtest.Server, llm.Provider) {
	t.Helper()
	server := llmtest.New(t)
	provider, err := openai.New(openai.Options{
		Model: "m", BaseURL: server.BaseURL(llmtest.Chat), APIKey: "key", HTTPClient: server.Client(),
		Overflow: func(_ int, code, _ string) bool { return code == "context_length_exceeded" },
	})
	require.NoError(t, err)
	return server, provider
}

func summarizeOver(
	ctx context.Context, t *testing.T, profile llm.Profile, req *summarizers.Request, provider llm.Provider,
) (*summarizers.Summary, *listener, []time.Duration, error) {
	t.Helper()
	l, c := &listener{t: t}, &clock{}
	summary, err := llm.New(profile, provider, llm.WithTimer(c.after)).Summarize(ctx, req, l)
	return summary, l, c.waits, err
}

func TestOverHTTP(t *testing.T) {
	t.Parallel()
	server, provider := served(t)
	server.Script(
		llmtest.Status(429).Header("Retry-After", "40"),
		llmtest.Cut(good[:100]),
		llmtest.Empty(),
		llmtest.Text(good).Took(llmtest.Usage{Input: 900, Output: 90}),
	)
	req := asking(summarizers.History, long(5)...)
	summary, l, waits, err := summarizeOver(t.Context(), t, priced(), req, provider)
	require.NoError(t, err)
	require.Equal(t, good, summary.Text)
	require.Equal(t, good, l.shown)
	require.Equal(t, uint32(4), summary.Calls)
	require.Len(t, server.Requests(), 4)
	require.Equal(t, 40*time.Second, waits[0])
	require.Len(t, waits, 2)
	require.Positive(t, *summary.CostUSD)
	require.Equal(t, uint32(1_500), server.Requests()[0].MaxTokens)
}

// A server with the window that the profile names never has to refuse a request. A server with a smaller window gets
// halved prompts.
func TestWindowOverHTTP(t *testing.T) {
	t.Parallel()
	for name, window := range map[string]uint32{"as told": small.Window, "smaller": small.Window * 2 / 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, provider := served(t)
			server.Window(window-1_500, func(text string) uint32 { return exactly(t, text) })
			server.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Text(good) })
			req := asking(summarizers.History, long(150)...)
			summary, l, _, err := summarizeOver(t.Context(), t, small, req, provider)
			require.NoError(t, err)
			require.Equal(t, good, summary.Text)
			require.Equal(t, totalOf(req), l.reads[len(l.reads)-1])
			if name == "as told" {
				require.LessOrEqual(t, server.Largest(), window-1_500)
			}
			require.Equal(t, 1, server.MostOpen())
		})
	}
}

func TestCancelClosesTheRequest(t *testing.T) {
	t.Parallel()
	server, provider := served(t)
	server.Script(llmtest.Stall("## Goal\n"))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		server.Await(0)
		cancel(errStopped)
	}()
	summary, _, _, err := summarizeOver(ctx, t, small, asking(summarizers.History, "hello"), provider)
	require.ErrorIs(t, err, errStopped)
	require.Equal(t, uint32(1), summary.Calls)
	<-server.Requests()[0].Closed()
}
