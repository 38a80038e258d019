package service_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage/memory"
)

func (d *daemon) pin(id string, indexes ...uint32) *compactordv1.PinMessagesResponse {
	d.t.Helper()
	answer, err := d.sessions.PinMessages(d.t.Context(), &compactordv1.PinMessagesRequest{SessionId: id, Indexes: indexes})
	require.NoError(d.t, err)
	return answer
}

func (d *daemon) unpin(id string, indexes ...uint32) *compactordv1.UnpinMessagesResponse {
	d.t.Helper()
	answer, err := d.sessions.UnpinMessages(d.t.Context(), &compactordv1.UnpinMessagesRequest{SessionId: id, Indexes: indexes})
	require.NoError(d.t, err)
	return answer
}

func (d *daemon) prune(policy *compactordv1.Policy) *compactordv1.PruneEntry {
	d.t.Helper()
	answer, err := d.compactions.Prune(d.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: policy,
	})
	require.NoError(d.t, err)
	return answer.GetPrune()
}

// hideAll returns a policy that hides every result of a finished group.
func hideAll() *compactordv1.Policy {
	return &compactordv1.Policy{PruneStrategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
		PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
			KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0), KeepTurns: proto.Uint32(0),
		},
	}}}
}

// shownIndexes returns the messages of the log that a view shows, by index.
func shownIndexes(view []*compactordv1.ViewMessage) map[uint32]*compactordv1.ViewMessage {
	shown := make(map[uint32]*compactordv1.ViewMessage)
	for _, vm := range view {
		if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok {
			shown[o.Index] = vm
		}
	}
	return shown
}

// A pinned message and its whole tool group are shown word for word, through prunes and compactions, until it is
// unpinned. Then its edits apply again.
func TestPinsHoldWholeGroups(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(500))
	d.append("s", user(long(200)), assistant("two calls", call("a", "read", `{"path":"a"}`), call("b", "read", `{"path":"b"}`)),
		toolResult("a", long(400)), toolResult("b", long(400)), assistant("a third", call("c", "read", "{}")), toolResult("c", long(400)),
		assistant(long(4000)), user("next"), assistant(long(600)))
	require.Len(t, d.prune(hideAll()).GetEdits(), 3)
	hidden := d.view("s")

	// Pinning one result also pins the call and the other result.
	pinned := d.pin("s", 3, 3)
	require.Equal(t, []uint32{3}, pinned.GetRecord().GetPin().GetIndexes())
	require.Equal(t, []uint32{1, 2, 3}, pinned.GetRecord().GetPin().GetMembers())
	require.Equal(t, pinned.GetRecord().GetSequence(), pinned.GetPoint())
	require.Equal(t, tokensOf(d.view("s")), pinned.GetReport().GetTokens())
	shown := shownIndexes(d.view("s"))
	require.Equal(t, long(400), shown[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText())
	require.NotEqual(t, long(400), shown[5].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText())

	d.completed(nil)
	shown = shownIndexes(d.view("s"))
	for index := uint32(1); index <= 3; index++ {
		require.True(t, shown[index].GetOutOfPlace(), "message %d", index)
		require.Empty(t, shown[index].GetEdits())
	}
	require.NotContains(t, shown, uint32(0))
	require.NotContains(t, shown, uint32(5))

	// A covered message is shown out of place as soon as it is pinned.
	d.pin("s", 0)
	require.True(t, shownIndexes(d.view("s"))[0].GetOutOfPlace())
	d.unpin("s", 0, 1)
	for _, vm := range d.view("s") {
		require.False(t, vm.GetOutOfPlace())
	}

	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: pinned.GetPoint()},
	})
	require.NoError(t, err)
	unpinned := d.unpin("s", 2)
	require.Equal(t, []uint32{1, 2, 3}, unpinned.GetRecord().GetUnpin().GetMembers())
	requireSameView(t, hidden, d.view("s"))
}

