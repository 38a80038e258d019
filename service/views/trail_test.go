package views_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// tester is a test, or one check of a property.
type tester interface {
	require.TestingT
	Context() context.Context
}

// holder is a client that holds a list in a dialect, and puts together what it gets.
type holder struct {
	token  string
	trails *views.Trails
	list   []string
}

// wholeList renders the view of a request as a whole, in one piece, and checks it by its JSON.
func wholeList(t tester, log written, shape dialect.Dialect, r views.Request) *dialect.Rendered {
	state := log.StateAt(session.Point(r.Head))
	options := session.ViewOptions{Thinking: r.Thinking, Dialect: shape.Kind()}
	view := state.View(options)
	view.With(r.Extra)
	opts := dialect.RenderOptions{Adaptive: session.ThinksAdaptively(state.Policy, options)}
	if r.MarkBreakpoints {
		opts.Breakpoints = views.StableEnds(view.Messages)
	}
	messages := make([]*compactordv1.Message, len(view.Messages))
	for i, vm := range view.Messages {
		messages[i] = vm.GetMessage()
	}
	whole, err := shape.Render(messages, opts)
	require.NoError(t, err)
	require.Empty(t, shape.Validate(&whole.List, dialecttest.ModeOf(messages)))
	return whole
}

func texts[T ~[]byte](list []T) []string {
	written := make([]string, len(list))
	for i, raw := range list {
		written[i] = string(raw)
	}
	return written
}

func extra(t *rapid.T, log written, h *views.Request) session.ExtraBlocks {
	var given []*compactordv1.ContextBlock
	for i := range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "extra blocks") {
		given = append(given, &compactordv1.ContextBlock{
			Name: fmt.Sprint("extra ", i), Parts: []*compactordv1.Part{session.TextPart(fmt.Sprint("Now ", rapid.IntRange(0, 2).Draw(t, "now")))},
		})
	}
	return session.NewExtraBlocks(log.StateAt(session.Point(h.Head)).Counter, h.Head, log.Policy, given)
}

// requireAsWhole asks for a view with and without what is remembered of earlier ones. Both must be the same, and what the
// client puts together must be what is rendered as a whole.
func (c *holder) requireAsWhole(t *rapid.T, log written, shape dialect.Dialect, r views.Request) {
	// A client can also ask for a page, and for what is new before it has read the others.
	page := rapid.SampledFrom([]int{1, 300, 1 << 40, 1 << 40, 1 << 40}).Draw(t, "page")
	c.requireSame(t, log, shape, r, page, rapid.IntRange(1, 400).Draw(t, "held bytes"))
}

// requireSame is requireAsWhole for a page of so many bytes, where so many are held beside it.
func (c *holder) requireSame(t tester, log written, shape dialect.Dialect, r views.Request, page, held int) {
	r.Held, r.MaxBytes, r.HeldBytes = c.token, page, 1<<30
	want, wantErr := views.InDialect(t.Context(), log, shape, &r)
	r.Trails, r.HeldBytes = c.trails, held
	got, err := views.InDialect(t.Context(), log, shape, &r)
	require.Equal(t, wantErr, err)
	require.True(t, proto.Equal(want, got), "%s\nas a whole %s\nfrom what is remembered %s", shape.Name(),
		prototext.Format(want), prototext.Format(got))
	if err != nil {
		return
	}
	whole := wholeList(t, log, shape, r)
	c.token = got.GetViewToken()
	c.list = append(c.list[:got.GetUnchangedPrefix():got.GetUnchangedPrefix()], got.GetMessagesJson()...)
	list := texts(whole.Messages)
	if got.GetHasMore() {
		require.Less(t, len(c.list), len(list))
		list = list[:len(c.list)]
	}
	require.True(t, slices.Equal(list, c.list), "%q\n%q", list, c.list)
	require.True(t, slices.Equal(texts(whole.System), got.GetSystemJson()))
	require.EqualValues(t, whole.Merged, got.GetViewReport().GetMessagesMerged())
	require.Len(t, got.GetViewReport().GetRepairs(), len(whole.Repairs))
	require.Len(t, got.GetViewReport().GetPartsDropped(), len(whole.Dropped))
}

