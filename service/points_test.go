package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// checkpoint creates a checkpoint; with announce the model sees it.
func (d *daemon) checkpoint(id string, announce bool) *compactordv1.Checkpoint {
	d.t.Helper()
	answer, err := d.sessions.CreateCheckpoint(d.t.Context(), &compactordv1.CreateCheckpointRequest{
		SessionId: id, Announce: announce, Title: "before the risk",
	})
	require.NoError(d.t, err)
	return answer.GetCheckpoint()
}

func (d *daemon) revert(req *compactordv1.RevertToCheckpointRequest) *compactordv1.RevertToCheckpointResponse {
	d.t.Helper()
	answer, err := d.sessions.RevertToCheckpoint(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func toCheckpoint(id uint32) *compactordv1.RevertToCheckpointRequest {
	return &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: id},
	}
}

func toPoint(point uint32) *compactordv1.RevertToCheckpointRequest {
	return &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	}
}

func turnsBack(n uint32) *compactordv1.RevertToCheckpointRequest {
	return &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: n},
	}
}

func undo() *compactordv1.RevertToCheckpointRequest {
	return &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
	}
}

// asOf returns the view at a point.
func (d *daemon) asOf(point uint32) []*compactordv1.ViewMessage {
	d.t.Helper()
	req := viewRequest()
	req.AsOf = proto.Uint32(point)
	return d.fullView(req)
}

func (d *daemon) session(id string) *compactordv1.GetSessionResponse {
	d.t.Helper()
	answer, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(d.t, err)
	return answer
}

// requireUnchanged asserts that do leaves the row and the log of session s as they were.
func (d *daemon) requireUnchanged(t *testing.T, do func()) {
	t.Helper()
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	messages, records := d.messages("s"), d.records("s")
	do()
	after, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	d.requireSameRow(t, row, after)
	require.Len(t, d.messages("s"), len(messages))
	require.Len(t, d.records("s"), len(records))
}

// requireSameRow asserts that nothing was written to a row. Where daemons share the store, a row also names a revert with a
// summary while that runs.
func (d *daemon) requireSameRow(t *testing.T, row, after *storagev1.Session) {
	t.Helper()
	if _, shared := d.store.(storage.Shared); shared {
		require.Empty(t, after.GetRunning())
		row.Running, row.Revision = nil, after.GetRevision()
	}
	require.Empty(t, cmp.Diff(row, after, protocmp.Transform()))
}

