package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/prompts"
)

// onAgentsPrompt returns a request on the agent's own prompt, with one message with this content.
func onAgentsPrompt(kind summarizers.Kind, content string) *summarizers.Request {
	req := asking(kind, "hello", "world")
	req.View = func(_ context.Context, d compactordv1.Dialect) (*summarizers.View, error) {
		raw, err := json.Marshal(map[string]string{"role": "user", "content": content, "dialect": d.String()})
		return &summarizers.View{
			System: []json.RawMessage{json.RawMessage(`"You are an agent."`)}, Messages: []json.RawMessage{raw},
			Tools: json.RawMessage(`[{"name":"read"}]`),
		}, err
	}
	return req
}

func anthropicModel(script ...reply) *model {
	return &model{script: script, dialect: compactordv1.Dialect_DIALECT_ANTHROPIC}
}

func TestSummaryOnTheAgentsPrompt(t *testing.T) {
	t.Parallel()
	req := onAgentsPrompt(summarizers.History, "hello")
	r := summarizeBy(t.Context(), t, small, req, anthropicModel(says(good)))
	require.NoError(t, r.err)
	require.True(t, r.summary.CachedPrefix)
	require.Len(t, r.sent, 1)
	require.Contains(t, string(r.sent[0].View.Messages[0]), "DIALECT_ANTHROPIC")
	require.Empty(t, r.sent[0].System)
	require.Equal(t, prompts.Closing(req).Text, r.sent[0].User)
	require.Equal(t, uint32(1_500), r.sent[0].MaxOutputTokens)
	requireAllRead(t, r, req)
}

// The agent's own prompt does not end with the first part of a turn or with a tool result, so these are not written on
// it.
func TestOnlyTheHistoryIsSummarizedOnTheAgentsPrompt(t *testing.T) {
	t.Parallel()
	for _, kind := range []summarizers.Kind{summarizers.TurnPrefix, summarizers.Observation} {
		r := summarize(t, small, onAgentsPrompt(kind, "hello"), says(summaryOf(kind, "- done")+"done"))
		require.NoError(t, r.err)
		require.Nil(t, r.sent[0].View)
		require.False(t, r.summary.CachedPrefix)
	}
}

func TestConversationAsTextInstead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script []reply
		onView int
		why    string
	}{
		"overflow":       {[]reply{fails(&summarizers.ProviderError{Overflow: true, Retryable: true}), says(good)}, 1, "overflow"},
		"bad request":    {[]reply{fails(status(400)), says(good)}, 1, "refused"},
		"too much to do": {[]reply{fails(status(503)), fails(status(400)), says(good)}, 2, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := summarize(t, small, onAgentsPrompt(summarizers.History, "hello"), c.script...)
			require.NoError(t, r.err)
			require.False(t, r.summary.CachedPrefix)
			require.Equal(t, c.why, r.summary.AsText)
			require.Len(t, r.sent, c.onView+1)
			for i, sent := range r.sent {
				require.Equal(t, i < c.onView, sent.View != nil, "send %d", i)
			}
		})
	}
	t.Run("cannot be drawn", func(t *testing.T) {
		t.Parallel()
		req := onAgentsPrompt(summarizers.History, "hello")
		req.View = func(context.Context, compactordv1.Dialect) (*summarizers.View, error) { return nil, errStopped }
		r := summarize(t, small, req, says(good))
		require.NoError(t, r.err)
		require.Equal(t, "not_drawn", r.summary.AsText)
		req.View = func(context.Context, compactordv1.Dialect) (*summarizers.View, error) {
			return nil, fmt.Errorf("drawing: %w", summarizers.ErrSecretInItem)
		}
		r = summarize(t, small, req, says(good))
		require.NoError(t, r.err)
		require.Equal(t, "secret_in_item", r.summary.AsText)
		require.Nil(t, r.sent[0].View)
	})
	t.Run("is no JSON", func(t *testing.T) {
		t.Parallel()
		req := onAgentsPrompt(summarizers.History, "hello")
		req.View = func(context.Context, compactordv1.Dialect) (*summarizers.View, error) {
			return &summarizers.View{Messages: []json.RawMessage{json.RawMessage(`{"role":`)}}, nil
		}
		r := summarize(t, small, req, says(good))
		require.NoError(t, r.err)
		require.Nil(t, r.sent[0].View)
	})
	t.Run("does not fit", func(t *testing.T) {
		t.Parallel()
		r := summarize(t, small, onAgentsPrompt(summarizers.History, strings.Repeat("word ", 31_000)), says(good))
		require.NoError(t, r.err)
		require.Equal(t, "does_not_fit", r.summary.AsText)
		require.Nil(t, r.sent[0].View)
	})
}

