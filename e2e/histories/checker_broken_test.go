package histories_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The checker finds each kind of a broken history: a sound one is changed in one place.
func TestBrokenHistoriesAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, seed(t))
	w.untilKilled(undisturbed)
	d := serve(t, w.store)
	// These calls are there in any case.
	c := w.clients[0]
	c.abandon()
	two := func(id string) *sent { return c.sendTwo(t, d, id) }
	first, second := two("v-first"), two("v-second")
	pin := w.history.begin("a", &compactordv1.PinMessagesRequest{SessionId: "a", RequestId: "v-pin", Indexes: []uint32{second.index}})
	require.NoError(t, c.send(t.Context(), d, pin))
	view := w.history.begin("a", &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "a"},
	})
	require.NoError(t, c.send(t.Context(), d, view))
	third := two("v-third")
	d.stop(t)
	all := w.judge()

	for name, test := range map[string]struct {
		breaks func(h *broken)
		says   string
	}{
		"an acknowledged append is lost": {func(h *broken) {
			lost := *first.call
			lost.request = texts("a", "v-lost")
			h.calls = append(h.calls, &lost)
		}, "v-lost was acknowledged, and is not there"},
		"one is there twice":      {func(h *broken) { h.add(texts("a", "v-first").GetMessages()[0]) }, "of v-first is there 2 times"},
		"one is torn":             {func(h *broken) { h.message(first.index).Message = said("other") }, "1 of 2 messages of v-first are there"},
		"one was refused":         {func(h *broken) { h.of(first.call).outcome = refused }, "v-first is there though it was refused"},
		"one was changed":         {func(h *broken) { h.message(first.index).Message = said(mark("v-first", 0)) }, "is not what v-first sent"},
		"nobody sent one":         {func(h *broken) { h.add(said("other")) }, "was sent by nobody"},
		"one is at another place": {func(h *broken) { h.of(first.call).answer = second.call.answer }, "v-first was acknowledged as messages"},
		"one is not where it was wanted": {func(h *broken) {
			r := texts("a", "v-first")
			r.ExpectedNextIndex = new(first.index - 1)
			h.of(first.call).request = r
		}, "was only wanted at"},
		"two are in another order": {func(h *broken) { h.of(first.call).began = third.call.ended + 1 }, "began after"},
		"a record is another one": {
			func(h *broken) { h.pinned(second.index).Indexes[0]-- }, "is not that of *compactordv1.PinMessagesRequest",
		},
		"nobody asked for a record": {func(h *broken) { h.of(pin).outcome, h.of(pin).answer = refused, nil }, "nobody asked for the records"},
		"a view is too old":         {func(h *broken) { h.of(view).began, h.of(view).ended = third.call.ended+1, third.call.ended+2 }, "saw point"},
		"a view is too new":         {func(h *broken) { h.of(view).began, h.of(view).ended = 0, first.call.began-1 }, "saw point"},
		"a view is another one":     {func(h *broken) { h.of(view).answer = h.withoutMessages(view) }, "is not that of the model"},
		"a session is lost":         {func(h *broken) { delete(h.left, "b") }, "session b was acknowledged, and is not there"},
		"nobody made a session": {func(h *broken) {
			h.calls = slices.DeleteFunc(h.calls, func(c *call) bool {
				_, creates := c.request.(*compactordv1.CreateSessionRequest)
				return creates && c.session == "b"
			})
		}, "session b was made by nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newBroken(w.history.calls, all)
			test.breaks(h)
			require.Contains(t, strings.Join(check(h.calls, h.left), "\n"), test.says)
		})
	}
}

// sent is an append of two texts that was acknowledged.
type sent struct {
	call  *call
	index uint32
}

func (c *client) sendTwo(t *testing.T, d *daemon, id string) *sent {
	t.Helper()
	call := c.history.begin("a", texts("a", id))
	require.NoError(t, c.send(t.Context(), d, call))
	answer, ok := call.answer.(*compactordv1.AppendMessagesResponse)
	require.True(t, ok)
	return &sent{call, answer.GetFirstIndex()}
}

// texts returns a request to append two texts.
func texts(session, id string) *compactordv1.AppendMessagesRequest {
	r := &compactordv1.AppendMessagesRequest{SessionId: session, RequestId: id}
	for n := range 2 {
		r.Messages = append(r.Messages, said(mark(id, n)+" text"))
	}
	return r
}

func said(text string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}

// broken is a copy of a history, with what is left of session a.
type broken struct {
	calls  []*call
	copied map[*call]*call
	left   map[string]*left
}

func newBroken(calls []*call, all map[string]*left) *broken {
	b := &broken{copied: make(map[*call]*call), left: make(map[string]*left)}
	for _, c := range calls {
		copied := *c
		b.calls, b.copied[c] = append(b.calls, &copied), &copied
	}
	for id, l := range all {
		copied := &left{session: l.session}
		for _, m := range l.messages {
			copied.messages = append(copied.messages, proto.CloneOf(m))
		}
		for _, r := range l.records {
			copied.records = append(copied.records, proto.CloneOf(r))
		}
		b.left[id] = copied
	}
	return b
}

// of returns the copy of a call.
func (b *broken) of(c *call) *call { return b.copied[c] }

func (b *broken) message(index uint32) *compactordv1.LoggedMessage {
	return b.left["a"].messages[index]
}

// pinned returns the record that pins a message.
func (b *broken) pinned(index uint32) *compactordv1.PinChange {
	records := b.left["a"].records
	return records[slices.IndexFunc(records, func(r *compactordv1.Record) bool {
		return slices.Equal(r.GetPin().GetIndexes(), []uint32{index})
	})].GetPin()
}

// withoutMessages returns the answer of a view, but empty.
func (b *broken) withoutMessages(c *call) *compactordv1.GetLLMViewResponse {
	answer, _ := proto.Clone(b.of(c).answer).(*compactordv1.GetLLMViewResponse)
	answer.Messages = nil
	return answer
}

// add adds a message to the end of the log.
func (b *broken) add(m *compactordv1.Message) {
	l := b.left["a"]
	l.messages = append(l.messages, &compactordv1.LoggedMessage{
		Index: uint32(len(l.messages)), Sequence: uint32(len(l.messages) + len(l.records)), Message: m,
	})
}
