package views_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// written is a log that a test writes.
type written struct{ *sessiontest.Writer }

func (l written) State(_ context.Context, _ *storagev1.Session, h *storagev1.Head) (*session.State, error) {
	return l.StateAt(session.Point(h)), nil
}

func (l written) Drawing(
	_ context.Context, _ *storagev1.Session, h *storagev1.Head, _ int,
) (*session.Drawing, error) {
	return l.DrawingAt(session.Point(h), 3), nil
}

func (l written) PolicyAt(
	_ context.Context, _ *storagev1.Session, h *storagev1.Head,
) (*compactordv1.Policy, error) {
	return l.Log.PolicyAt(session.Point(h)), nil
}

func (l written) HeadAt(_ context.Context, _ *storagev1.Session, point uint32) (*storagev1.Head, error) {
	return l.Writer.HeadAt(point), nil
}

func (l written) row() *storagev1.Session {
	return &storagev1.Session{Uid: "u", Head: l.Head, ResolvedPolicy: l.Policy}
}

// client has a view in a dialect, and asks for what is new.
type client struct {
	token string
	kept  *views.KeptLists
}

func (c *client) ask(
	t *rapid.T, log written, shape dialect.Dialect, r views.Request,
) (*compactordv1.GetLLMViewResponse, error) {
	r.Held, r.Kept = c.token, c.kept
	answer, err := views.InDialect(t.Context(), log, shape, &r)
	if err == nil {
		c.token = answer.GetViewToken()
	}
	return answer, err
}

// The pages of a list that is kept are no work, those of its rest that of a page, and all others that of the view.
func TestWorkOfAPage(t *testing.T) {
	t.Parallel()
	const all = 3520
	for _, c := range []struct {
		kept, stretch int
		kind          compactordv1.Dialect
		// least and most are what pages after the first one are; all stands for the view.
		least, most int
	}{
		{1 << 20, 1 << 30, compactordv1.Dialect_DIALECT_ANTHROPIC, 0, 0},
		{1 << 20, 1, compactordv1.Dialect_DIALECT_ANTHROPIC, 0, 200},
		{0, 1, compactordv1.Dialect_DIALECT_ANTHROPIC, all, all},
		{0, 1, compactordv1.Dialect_DIALECT_UNSPECIFIED, 200, 200},
	} {
		w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
		log := written{w}
		for range 20 {
			w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart(strings.Repeat("Look. ", 10))), nil)
			w.Append(said(compactordv1.Role_ROLE_ASSISTANT, session.TextPart(strings.Repeat("I looked. ", 10))), nil)
		}
		require.EqualValues(t, all, w.Head.GetViewBytes())
		r := &views.Request{
			Row: log.row(), Head: w.Head, MaxBytes: 200, HeldBytes: c.stretch, Kept: &views.KeptLists{MaxBytes: c.kept},
		}
		var answer *compactordv1.GetLLMViewResponse
		var err error
		var work []int
		for more := true; more; more = answer.GetHasMore() {
			work = append(work, r.WorkBytes(c.kind))
			if c.kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
				answer, err = views.Neutral(t.Context(), log, r)
			} else {
				shape, known := dialects.For(c.kind)
				require.True(t, known)
				answer, err = views.InDialect(t.Context(), log, shape, r)
			}
			require.NoError(t, err)
			r.Held = answer.GetViewToken()
		}
		require.Equal(t, []int{all, c.least, c.most}, []int{work[0], slices.Min(work[1:]), slices.Max(work[1:])})
	}
}

// Page by page and from any earlier view on, a view that is rendered in stretches is the one that is rendered as a whole.
func TestStretchesAreTheWholeView(t *testing.T) {
	t.Parallel()
	pages := 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		log := written{g.W}
		type pair struct{ whole, stretched client }
		clients := make(map[compactordv1.Dialect]*pair)
		for range sessiontest.Steps(t, 60) {
			g.Step(t)
			if !rapid.Bool().Draw(t, "view") {
				continue
			}
			shape := rapid.SampledFrom(dialects.All()).Draw(t, "dialect")
			both := clients[shape.Kind()]
			if both == nil || rapid.IntRange(0, 9).Draw(t, "new client") == 0 {
				both = &pair{client{kept: keeping(t)}, client{kept: keeping(t)}}
				clients[shape.Kind()] = both
			}
			r := request(t, log)
			for more := true; more; {
				r.MaxBytes = rapid.IntRange(1, 3000).Draw(t, "page")
				r.HeldBytes = 1 << 30
				want, wantErr := both.whole.ask(t, log, shape, r)
				r.HeldBytes = rapid.IntRange(1, 100).Draw(t, "stretch")
				got, err := both.stretched.ask(t, log, shape, r)
				require.Equal(t, wantErr, err)
				require.True(t, proto.Equal(want, got), "%s\nwhole %s\nin stretches %s", shape.Name(),
					prototext.Format(want), prototext.Format(got))
				if more = got.GetHasMore(); more {
					pages++
				}
			}
		}
	})
	require.Positive(t, pages, "no view had several pages")
}

func keeping(t *rapid.T) *views.KeptLists {
	if rapid.IntRange(0, 3).Draw(t, "keeps nothing") == 0 {
		return nil
	}
	return &views.KeptLists{MaxBytes: rapid.SampledFrom([]int{1000, 10_000, 1 << 20}).Draw(t, "kept")}
}

func request(t *rapid.T, log written) views.Request {
	r := views.Request{
		Row: log.row(), MarkBreakpoints: rapid.Bool().Draw(t, "marked"),
		Thinking: rapid.SampledFrom([]compactordv1.ThinkingPolicy{
			compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED, compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL,
			compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE,
		}).Draw(t, "thinking"),
	}
	r.Head = r.Row.GetHead()
	if rapid.IntRange(0, 4).Draw(t, "earlier") == 0 {
		r.Head = log.Writer.HeadAt(uint32(rapid.Uint64().Draw(t, "point") % uint64(log.Log.Newest()+1)))
	}
	return r
}
