package faults_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// children work at the same time, half of them on calls of their parent.
	children = 8
	rounds   = 3
)

func said(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}

// A parent with eight children at once that append, compact and end, while it goes on itself: no result is lost or comes
// twice, and no child sees anything of another.
func TestEightChildrenAtOnce(t *testing.T) {
	t.Parallel()
	d := daemontest.Start(t, daemontest.Options{})
	policy := daemontest.By("extractive", noFallback, 300)
	d.Create("parent", policy, said(compactordv1.Role_ROLE_USER, "Look at all modules."))
	asking := said(compactordv1.Role_ROLE_ASSISTANT, "I start sub-agents.")
	for i := range children / 2 {
		asking.Parts = append(asking.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: fmt.Sprintf("call-%d", i), Name: "task"},
		}})
	}
	w := &family{t: t, d: d}
	w.append("parent", asking)
	var working sync.WaitGroup
	for i := range children {
		working.Go(func() { w.note(w.child(i)) })
	}
	working.Go(func() {
		for i := range children {
			w.note(w.tryAppend("parent", said(compactordv1.Role_ROLE_USER, fmt.Sprintf("note %d", i))))
		}
	})
	working.Wait()
	require.NoError(t, w.err())

	results := make(map[string][]*compactordv1.LoggedMessage)
	for _, l := range w.messages("parent") {
		if l.GetChild() != nil {
			id := l.GetChild().GetSessionId()
			results[id] = append(results[id], l)
		}
	}
	require.Len(t, results, children, "no result is lost")
	for i := range children {
		id := fmt.Sprintf("child-%d", i)
		require.Len(t, results[id], 1, id)
		require.Contains(t, results[id][0].GetMessage().String(), secret(i, rounds-1))
		require.Equal(t, i < children/2, results[id][0].GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER)
		w.requireApart(t, i)
		child, err := d.Sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
		require.NoError(t, err)
		require.NotEmpty(t, child.GetSession().GetCompactionId(), "it has compacted")
	}
	session, err := d.Sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "parent"})
	require.NoError(t, err)
	require.Equal(t, uint32(children), session.GetSession().GetChildren())
	hits, err := d.Sessions.SearchMessages(t.Context(), &compactordv1.SearchMessagesRequest{
		SessionId: "parent", Query: &compactordv1.SearchMessagesRequest_Words{Words: secret(3, 0)}, IncludeChildren: true,
	})
	require.NoError(t, err)
	require.Equal(t, "child-3", hits.GetHits()[0].GetSessionId())
}

// secret is a word that only this child says in this round.
func secret(child, round int) string { return fmt.Sprintf("secret-%d-%d", child, round) }

// family lets children of a session work at the same time.
type family struct {
	t      *testing.T
	d      *daemontest.Daemon
	mu     sync.Mutex
	failed error
}

func (w *family) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

func (w *family) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *family) append(id string, messages ...*compactordv1.Message) {
	w.note(w.tryAppend(id, messages...))
}

func (w *family) tryAppend(id string, messages ...*compactordv1.Message) error {
	_, err := w.d.Sessions.AppendMessages(w.t.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages})
	return err
}

// child is the life of a child: it begins, says its secrets, compacts twice, and ends twice.
func (w *family) child(i int) error {
	id := fmt.Sprintf("child-%d", i)
	begin := &compactordv1.ForkSessionRequest{SessionId: "parent", NewSessionId: id, Child: &compactordv1.ChildContext{
		Sees: compactordv1.ChildSees_CHILD_SEES_CHOSEN, Indexes: []uint32{0},
	}}
	if _, err := w.d.Sessions.ForkSession(w.t.Context(), begin); err != nil {
		return err
	}
	for round := range rounds {
		work := daemontest.Working(3, 2000)[1:]
		work = append(work, said(compactordv1.Role_ROLE_ASSISTANT, "I found "+secret(i, round)))
		if err := w.tryAppend(id, work...); err != nil {
			return err
		}
		if round == rounds-1 {
			break
		}
		if _, err := w.d.Compact(w.t.Context(), daemontest.Request(id)); err != nil {
			return err
		}
	}
	end := &compactordv1.EndChildRequest{SessionId: id}
	if i < children/2 {
		end.CallId = fmt.Sprintf("call-%d", i)
	}
	first, err := w.d.Sessions.EndChild(w.t.Context(), end)
	if err != nil {
		return err
	}
	again, err := w.d.Sessions.EndChild(w.t.Context(), end)
	if err == nil && (first.GetIndex() != again.GetIndex() || !proto.Equal(first.GetSession().GetEnded(), again.GetSession().GetEnded())) {
		return fmt.Errorf("the end of %s is at %d, then at %d", id, first.GetIndex(), again.GetIndex())
	}
	return err
}

func (w *family) messages(id string) []*compactordv1.LoggedMessage {
	answer, err := w.d.Sessions.ListMessages(w.t.Context(), &compactordv1.ListMessagesRequest{SessionId: id, PageSize: 1000})
	w.note(err)
	return answer.GetMessages()
}

// requireApart asserts that a child has seen nothing of another, in its log and in its views.
func (w *family) requireApart(t *testing.T, i int) {
	t.Helper()
	id := fmt.Sprintf("child-%d", i)
	var all strings.Builder
	for _, l := range w.messages(id) {
		all.WriteString(l.String())
	}
	for _, vm := range w.d.View(id) {
		all.WriteString(vm.String())
	}
	for other := range children {
		for round := range rounds {
			require.Equal(t, other == i, strings.Contains(all.String(), secret(other, round)), "%s and %d", id, other)
		}
	}
	require.NotContains(t, all.String(), "note ")
}