// requireSound asserts that the heads in the store are those of the logs.
func (d *daemon) requireSound(t *testing.T) {
	t.Helper()
	problems, err := sessionlog.Check(t.Context(), d.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

func textOf(m *compactordv1.Message) string {
	var text strings.Builder
	for _, p := range m.GetParts() {
		text.WriteString(p.GetText().GetText())
	}
	return text.String()
}

// readsALargeFile appends the use case of checkpoints: announced checkpoints, a file of 500 lines of which little
// matters, and the model's wish to go back.
func readsALargeFile(d *daemon) {
	var file strings.Builder
	for line := range 500 {
		fmt.Fprintf(&file, "%d: def function_%d(): pass\n", line+1, line)
	}
	d.checkpoint("s", true)
	d.append("s", user("Read main.py and analyse it."))
	d.checkpoint("s", true)
	d.append("s", assistant("", call("1", "read_file", `{"path":"main.py"}`)), toolResult("1", file.String()))
	d.checkpoint("s", true)
	d.append("s", assistant("The file is too large; I send myself a mail.",
		call("2", "SendDMail", `{"checkpoint_id":2,"message":"only lines 50 to 60 matter"}`)))
}

// Seed cases 188 and 193: the model goes back, and sees what it saw then, plus the message. The checkpoint and its
// announcement keep their number, and can be gone back to again.
func TestCase188And193MessageFromTheFuture(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	readsALargeFile(d)
	before := d.session("s")

	req := toCheckpoint(2)
	req.MessageFromFuture = "  Only lines 50 to 60 of main.py matter: the parser.\n"
	answer := d.revert(req)
	require.Equal(t, uint32(4), answer.GetMessagesPutAside(), "call, file, third announcement, mail")
	require.Nil(t, answer.FirstRequestPutAside)
	require.Equal(t, uint32(7), answer.GetRecord().GetRevert().GetFutureIndex())
	require.Equal(t, uint32(2), answer.GetRecord().GetRevert().GetCheckpointId())
	require.Equal(t, answer.GetRecord().GetSequence()+1, answer.GetPoint())

	view := d.view("s")
	require.Equal(t, []uint32{0, 1, 2, 7}, indexes(view))
	require.Contains(t, textOf(view[0].GetMessage()), "Checkpoint 1")
	require.Equal(t, "Read main.py and analyse it.", textOf(view[1].GetMessage()))
	require.Contains(t, textOf(view[2].GetMessage()), "Checkpoint 2")
	mail := view[3].GetMessage()
	require.Equal(t, compactordv1.Role_ROLE_USER, mail.GetRole())
	require.Equal(t, compactordv1.Origin_ORIGIN_FUTURE, mail.GetOrigin())
	require.Contains(t, textOf(mail), "\nOnly lines 50 to 60 of main.py matter: the parser.\n</", "trimmed")
	require.Contains(t, textOf(mail), "not reverted")

	require.Less(t, answer.GetReport().GetTokens()*20, before.GetReport().GetTokens())
	logged := d.messages("s")
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE, logged[4].GetState())
	require.Contains(t, logged[4].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText(),
		"500: def function_499(): pass", "nothing is lost")

	d.append("s", assistant("Then I read those."))
	again := toCheckpoint(2)
	again.MessageFromFuture = "Lines 50 to 60 hold a bug."
	d.revert(again)
	require.Equal(t, []uint32{0, 1, 2, 9}, indexes(d.view("s")))
	require.Equal(t, uint32(4), d.checkpoint("s", false).GetId(), "an id is never used again")
	d.requireSound(t)
}

// The view after a revert is that of its point, whatever was done since.
func TestRevertByEveryTarget(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	checkpoint := d.checkpoint("s", false)
	atCheckpoint := d.view("s")
	d.append("s", working(3, 2000)[1:]...)
	twoTurns := d.view("s")
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	compacted := d.view("s")
	d.append("s", user("one more"), assistant("done"), user("and another"))

	answer := d.revert(turnsBack(2))
	require.Equal(t, uint32(3), answer.GetMessagesPutAside())
	require.Equal(t, "one more", textOf(d.messages("s")[answer.GetFirstRequestPutAside()].GetMessage()))
	requireSameView(t, compacted, d.view("s"))

	d.revert(toCheckpoint(checkpoint.GetId()))
	requireSameView(t, atCheckpoint, d.view("s"))
	d.revert(undo())
	requireSameView(t, compacted, d.view("s"))
	d.revert(undo())
	// The second undo undoes the first.
	requireSameView(t, atCheckpoint, d.view("s"))
	d.revert(undo())

	// The turns from before the compaction are shown in full.
	d.revert(turnsBack(1))
	view := d.view("s")
	requireSameView(t, twoTurns[:len(twoTurns)-4], view)
	d.requireSound(t)
}

// Undo undoes the newest compaction or prune with what came after it, and skips changes of the policy.
func TestUndo(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), undo())
		requireReason(t, err, codes.FailedPrecondition, "NOTHING_TO_REVERT")
	})
	d.append("s", working(6, 2000)...)
	whole := d.view("s")
	_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	pruned := d.view("s")
	_, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	d.append("s", user("after it"))
	policy := small(1000)
	policy.Thinking = compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum()
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(t, err)

	answer := d.revert(undo())
	require.Equal(t, uint32(1), answer.GetMessagesPutAside(), "what was appended since goes with it")
	requireSameView(t, pruned, d.view("s"))
	require.Equal(t, compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP,
		d.session("s").GetSession().GetResolvedPolicy().GetThinking(), "the policy stays")
	d.revert(toPoint(answer.GetRecord().GetRevert().GetPoint() - 1))
	requireSameView(t, whole, d.view("s"))
	d.requireSound(t)
}

// A revert to the newest point writes nothing, so an undo after it undoes an earlier change. A message from the future
// is appended anyway.
func TestRevertToTheNewestPoint(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	whole := d.view("s")
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	checkpoint := d.checkpoint("s", false)
	for _, req := range []*compactordv1.RevertToCheckpointRequest{
		toPoint(checkpoint.GetPoint()), toCheckpoint(checkpoint.GetId()),
	} {
		req.RequestId = "again"
		d.requireUnchanged(t, func() {
			answer := d.revert(req)
			require.Nil(t, answer.GetRecord())
			require.Equal(t, checkpoint.GetPoint(), answer.GetPoint())
			require.Zero(t, answer.GetMessagesPutAside())
			require.Empty(t, cmp.Diff(d.session("s").GetReport(), answer.GetReport(), protocmp.Transform()))
		})
	}
	d.revert(undo())
	requireSameView(t, whole, d.view("s"))

	req := toPoint(d.session("s").GetSession().GetPoint())
	req.MessageFromFuture = "Mind the tests."
	require.NotNil(t, d.revert(req).GetRecord().GetRevert().FutureIndex)
	d.requireSound(t)
}