// Whatever happens in a session, views that go on from what is remembered are byte for byte those that are drawn, rendered
// and compared as a whole.
func TestRememberedListsAreTheWholeViews(t *testing.T) {
	t.Parallel()
	wentOn := make(map[session.Delta]int)
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		log := written{g.W}
		trails := &views.Trails{MaxBytes: rapid.SampledFrom([]int{0, 10_000, 1 << 20, 1 << 20, 1 << 20}).Draw(t, "trails")}
		// Few kinds of views in one life, so that each is asked for often.
		shape := rapid.SampledFrom(dialects.All()).Draw(t, "dialect")
		// A long conversation has few records.
		messages := rapid.IntRange(0, 9).Draw(t, "messages")
		holders := make(map[string]*holder)
		for range 40 + sessiontest.Steps(t, 60) {
			if rapid.IntRange(0, 9).Draw(t, "step") < messages {
				g.Message(t)
			} else {
				g.Step(t)
			}
			for range rapid.IntRange(0, 3).Draw(t, "views") {
				r := request(t, log)
				r.Extra = extra(t, log, &r)
				name := fmt.Sprint(r.MarkBreakpoints, r.Thinking, rapid.IntRange(0, 2).Draw(t, "client"))
				c := holders[name]
				if c == nil {
					c = &holder{trails: trails}
					holders[name] = c
				}
				if relation := views.RestartOf(c.token, c.trails, shape, r); relation >= 0 && session.Awaited(r.Head) == nil {
					wentOn[relation]++
				}
				c.requireAsWhole(t, log, shape, r)
			}
		}
	})
	require.Positive(t, wentOn[session.DeltaAppended], "views that went on after more messages")
	require.Positive(t, wentOn[session.DeltaChanged], "views that went on before what had changed")
}

// lowest is a log that notes the lowest index of the messages that were read.
type lowest struct {
	written

	read uint32
}

func (l *lowest) Drawing(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, wanted int,
) (*session.Drawing, error) {
	drawing, err := l.written.Drawing(ctx, row, h, wanted)
	if err == nil {
		drawing.Pieces = lowestPieces{drawing.Pieces, l}
	}
	return drawing, err
}

type lowestPieces struct {
	session.Pieces

	of *lowest
}

func (p lowestPieces) Active(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	p.of.read = min(p.of.read, start)
	return p.Pieces.Active(ctx, start, end)
}

// A delta reads nothing before the newest answer of the model that was asked for, in any dialect, and is admitted as that
// much work. Without what is remembered, it reads the whole log.
func TestDeltasDrawOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	for _, shape := range dialects.All() {
		for _, trails := range []*views.Trails{{MaxBytes: 1 << 20}, nil} {
			w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
			log := &lowest{written: written{w}}
			text := session.TextPart(strings.Repeat("Look. ", 100))
			ask := func(held string) (*compactordv1.GetLLMViewResponse, int) {
				r := &views.Request{Row: log.row(), Head: w.Head, MaxBytes: 1 << 20, Trails: trails, Held: held}
				log.read = w.Head.GetNextIndex()
				work := r.WorkBytes(shape.Kind())
				answer, err := views.InDialect(t.Context(), log, shape, r)
				require.NoError(t, err)
				return answer, work
			}
			for range 100 {
				w.Append(said(compactordv1.Role_ROLE_USER, text), nil)
				w.Append(said(compactordv1.Role_ROLE_ASSISTANT, text), nil)
			}
			answer, all := ask("")
			newest := w.Head.GetNextIndex() - 1
			for range 3 {
				w.Append(said(compactordv1.Role_ROLE_USER, text), nil)
				held := answer.GetUnchangedPrefix() + uint32(len(answer.GetMessagesJson()))
				var work int
				answer, work = ask(answer.GetViewToken())
				require.Equal(t, held, answer.GetUnchangedPrefix())
				if trails == nil {
					require.Zero(t, log.read)
				} else {
					require.Equal(t, newest, log.read, "the newest answer that the client has")
					require.Less(t, work, all/20)
				}
				newest = w.Head.GetNextIndex() - 2
				w.Append(said(compactordv1.Role_ROLE_ASSISTANT, text), nil)
			}
		}
	}
}

