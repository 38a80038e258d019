package service_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// checkedService is a service whose every response is compared with the naive model of the whole log.
type checkedService struct {
	t        checkedT
	store    storage.Store
	service  *service.Service
	recorder *scripted
	// fallback is extractive, and records its requests where it replaces another summarizer.
	fallback  *scripted
	generator *sessiontest.Generator
	counts    map[string]int
	draw      func(low, high int, label string) int

	// scale makes strategies keep more, for longer conversations.
	scale int
	// received are the indexes that the summarizer got for each entry.
	received map[string][]uint32
	// duringCommit is called once, when the next compaction is about to commit.
	duringCommit func()
	// shown is the last view, and changes the number of view-changing records in the log at that time.
	shown   []*compactordv1.ViewMessage
	changes int
	// late are the late results, by sequence: each changes views like a record.
	late map[uint32]bool
	// followers are clients that update their view in a dialect by deltas.
	followers map[compactordv1.Dialect]*follower
}

const checkedSession = "s"

// checkedT is the part of a test, of testing or of rapid, that a checkedService needs.
type checkedT interface {
	require.TestingT
	Context() context.Context
}

// newCheckedService returns a service with an empty session. draw returns a number from low to high, both included.
func newCheckedService(t checkedT, counts map[string]int, draw func(low, high int, label string) int) *checkedService {
	w := &checkedService{
		t: t, draw: draw, scale: 1, store: memory.New(), counts: counts, received: make(map[string][]uint32),
		followers: make(map[compactordv1.Dialect]*follower), late: make(map[uint32]bool),
		recorder: &scripted{name: "recorder", do: faithful},
		fallback: &scripted{name: "extractive", do: faithful},
	}
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(w.fallback, w.recorder)
	require.NoError(t, err)
	w.service, err = service.New(service.Options{
		Store: w.store, Strategies: registry, Summarizers: writers, Dialects: dialects.All(),
		Logger: slog.New(slog.DiscardHandler), LeastOutlined: 1,
		Hooks: service.Hooks{BeforeCommit: func(context.Context) {
			if during := w.duringCommit; during != nil {
				w.duringCommit = nil
				during()
			}
		}},
	})
	require.NoError(t, err)
	_, err = w.service.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: checkedSession,
		Policy: &compactordv1.Policy{
			Summary:       &compactordv1.SummaryPolicy{Summarizer: proto.String("recorder")},
			ContextWindow: proto.Uint32(8000),
			ContextBlocks: &compactordv1.ContextBlockPolicy{AllowOperator: proto.Bool(true)},
		},
	})
	require.NoError(t, err)
	return w
}

// between draws evenly. rapid's own ranges prefer small numbers, so that most sessions would stay empty.
func between(t *rapid.T, low, high int, label string) int {
	return low + int(rapid.Uint64().Draw(t, label)%uint64(high-low+1))
}

func (w *checkedService) row() *compactordv1.Session {
	answer, err := w.service.GetSession(w.t.Context(), &compactordv1.GetSessionRequest{SessionId: checkedSession})
	require.NoError(w.t, err)
	return answer.GetSession()
}

// log reads the whole log through the API.
func (w *checkedService) log() *sessiontest.Log {
	messages, err := w.service.ListMessages(w.t.Context(), &compactordv1.ListMessagesRequest{
		SessionId: checkedSession, PageSize: 1000, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	require.Empty(w.t, messages.GetNextPageToken())
	records, err := w.service.ListRecords(w.t.Context(), &compactordv1.ListRecordsRequest{
		SessionId: checkedSession, PageSize: 1000, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	require.Empty(w.t, records.GetNextPageToken())
	log := &sessiontest.Log{Items: make([]sessiontest.Item, len(messages.GetMessages())+len(records.GetRecords()))}
	for _, l := range messages.GetMessages() {
		item := sessiontest.Item{
			Message: l.GetMessage(), Arrival: l.GetArrivalEdits(), ParentIndex: l.ParentIndex, ExtraTokens: l.GetExtraTokens(),
		}
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			item.MadeFrom = proto.Uint32(l.GetViewPoint())
		}
		log.Items[l.GetSequence()] = item
	}
	for _, r := range records.GetRecords() {
		log.Items[r.GetSequence()] = sessiontest.Item{Record: r}
	}
	return log
}

// message appends a generated message to the log.
func (w *checkedService) message(t *rapid.T) {
	if w.generator == nil {
		w.generator = sessiontest.NewGenerator(t, make(sessiontest.Counts))
	}
	w.generator.W = sessiontest.Reopen(w.log())
	w.generator.Message(t)
	items := w.generator.W.Log.Items
	drawn := items[len(items)-1]
	m := proto.CloneOf(drawn.Message)
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_FUTURE || m.GetOrigin() == compactordv1.Origin_ORIGIN_MARKER {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	enlarge(m, w.draw(0, 60, "enlarge"))
	req := &compactordv1.AppendMessagesRequest{SessionId: checkedSession, Messages: []*compactordv1.Message{m}}
	if drawn.MadeFrom != nil || drawn.ExtraTokens > 0 {
		token := session.ViewToken{UID: w.row().GetUid(), Point: w.row().GetPoint()}
		if drawn.MadeFrom != nil {
			token.Point = *drawn.MadeFrom
		}
		if drawn.ExtraTokens > 0 {
			token.Extra = &session.HeldExtra{Tokens: drawn.ExtraTokens}
		}
		req.ViewToken = token.String()
	}
	w.counts["message"]++
	row := w.row()
	answer, err := w.service.AppendMessages(w.t.Context(), req)
	if err != nil {
		require.ErrorContains(w.t, err, "reverted")
		w.counts["stale view refused"]++
		return
	}
	log := w.log()
	require.Equal(w.t, log.Newest(), answer.GetPoint())
	w.checkAppended(row.GetResolvedPolicy(), row.GetPoint(), log)
}

// enlarge makes texts longer than their replacements: short content cannot be compacted.
func enlarge(m *compactordv1.Message, words int) {
	more := strings.Repeat(" and more words", words)
	for _, p := range m.GetParts() {
		if text := p.GetText(); text != nil {
			text.Text += more
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if text := rp.GetText(); text != nil {
				text.Text += more
			}
		}
	}
}

func (w *checkedService) revert() {
	point := uint32(w.draw(0, int(w.row().GetPoint()), "point"))
	want := w.viewAt(point)
	items := w.log().Items
	_, err := w.service.RevertToCheckpoint(w.t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: checkedSession, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	require.NoError(w.t, err)
	requireSameBytes(w.t, want, w.view())
	w.counts["revert"]++
	if slices.ContainsFunc(items[point+1:], func(i sessiontest.Item) bool { return i.Record.GetRevert() != nil }) {
		w.counts["revert of a revert"]++
	}
}

func (w *checkedService) policy() {
	policy := w.row().GetPolicy()
	policy.Thinking = compactordv1.ThinkingPolicy(w.draw(1, 4, "thinking")).Enum()
	policy.Summary.Placement = compactordv1.SummaryPlacement(w.draw(1, 3, "placement")).Enum()
	policy.ContextBlocks.MaxTokens = proto.Uint32(uint32(w.draw(0, 2, "tokens of blocks")) * 60)
	w.drawArrival(policy)
	_, err := w.service.UpdateSession(w.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: checkedSession, UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(w.t, err)
	w.counts["policy"]++
}