// Messages say whether they are pinned, in listings and to watchers, at once.
func TestListedMessagesSayWhatIsPinned(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("", call("a", "read", "{}")), toolResult("a", "x"), user("next"))
	point := d.session("s").GetSession().GetPoint()
	pinned := func() []uint32 {
		var listed, watched []uint32
		for _, l := range d.messages("s") {
			if l.GetPinned() {
				listed = append(listed, l.GetIndex())
			}
		}
		w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(0)})
		defer w.end()
		for range d.session("s").GetSession().GetPoint() + 1 {
			if l := w.next().GetMessage(); l.GetPinned() {
				watched = append(watched, l.GetIndex())
			}
		}
		require.Equal(t, listed, watched)
		return listed
	}
	require.Empty(t, pinned())
	d.pin("s", 2, 3)
	require.Equal(t, []uint32{1, 2, 3}, pinned())
	d.unpin("s", 3)
	require.Equal(t, []uint32{1, 2}, pinned())
	d.revert(toPoint(point))
	require.Empty(t, pinned())
}

// Results of a pinned call that come later are pinned, and so not hidden.
func TestLaterResultsOfAPinnedCallArePinned(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("", call("a", "read", "{}"), call("b", "read", "{}")), toolResult("a", long(400)))
	require.Equal(t, []uint32{1, 2}, d.pin("s", 1).GetRecord().GetPin().GetMembers())
	d.append("s", toolResult("b", long(400)), user("next"), assistant("done"))
	require.Nil(t, d.prune(hideAll()))
	require.Equal(t, []uint32{1, 2, 3}, d.unpin("s", 3).GetRecord().GetUnpin().GetMembers())
	require.Len(t, d.prune(hideAll()).GetEdits(), 2)
}

// Pinning pinned messages writes nothing, and neither does unpinning others.
func TestPinsThatChangeNothingWriteNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("", call("a", "read", "{}")), toolResult("a", "x"))
	point := d.unpin("s", 0, 1).GetPoint()
	require.Equal(t, uint32(3), point)
	d.pin("s", 2)
	again := d.pin("s", 1, 2)
	require.Nil(t, again.GetRecord())
	require.Equal(t, uint32(4), again.GetPoint())
	require.NotNil(t, again.GetReport())
	require.Nil(t, d.unpin("s", 0).GetRecord())
	require.Len(t, d.records("s"), 2)
}

func TestPinsAreSafeToSendAgain(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"))
	pin := &compactordv1.PinMessagesRequest{SessionId: "s", Indexes: []uint32{0}, RequestId: "1"}
	first, err := d.sessions.PinMessages(t.Context(), pin)
	require.NoError(t, err)
	unpin := &compactordv1.UnpinMessagesRequest{SessionId: "s", Indexes: []uint32{0}, RequestId: "2"}
	_, err = d.sessions.UnpinMessages(t.Context(), unpin)
	require.NoError(t, err)
	again, err := d.sessions.PinMessages(t.Context(), pin)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
	pin.Indexes = []uint32{0, 0}
	_, err = d.sessions.PinMessages(t.Context(), pin)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
	unpin.RequestId = "1"
	_, err = d.sessions.UnpinMessages(t.Context(), unpin)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
	require.Len(t, d.records("s"), 3)
}

func TestPinsOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("go"), assistant("one"), user("two"))
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 2},
	})
	require.NoError(t, err)
	before := d.view("s")
	for _, call := range []func(indexes ...uint32) error{
		func(indexes ...uint32) error {
			_, err := d.sessions.PinMessages(t.Context(), &compactordv1.PinMessagesRequest{SessionId: "s", Indexes: indexes})
			return err
		},
		func(indexes ...uint32) error {
			_, err := d.sessions.UnpinMessages(t.Context(), &compactordv1.UnpinMessagesRequest{SessionId: "s", Indexes: indexes})
			return err
		},
	} {
		for _, index := range []uint32{3, 4294967295} {
			info := requireReason(t, call(0, index), codes.NotFound, "CONTENT_NOT_FOUND")
			require.Equal(t, map[string]string{"index": strconv.FormatUint(uint64(index), 10), "next_index": "3"}, info.GetMetadata())
		}
		info := requireReason(t, call(0, 2), codes.FailedPrecondition, "MESSAGE_PUT_ASIDE")
		require.Equal(t, "2", info.GetMetadata()["index"])
		requireReason(t, call(), codes.InvalidArgument, "INVALID_FIELD")
		requireReason(t, call(make([]uint32, 1001)...), codes.InvalidArgument, "INVALID_FIELD")
	}
	requireSameView(t, before, d.view("s"))
	require.Len(t, d.records("s"), 2)
	_, err = d.sessions.PinMessages(t.Context(), &compactordv1.PinMessagesRequest{SessionId: "other", Indexes: []uint32{0}})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}