// Where LATEST blocks come, the end of the leading messages loses its breakpoint to that before the blocks: the list has
// changed at its start, although the messages that have changed are at its end.
func TestBreakpointOfTheLeadGoesWithLatestBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
		log := written{w}
		c := &holder{trails: &views.Trails{MaxBytes: 1 << 20}}
		view := func(shape dialect.Dialect) {
			c.requireAsWhole(t, log, shape, views.Request{Row: log.row(), Head: w.Head, MarkBreakpoints: true})
		}
		turn := func() {
			w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("Look.")), nil)
			w.Append(said(compactordv1.Role_ROLE_ASSISTANT, session.TextPart("I looked.")), nil)
		}
		shape := rapid.SampledFrom(dialects.All()).Draw(t, "dialect")
		w.Append(said(compactordv1.Role_ROLE_SYSTEM, session.TextPart("Help.")), nil)
		turn()
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
			Id: "c", FirstKeptIndex: 3, Summary: "They looked.",
		}}})
		for range 4 {
			turn()
		}
		view(shape)
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: &compactordv1.ContextBlockChange{
			Set: []*compactordv1.ContextBlock{{
				Name: "plan", Place: compactordv1.BlockPlace_BLOCK_PLACE_LATEST,
				Parts: []*compactordv1.Part{session.TextPart("Look again.")},
			}},
		}}})
		view(shape)
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: &compactordv1.ContextBlockChange{
			Removed: []string{"plan"},
		}}})
		view(shape)
	})
}

// What one client's extra blocks make of the end of a list is not what another client has.
func TestExtraBlocksAreNotRemembered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
		log := written{w}
		trails := &views.Trails{MaxBytes: 1 << 20}
		with, without := &holder{trails: trails}, &holder{trails: trails}
		shape := rapid.SampledFrom(dialects.All()).Draw(t, "dialect")
		for range 5 {
			w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("Look.")), nil)
			r := views.Request{Row: log.row(), Head: w.Head}
			without.requireAsWhole(t, log, shape, r)
			r.Extra = extra(t, log, &r)
			with.requireAsWhole(t, log, shape, r)
			w.Append(said(compactordv1.Role_ROLE_ASSISTANT, session.TextPart("I looked.")), nil)
		}
	})
}

// A policy can let blocks speak with the operator's voice, or no longer. The client has them with the other voice.
func TestBlocksThatGetTheOperatorsVoiceAreSentAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
		log := written{w}
		c := &holder{trails: &views.Trails{MaxBytes: 1 << 20}}
		shape := rapid.SampledFrom(dialects.All()).Draw(t, "dialect")
		w.Append(said(compactordv1.Role_ROLE_SYSTEM, session.TextPart("Help.")), nil)
		w.Write(&compactordv1.Record{Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: &compactordv1.ContextBlockChange{
			Set: []*compactordv1.ContextBlock{{
				Name: "rules", Place: compactordv1.BlockPlace_BLOCK_PLACE_LEADING, Operator: true,
				Parts: []*compactordv1.Part{session.TextPart("Be brief.")},
			}},
		}}})
		w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("Look.")), nil)
		for _, allowed := range []bool{false, true, false} {
			policy := placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER)
			policy.ContextBlocks = &compactordv1.ContextBlockPolicy{AllowOperator: proto.Bool(allowed)}
			w.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
				PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
			}})
			c.requireAsWhole(t, log, shape, views.Request{Row: log.row(), Head: w.Head})
		}
	})
}
