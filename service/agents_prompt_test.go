package service_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// What a summarizer gets as the agent's own prompt is, in every dialect, what the agent sends, up to the cut: all but the
// last message, which may be merged with what follows, are the same bytes.
func TestAgentsPromptIsAPrefixOfTheView(t *testing.T) {
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		_, err := w.service.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: worldSession, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
			Policy: &compactordv1.Policy{
				ContextWindow: proto.Uint32(8000),
				Summary: &compactordv1.SummaryPolicy{
					Summarizer: proto.String("recorder"), CachedPrefix: proto.Bool(true), Redact: proto.Bool(false),
				},
			},
		})
		require.NoError(t, err)
		w.recorder.do = func(
			ctx context.Context, req *summarizers.Request, p summarizers.Progress,
		) (*summarizers.Summary, error) {
			require.Equal(t, summarizers.History, req.Kind, "there is one summary of all that the cut covers")
			w.requirePrefix(ctx, req)
			return faithful(ctx, req, p)
		}
		for range between(t, 5, 40, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 60:
				w.message(t)
			case n < 80:
				w.compact(func() {})
			case n < 90:
				w.prune()
			default:
				w.pinByModel(between(t, 0, 3, "unpin") == 0)
			}
		}
	})
	t.Log(describe(counts))
	for _, d := range dialects.All() {
		require.Greater(t, counts["prompt in "+d.Name()], 10)
	}
	require.Greater(t, counts["prompt equal to its last message"], 50)
}

// requirePrefix compares the agent's prompt that a summarizer is given with the agent's view.
func (w *world) requirePrefix(ctx context.Context, req *summarizers.Request) {
	for _, d := range dialects.All() {
		agents := &follower{}
		if _, err := w.follow(d, agents, 64<<20); err != nil {
			w.counts["calls are open"]++
			continue
		}
		prompt, err := req.View(ctx, d.Kind())
		require.NoError(w.t, err, d.Name())
		require.Equal(w.t, agents.system, listed(prompt.System), d.Name())
		messages := listed(prompt.Messages)
		require.LessOrEqual(w.t, len(messages), len(agents.messages))
		if len(messages) == 0 {
			continue
		}
		last := len(messages) - 1
		require.Equal(w.t, agents.messages[:last], messages[:last], d.Name())
		w.counts["prompt in "+d.Name()]++
		if agents.messages[last] == messages[last] {
			w.counts["prompt equal to its last message"]++
		}
	}
}

func listed[T ~[]byte](raw []T) []string {
	var all []string
	for _, one := range raw {
		all = append(all, string(one))
	}
	return slices.Clip(all)
}