// A revert to a target that does not exist is refused with its name, and nothing is written.
func TestRevertToUnknownTargets(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("first"), assistant("ok"))
	early := d.session("s").GetSession().GetPoint()
	d.append("s", user("second"), assistant("ok"))
	checkpoint := d.checkpoint("s", false)
	d.revert(toPoint(early))
	blank := toPoint(early)
	blank.MessageFromFuture = " \n\t"
	for name, c := range map[string]struct {
		req      *compactordv1.RevertToCheckpointRequest
		code     codes.Code
		reason   string
		metadata map[string]string
	}{
		"checkpoint 0":     {toCheckpoint(0), codes.NotFound, "CHECKPOINT_NOT_FOUND", map[string]string{"checkpoint_id": "0", "last_checkpoint": "1"}},
		"later checkpoint": {toCheckpoint(2), codes.NotFound, "CHECKPOINT_NOT_FOUND", map[string]string{"checkpoint_id": "2", "last_checkpoint": "1"}},
		"put aside": {
			toCheckpoint(1), codes.FailedPrecondition, "CHECKPOINT_PUT_ASIDE",
			map[string]string{"checkpoint_id": "1", "point": fmt.Sprint(checkpoint.GetPoint())},
		},
		"past the end":   {toPoint(1000), codes.InvalidArgument, "POINT_OUT_OF_RANGE", map[string]string{"point": "1000"}},
		"too many turns": {turnsBack(2), codes.FailedPrecondition, "NOTHING_TO_REVERT", map[string]string{"turns": "2", "active_turns": "1"}},
		"no turns":       {turnsBack(0), codes.InvalidArgument, "INVALID_FIELD", nil},
		"blank message":  {blank, codes.InvalidArgument, "INVALID_FIELD", nil},
		"no target":      {&compactordv1.RevertToCheckpointRequest{SessionId: "s"}, codes.InvalidArgument, "INVALID_FIELD", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, summarize := range []bool{false, true} {
				req := proto.CloneOf(c.req)
				if req.Summarize = summarize; summarize && req.GetMessageFromFuture() != "" {
					continue
				}
				d.requireUnchanged(t, func() {
					_, err := d.sessions.RevertToCheckpoint(t.Context(), req)
					info := requireReason(t, err, c.code, c.reason)
					require.Subset(t, info.GetMetadata(), c.metadata)
				})
			}
		})
	}
	d.revert(toPoint(checkpoint.GetPoint()))
	require.Len(t, d.view("s"), 4, "by its point it can be gone back to")
	d.revert(toCheckpoint(1))
}

// A request that is sent again gets the recorded response and writes nothing.
func TestPointRequestsSentAgain(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", system("rules"), user("first"), assistant("ok"), user("second"))
	mail := turnsBack(1)
	mail.MessageFromFuture, mail.RequestId = "mail", "mail"
	summary := turnsBack(1)
	summary.Summarize, summary.RequestId = true, "summary"
	for _, send := range []func() (proto.Message, error){
		func() (proto.Message, error) {
			return d.sessions.CreateCheckpoint(t.Context(), &compactordv1.CreateCheckpointRequest{
				SessionId: "s", Announce: true, RequestId: "checkpoint",
			})
		},
		func() (proto.Message, error) { return d.sessions.RevertToCheckpoint(t.Context(), mail) },
		func() (proto.Message, error) { return d.sessions.RevertToCheckpoint(t.Context(), summary) },
		func() (proto.Message, error) {
			return d.sessions.ClearSession(t.Context(), &compactordv1.ClearSessionRequest{SessionId: "s", RequestId: "clear"})
		},
		func() (proto.Message, error) {
			return d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{
				SessionId: "s", NewSessionId: "f", RequestId: "fork",
			})
		},
	} {
		first, err := send()
		require.NoError(t, err)
		d.requireUnchanged(t, func() {
			second, err := send()
			require.NoError(t, err)
			require.True(t, proto.Equal(first, second), "%v\n%v", first, second)
		})
	}
	mail.MessageFromFuture = "another"
	_, err := d.sessions.RevertToCheckpoint(t.Context(), mail)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
}

// Seed cases 27 and 186: usage reports of a history that is put aside do not count any more. Neither do those from
// before the point: the whole view is estimated until the next answer has a report.
func TestCase027And186ReportsOfAHistoryPutAside(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	reported := assistant("Done.")
	reported.StopReason, reported.Usage = compactordv1.StopReason_STOP_REASON_END, &compactordv1.Usage{TotalTokens: 5000}
	d.append("s", user("first"), proto.CloneOf(reported))
	point := d.session("s").GetSession().GetPoint()
	reported.Usage.TotalTokens = 90_000
	d.append("s", user("second"), reported)
	require.Equal(t, uint32(90_000), d.session("s").GetReport().GetTokens())

	answer := d.revert(toPoint(point))
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, answer.GetReport().GetSource())
	require.Equal(t, tokensOf(d.view("s")), answer.GetReport().GetTokens())
	estimated := answer.GetReport().GetTokens()
	pending := d.append("s", user("12345678")).GetReport()
	require.Equal(t, estimated+2, pending.GetTokens())

	reported.Usage.TotalTokens = 6000
	again := d.append("s", proto.CloneOf(reported)).GetReport()
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, again.GetSource())
	require.Equal(t, uint32(6000), again.GetTokens())
}

func TestMarkersAndFutureAreNoTurns(t *testing.T) {
	t.Parallel()
	for _, m := range []*compactordv1.Message{session.Marker(1), session.Future("x"), session.FutureSummary("x", nil)} {
		require.False(t, session.StartsTurn(m))
	}
}
