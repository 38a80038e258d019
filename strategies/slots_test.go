package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

func todosWritten(index uint32, arguments string) *compactordv1.LoggedMessage {
	l := callOf("TodoWrite", arguments)
	l.Index = index
	return l
}

func request(index uint32, text string) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Index: index, Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart(text)},
	}}
}

func TestOpenTodosAreThoseOfTheLatestList(t *testing.T) {
	covered := []*compactordv1.LoggedMessage{
		todosWritten(1, `{"todos":[{"content":"old","status":"pending"}]}`),
		todosWritten(2, `{"todos":[{"content":"done","status":"completed"},{"content":"now","status":"in_progress"},`+
			`{"content":"later","status":"pending"}]}`),
		todosWritten(3, `{"todos":"not a list"}`),
	}
	slots := strategies.SlotsOf(nil, covered, nil, nil, nil)
	require.Len(t, slots.GetOpenTodos(), 2)
	require.Equal(t, "now", slots.GetOpenTodos()[0].GetText())
	require.True(t, slots.GetOpenTodos()[0].GetInProgress())
	require.Equal(t, uint32(2), slots.GetOpenTodos()[1].GetIndex())

	later := strategies.SlotsOf(slots, []*compactordv1.LoggedMessage{request(9, "go on")}, nil, nil, nil)
	require.Len(t, later.GetOpenTodos(), 2, "they outlive the next compaction")
	done := strategies.SlotsOf(slots, []*compactordv1.LoggedMessage{todosWritten(9, `{"todos":[]}`)}, nil, nil, nil)
	require.Empty(t, done.GetOpenTodos())
	kept := strategies.SlotsOf(slots, nil, []*compactordv1.LoggedMessage{todosWritten(9, `{"todos":[]}`)}, nil, nil)
	require.Empty(t, kept.GetOpenTodos(), "the newer list is kept, the older one would contradict it")
}

// A call that changes items leaves the others open, whether they are covered by this summary, by the one before, or kept.
func TestOpenTodosOfCallsThatChangeItems(t *testing.T) {
	whole := todosWritten(1, `{"todos":[{"id":"a","content":"mend","status":"in_progress"},{"id":"b","content":"test","status":"pending"}]}`)
	change := todosWritten(5, `{"merge":true,"todos":[{"id":"a","status":"completed"},{"id":"c","content":"ship","status":"pending"}]}`)
	texts := func(s *compactordv1.Slots) (texts []string) {
		for _, todo := range s.GetOpenTodos() {
			texts = append(texts, fmt.Sprintf("%s #%d", todo.GetText(), todo.GetIndex()))
		}
		return texts
	}
	logged := func(l ...*compactordv1.LoggedMessage) []*compactordv1.LoggedMessage { return l }
	open := []string{"test #1", "ship #5"}
	require.Equal(t, open, texts(strategies.SlotsOf(nil, logged(whole, change), nil, nil, nil)))
	require.Equal(t, open, texts(strategies.SlotsOf(nil, logged(whole), logged(change), nil, nil)), "the view shows no whole list")
	require.Empty(t, strategies.SlotsOf(nil, nil, logged(whole, change), nil, nil).GetOpenTodos(), "the view shows both")
	cleared := map[uint32][]*compactordv1.Edit{5: {{Index: 5, Kind: compactordv1.EditKind_EDIT_KIND_FOLD}}}
	require.Equal(t, open, texts(strategies.SlotsOf(nil, nil, logged(whole, change), cleared, nil)))

	before := strategies.SlotsOf(nil, logged(whole), nil, nil, nil)
	byText := todosWritten(5, `{"merge":true,"todos":[{"content":"mend","status":"completed"}]}`)
	require.Equal(t, []string{"test #1"}, texts(strategies.SlotsOf(before, logged(byText), nil, nil, nil)))
	require.Equal(t, open, texts(strategies.SlotsOf(before, logged(change), nil, nil, nil)), "slots have the ids")
}

func TestTodosOfOtherTools(t *testing.T) {
	plan := callOf("update_plan", `{"plan":[{"step":"measure","status":"in_progress"},{"step":"cut","status":"completed"}]}`)
	slots := strategies.SlotsOf(nil, []*compactordv1.LoggedMessage{plan}, nil, nil, nil)
	require.Len(t, slots.GetOpenTodos(), 1)
	require.Equal(t, "measure", slots.GetOpenTodos()[0].GetText())
}

func TestLastUserRequestIsASlotOnlyWhereItIsCovered(t *testing.T) {
	slots := strategies.SlotsOf(nil, []*compactordv1.LoggedMessage{request(1, "first"), request(4, "second")}, nil, nil, nil)
	require.Equal(t, "second", slots.GetLastUserRequest().GetText())
	require.Equal(t, uint32(4), slots.GetLastUserRequest().GetIndex())
	slots = strategies.SlotsOf(slots, nil, []*compactordv1.LoggedMessage{request(9, "third")}, nil, nil)
	require.Nil(t, slots.GetLastUserRequest())

	goOn := request(5, "go on")
	goOn.Message.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	slots = strategies.SlotsOf(nil, []*compactordv1.LoggedMessage{request(1, "first"), goOn}, nil, nil, nil)
	require.Equal(t, "first", slots.GetLastUserRequest().GetText(), "a message that tells to go on is no request")
}

func TestLongLastRequestSaysThatItIsShortened(t *testing.T) {
	slots := strategies.SlotsOf(nil, []*compactordv1.LoggedMessage{request(1, strings.Repeat("x", 9000))}, nil, nil, nil)
	text := wording.Summary(&compactordv1.CompactionEntry{Slots: slots})
	require.Contains(t, text, "[#1], shortened:")
	require.NotContains(t, text, "word for word")
}

// A to-do list that is kept but cleared by an edit stays in the slots.
func TestOpenTodosOfAClearedCallStay(t *testing.T) {
	kept := []*compactordv1.LoggedMessage{todosWritten(9, `{"todos":[{"content":"ship","status":"pending"}]}`)}
	edits := map[uint32][]*compactordv1.Edit{9: {{Index: 9, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS}}}
	require.Len(t, strategies.SlotsOf(nil, nil, kept, edits, nil).GetOpenTodos(), 1)
	require.Empty(t, strategies.SlotsOf(nil, nil, kept, nil, nil).GetOpenTodos())
}