func TestPinsAreLimited(t *testing.T) {
	inFull(t)
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	const more = 1000
	messages := make([]*compactordv1.Message, more)
	for i := range messages {
		messages[i] = user("x")
	}
	var index uint32
	next := func() []uint32 {
		indexes := make([]uint32, more)
		for i := range indexes {
			indexes[i] = index
			index++
		}
		return indexes
	}
	for range session.MaxPins / more {
		d.append("s", messages...)
		d.pin("s", next()...)
	}
	d.append("s", user("one more"))
	_, err := d.sessions.PinMessages(t.Context(), &compactordv1.PinMessagesRequest{SessionId: "s", Indexes: []uint32{0, index}})
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, map[string]string{"limit": "max_pins", "value": "10000"}, info.GetMetadata())
	d.unpin("s", 17)
	d.pin("s", index)
}

// A message that is pinned during a compaction is neither edited by it nor lost in its summary.
func TestPinWhileACompactionRuns(t *testing.T) {
	t.Parallel()
	var meanwhile func()
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) { meanwhile() }}))
	d.create("s", small(500))
	d.append("s", working(8, 2000)...)
	meanwhile = func() { d.pin("s", 3) }
	entry := d.completed(nil)
	shown := shownIndexes(d.view("s"))
	require.Greater(t, entry.GetFirstKeptIndex(), uint32(3))
	require.True(t, shown[2].GetOutOfPlace())
	require.True(t, shown[3].GetOutOfPlace())
	require.Equal(t, tokensOf(d.view("s")), entry.GetTokensAfter())

	d.create("p", &compactordv1.Policy{Strategy: hideAll().GetPruneStrategy()})
	d.append("p", working(8, 2000)...)
	meanwhile = func() { d.pin("p", 2) }
	events, err := d.compact(compactRequest("p", nil))
	require.NoError(t, err)
	for _, e := range last(t, events).GetCompleted().GetPrune().GetEdits() {
		require.NotEqual(t, uint32(3), e.GetIndex())
	}
	require.Empty(t, shownIndexes(d.view("p"))[3].GetEdits())
	require.NotEmpty(t, shownIndexes(d.view("p"))[7].GetEdits())
}

// pinByModel pins or unpins some messages, and compares the result with the model's rule for tool groups.
func (w *checkedService) pinByModel(unpin bool) {
	log := w.log()
	model := sessiontest.NewModel(log, log.Newest(), log.PolicyAt(log.Newest()))
	if len(model.Messages) == 0 {
		return
	}
	var indexes []uint32
	for range w.draw(1, 3, "pinned") {
		indexes = append(indexes, model.Messages[w.draw(0, len(model.Messages)-1, "message")].Index)
	}
	want := model.WithGroups(indexes)
	changes := slices.ContainsFunc(want, func(index uint32) bool { return model.Pinned(index) == unpin })
	var record *compactordv1.Record
	if unpin {
		answer, err := w.service.UnpinMessages(w.t.Context(), &compactordv1.UnpinMessagesRequest{
			SessionId: checkedSession, Indexes: indexes,
		})
		require.NoError(w.t, err)
		record = answer.GetRecord()
	} else {
		answer, err := w.service.PinMessages(w.t.Context(), &compactordv1.PinMessagesRequest{
			SessionId: checkedSession, Indexes: indexes,
		})
		require.NoError(w.t, err)
		record = answer.GetRecord()
	}
	require.Equal(w.t, changes, record != nil, "%v", indexes)
	if record == nil {
		return
	}
	w.counts[fmt.Sprintf("pin, of groups %t, undone %t", len(want) > len(indexes), unpin)]++
	require.Equal(w.t, want, slices.Concat(record.GetPin().GetMembers(), record.GetUnpin().GetMembers()))
}

// I1 to I8 and I13 with messages pinned and unpinned at any time, also during compactions.
func TestInvariantsWithPins(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		for range between(t, 10, 60, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 60:
				w.message(t)
			case n < 72:
				w.compact(func() { w.pinByModel(false) })
			case n < 80:
				w.prune()
			case n < 85:
				w.revert()
			case n < 94:
				w.pinByModel(false)
			default:
				w.pinByModel(true)
			}
			w.check()
		}
	})
	t.Log(describe(counts))
}
