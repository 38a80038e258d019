package service_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
)

// holder is a client that updates its view by deltas and counts what it was sent.
type holder struct {
	*daemon
	held []*compactordv1.ViewMessage
	// sent is the number of messages in the last responses, unchanged the prefix that was not sent.
	sent, unchanged int
	token           string
}

func (h *holder) refresh(maxBytes uint32) {
	h.t.Helper()
	h.sent = 0
	for page := 0; ; page++ {
		answer, err := h.compactions.GetLLMView(h.t.Context(), &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
			ViewToken: h.token, MaxBytes: maxBytes,
		})
		require.NoError(h.t, err)
		if page == 0 {
			h.unchanged = int(answer.GetUnchangedPrefix())
		}
		h.held = append(h.held[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
		h.sent += len(answer.GetMessages())
		h.token = answer.GetViewToken()
		if !answer.GetHasMore() {
			return
		}
		require.NotEmpty(h.t, answer.GetMessages(), "a page holds at least one message")
	}
}

func TestDeltasCarryOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	for _, maxBytes := range []uint32{0, 1, 700} {
		t.Run(fmt.Sprintf("pages of %d bytes", maxBytes), func(t *testing.T) {
			d := start(t)
			d.create("s", small(1500))
			h := &holder{daemon: d}
			for _, m := range working(6, 2000) {
				d.append("s", m)
				h.refresh(maxBytes)
				require.Equal(t, 1, h.sent, "one new message, one sent")
			}
			h.refresh(maxBytes)
			require.Zero(t, h.sent)

			_, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			h.refresh(maxBytes)
			require.Equal(t, 1, h.unchanged, "the leading messages stand")
			requireSameView(t, d.view("s"), h.held)

			d.append("s", working(3, 9000)[1:]...)
			h.refresh(maxBytes)
			before := len(h.held)
			_, err = d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
				Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
			})
			require.NoError(t, err)
			h.refresh(maxBytes)
			require.Greater(t, h.unchanged, 2, "lead and summary stand, and what lies before the first edit")
			require.Len(t, h.held, before)
			requireSameView(t, d.view("s"), h.held)

			_, err = d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 10},
			})
			require.NoError(t, err)
			h.refresh(maxBytes)
			require.Zero(t, h.unchanged, "after a revert nothing can be relied on")
			requireSameView(t, d.view("s"), h.held)
		})
	}
}

// Tokens of another incarnation, of other options, or made up, lead to the whole view and no error.
func TestTokensThatDoNotFitGiveTheWholeView(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("hello"))
	h := &holder{daemon: d}
	h.refresh(0)
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	d.create("s", nil)
	d.append("s", user("hello again"))
	h.refresh(0)
	require.Zero(t, h.unchanged)
	requireSameView(t, d.view("s"), h.held)

	for _, token := range []string{"made up", "AAAA", h.token + "x"} {
		h.token = token
		h.refresh(0)
		require.Zero(t, h.unchanged)
	}
	h.refresh(0)
	answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: h.token,
		Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum(),
	})
	require.NoError(t, err)
	require.Zero(t, answer.GetUnchangedPrefix(), "other options")
}

// An answer from a view that was reverted meanwhile is refused; one from an older view is not.
func TestAppendFromARevertedView(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("one"), assistant("two"), user("three"))
	h := &holder{daemon: d}
	h.refresh(0)
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 2},
	})
	require.NoError(t, err)
	late := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{assistant("late")}, ViewToken: h.token,
	}
	_, err = d.sessions.AppendMessages(t.Context(), late)
	requireReason(t, err, codes.Aborted, "HISTORY_REVERTED")
	require.Len(t, d.view("s"), 2)
	late.ViewToken = "made up"
	_, err = d.sessions.AppendMessages(t.Context(), late)
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}

func TestRevertBeyondTheEnd(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("one"))
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 2},
	})
	info := requireReason(t, err, codes.InvalidArgument, "POINT_OUT_OF_RANGE")
	require.Equal(t, "1", info.GetMetadata()["last_point"])
	_, err = d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, AsOf: proto.Uint32(2),
	})
	requireReason(t, err, codes.InvalidArgument, "POINT_OUT_OF_RANGE")
}

// A dry run and a THRESHOLD compaction below the trigger write nothing.
func TestCompactionsThatDoNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	records := len(d.records("s"))

	req := compactRequest("s", nil)
	req.DryRun = true
	events, err := d.compact(req)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.NotNil(t, events[0].GetPlanned().GetCut())

	req = compactRequest("s", nil)
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	events, err = d.compact(req)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD, events[0].GetSkipped().GetReason())
	require.Len(t, d.records("s"), records)
	require.NotNil(t, events[0].GetSkipped().GetReport())
}

// Seed cases 74 and 80: without anything new nothing is done, no summarizer is asked, and there is no entry.
func TestCase074And080NothingNewIsSkipped(t *testing.T) {
	t.Parallel()
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withSummarizer(writer))
	d.create("s", by("writer", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	asked, records := len(writer.seen()), len(d.records("s"))
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED, last(t, events).GetSkipped().GetReason())
	require.Len(t, writer.seen(), asked)
	require.Len(t, d.records("s"), records)

	for name, messages := range map[string][]*compactordv1.Message{
		"empty": nil, "rules-alone": {system("Be brief.")}, "all-of-it-is-kept": working(2, 100),
	} {
		d.create(name, by("writer", noFallback, small(1000)))
		if len(messages) > 0 {
			d.append(name, messages...)
		}
		records := len(d.records(name))
		events, err = d.compact(compactRequest(name, nil))
		require.NoError(t, err)
		require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
		require.Len(t, writer.seen(), asked)
		require.Len(t, d.records(name), records)
	}
}

// Reading a long view in pages reads each message once, since a page's token says where the view goes on.
func TestPagesOfAViewGoOnWhereTheLastEnded(t *testing.T) {
	t.Parallel()
	counting := &countingStore{Store: memory.New()}
	d := start(t, withStore(counting))
	d.create("s", nil)
	const messages = 300
	for range messages / 2 {
		d.append("s", user(long(50)), assistant(long(50)))
	}
	counting.read.Store(0)
	req := viewRequest()
	req.MaxBytes = 2000
	view := d.fullView(req)
	require.Len(t, view, messages)
	require.Less(t, counting.read.Load(), int64(messages*messages/8), "pages read what is left, and not all each time")
	requireSameView(t, d.view("s"), view)
}

// A stream without news sends heartbeats.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, withHooks(service.Hooks{BeforeCommit: g.hold}), func(o *service.ServerOptions) {
		o.Heartbeat = time.Millisecond
	})
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := d.compactions.Compact(ctx, compactRequest("s", nil))
	require.NoError(t, err)
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		if answer.GetEvent().GetHeartbeat() != nil {
			return
		}
	}
}