// The conversation is not sent as text after an error about the key or the model, after the last retry, or after a
// model's answer was refused twice.
func TestNotAsTextInstead(t *testing.T) {
	t.Parallel()
	for _, code := range []int{401, 402, 403, 404, 429, 503} {
		r := summarize(t, small, onAgentsPrompt(summarizers.History, "hello"), fails(status(code)))
		require.Equal(t, code, requireProviderError(t, r.err).Status)
		for _, sent := range r.sent {
			require.NotNil(t, sent.View, code)
		}
	}
	r := summarize(t, small, onAgentsPrompt(summarizers.History, "hello"), says("no"), says("no"), says(good))
	var refused *summarizers.CheckError
	require.ErrorAs(t, r.err, &refused)
	require.Equal(t, summarizers.CheckSections, refused.Check)
	require.Len(t, r.sent, 2)
	for _, sent := range r.sent {
		require.NotNil(t, sent.View)
	}
}

func TestCancelledWhileDrawing(t *testing.T) {
	t.Parallel()
	for name, view := range map[string]*summarizers.View{"without a view": nil, "with a view": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			req := onAgentsPrompt(summarizers.History, "hello")
			req.View = func(ctx context.Context, _ compactordv1.Dialect) (*summarizers.View, error) {
				cancel(errStopped)
				return view, context.Cause(ctx)
			}
			if view != nil {
				req.View = func(context.Context, compactordv1.Dialect) (*summarizers.View, error) {
					cancel(errStopped)
					return view, nil
				}
			}
			r := summarizeBy(ctx, t, small, req, &model{script: []reply{says(good)}})
			require.Equal(t, errStopped, r.err)
			require.Empty(t, r.sent)
		})
	}
}

// Media are counted as media, in all dialects, and text that only looks like them as text.
func TestMediaInTheAgentsPrompt(t *testing.T) {
	t.Parallel()
	base64 := strings.Repeat("QUJD0/8x", 20_000)
	for name, c := range map[string]struct {
		message string
		cached  bool
	}{
		"openai chat":      {`{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64 + `"}}]}`, true},
		"openai responses": {`{"content":[{"type":"input_image","image_url":"data:image/png;base64,` + base64 + `"}]}`, true},
		"anthropic":        {`{"content":[{"source":{"type":"base64","media_type":"image/png","data":"` + base64 + `"}}]}`, true},
		"gemini":           {`{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + base64 + `"}}]}`, true},
		"text":             {`{"content":"` + base64 + `"}`, false},
		"a tool's data":    {`{"data":"` + strings.Repeat("word ", 31_000) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := asking(summarizers.History, "hello")
			req.View = func(context.Context, compactordv1.Dialect) (*summarizers.View, error) {
				return &summarizers.View{Messages: []json.RawMessage{json.RawMessage(c.message)}}, nil
			}
			r := summarize(t, small, req, says(good))
			require.NoError(t, r.err)
			require.Equal(t, c.cached, r.summary.CachedPrefix)
			require.Equal(t, c.cached, r.summary.AsText == "")
			estimate, err := llm.New(small, &model{}).Estimate(t.Context(), req)
			require.NoError(t, err)
			if c.cached {
				require.Greater(t, estimate.InputTokens, uint32(1_600))
				require.Less(t, estimate.InputTokens, uint32(3_000))
			}
		})
	}
}

// A prompt that no window of the model's size holds is not drawn: all of it would be in memory.
func TestTooLongPromptIsNotDrawn(t *testing.T) {
	t.Parallel()
	for bytes, drawn := range map[int]bool{1_000: true, 1_000_000: false} {
		req := onAgentsPrompt(summarizers.History, "hello")
		req.ViewBytes = bytes
		asked, render := false, req.View
		req.View = func(ctx context.Context, d compactordv1.Dialect) (*summarizers.View, error) {
			asked = true
			return render(ctx, d)
		}
		r := summarize(t, small, req, says(good))
		require.NoError(t, r.err)
		require.Equal(t, drawn, asked, "%d bytes", bytes)
		require.Equal(t, drawn, r.summary.CachedPrefix)
		if !drawn {
			require.Equal(t, summarizers.AsTextDoesNotFit, r.summary.AsText)
		}
	}
}
