package service_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
)

// settled is a copy of a store in use: its opening records no ends of compactions, which run under the other opening.
type settled struct{ storage.Store }

func (settled) Abandoned(context.Context) ([]storage.Ref, error) { return nil, nil }

// wholeAnswer is all that a daemon says of the sessions.
type wholeAnswer struct {
	sessions []*compactordv1.Session
	messages []*compactordv1.LoggedMessage
	records  []*compactordv1.Record
	view     []*compactordv1.ViewMessage
}

func toldBy(d *daemon) wholeAnswer {
	d.t.Helper()
	list, err := d.sessions.ListSessions(d.t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(d.t, err)
	sessions := list.GetSessions()
	for _, s := range list.GetSessions() {
		row, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: s.GetSessionId()})
		require.NoError(d.t, err)
		sessions = append(sessions, row.GetSession())
	}
	view, err := d.compactions.GetLLMView(d.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, MaxBytes: 64 << 20,
	})
	require.NoError(d.t, err)
	return wholeAnswer{sessions, d.messages("s"), d.records("s"), view.GetMessages()}
}

// compare compares what the daemon says with what one on a copy of the file says, with the model, and with what was
// acknowledged. A call that is to be repeated may have taken effect.
func (f *faultyRun) compare(open bool) {
	f.t.Helper()
	here := toldBy(f.d)
	content, err := os.ReadFile(f.path)
	require.NoError(f.t, err)
	copied := filepath.Join(f.t.TempDir(), "copy.db")
	require.NoError(f.t, os.WriteFile(copied, content, 0o600))
	store := openStore(f.t, copied)
	problems, err := sessionlog.Check(f.t.Context(), store, "")
	require.NoError(f.t, err)
	require.Empty(f.t, problems)
	d := start(f.t, withStore(settled{store}))
	there := toldBy(d)
	d.stop()
	// There are hundreds of them.
	require.NoError(f.t, os.Remove(copied))
	requireSameList(f.t, here.sessions, there.sessions)
	requireSameList(f.t, here.messages, there.messages)
	requireSameList(f.t, here.records, there.records)
	requireSameBytes(f.t, here.view, there.view)
	f.compareWithModel(here)
	f.compareMessages(here, open)
	f.compareRecords(here, open)
	if !open {
		require.Equal(f.t, f.created, len(here.sessions) == 4, "%s", here.sessions)
	}
}

func (f *faultyRun) compareWithModel(here wholeAnswer) {
	f.t.Helper()
	log := &sessiontest.Log{Items: make([]sessiontest.Item, len(here.messages)+len(here.records))}
	for _, l := range here.messages {
		item := sessiontest.Item{
			Message: l.GetMessage(), Arrival: l.GetArrivalEdits(), ExtraTokens: l.GetExtraTokens(),
		}
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			item.MadeFrom = proto.Uint32(l.GetViewPoint())
		}
		log.Items[l.GetSequence()] = item
	}
	for _, r := range here.records {
		log.Items[r.GetSequence()] = sessiontest.Item{Record: r}
	}
	requireSameBytes(f.t, modelAt(log, log.Newest()).View(session.ViewOptions{}).Messages, here.view)
}

// compareMessages requires the messages of each append that was acknowledged, once and whole, and of no others but the
// one that is open.
func (f *faultyRun) compareMessages(here wholeAnswer, open bool) {
	f.t.Helper()
	found := make(map[string]int)
	for _, l := range here.messages {
		found[idOf(l.GetMessage())]++
	}
	for id := range f.appended {
		require.Positive(f.t, found[id], "%s was acknowledged", id)
	}
	for id, n := range found {
		require.Equal(f.t, 4, n, "messages of %s: all or none, and once", id)
		require.True(f.t, open || f.appended[id], "%s was refused", id)
	}
}

// compareRecords requires the records of each call that was acknowledged, once, and of no others but the one that is
// open.
func (f *faultyRun) compareRecords(here wholeAnswer, open bool) {
	f.t.Helper()
	entries := make(map[string]int)
	points := make(map[uint32]bool)
	written, failed := make(map[string]bool), make(map[string]bool)
	for _, r := range here.records {
		switch {
		case r.GetAttempt() != nil:
			failed[r.GetAttempt().GetProvenance().GetOperationId()] = true
		case r.GetCompaction() != nil:
			entries[r.GetCompaction().GetId()]++
			written[r.GetCompaction().GetProvenance().GetOperationId()] = true
		case r.GetPrune() != nil:
			entries[r.GetPrune().GetId()]++
			written[r.GetPrune().GetProvenance().GetOperationId()] = true
		case r.GetRevert() != nil, r.GetPin() != nil:
			points[r.GetSequence()] = true
		}
	}
	for operation := range failed {
		require.NotContains(f.t, written, operation, "it has failed, and is there")
	}
	for id := range f.entries {
		require.Equal(f.t, 1, entries[id], "%s was acknowledged", id)
	}
	for at := range f.points {
		require.True(f.t, points[at], "record %d was acknowledged", at)
	}
	if !open {
		require.Len(f.t, entries, len(f.entries), "compactions and prunes that were refused")
		require.Len(f.t, points, len(f.points), "reverts and pins that were refused")
	}
}

// openAgain ends the daemon. The next one records the ends of compactions that this one could not record, and nothing
// else.
func (f *faultyRun) openAgain() {
	f.t.Helper()
	before := toldBy(f.d)
	f.d.stop()
	d := start(f.t, withStore(openStore(f.t, f.path)))
	after := toldBy(d)
	requireSameList(f.t, before.messages, after.messages)
	requireSameBytes(f.t, before.view, after.view)
	requireSameList(f.t, before.records, after.records[:len(before.records)])
	for _, r := range after.records[len(before.records):] {
		require.Equal(f.t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, r.GetAttempt().GetErrorReason())
		require.True(f.t, f.store.refusedEnd(f.t, r.GetAttempt().GetProvenance().GetOperationId()))
	}
	d.stop()
}

// idOf returns the request that appended a message.
func idOf(m *compactordv1.Message) string {
	if r := m.GetParts()[0].GetToolResult(); r != nil {
		return r.GetCallId()
	}
	text := m.GetParts()[0].GetText().GetText()
	return strings.TrimSuffix(text[strings.LastIndex(text, "<")+1:], ">")
}

func requireSameList[M proto.Message](t *testing.T, want, got []M) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "%d\n%v\n%v", i, want[i], got[i])
	}
}
