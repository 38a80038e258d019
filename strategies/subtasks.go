package strategies

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// subtask is a finished sub-task: the position of its first message in State.Kept, and the position after its last one.
type subtask struct{ from, to int }

// subtasksByTodos returns the sub-tasks that calls of to-do tools bound, in order. Each begins with the call that sets an
// item in progress, and ends before the call that sets it completed, which shows the list as it then is. Items that are in
// progress together are one sub-task, which ends with the last of them. It is none where no item of it was completed: it
// was put off or given up. before are the messages before the kept part that write the list that is in force there: of a
// sub-task that begins among them, the part that is kept is one.
func subtasksByTodos(s *session.State, before []*compactordv1.LoggedMessage) []subtask {
	var all []subtask
	var r todoRun
	for _, l := range before {
		if list, ok := todosIn(s.Known, l); ok {
			r.read(0, list)
		}
	}
	for pos, l := range s.Kept {
		list, ok := todosIn(s.Known, l)
		if !ok {
			continue
		}
		if from, done := r.read(pos, list); done && from < pos {
			all = append(all, subtask{from, pos})
		}
	}
	return all
}

// todoRun reads the to-do lists of a session one after the other.
type todoRun struct {
	// list is the newest list, and active the texts of its items in progress that a sub-task is about.
	list   []todoItem
	active []string
	// from is where the sub-task in progress begins, and finished says that one of its items was completed.
	from     int
	finished bool
}

// read reads the list that the message at a position writes. It returns where the sub-task begins that the list ends, if
// it ends one that was finished.
func (r *todoRun) read(pos int, written todoList) (from int, done bool) {
	list := written.after(r.list)
	var going []string
	for _, text := range r.active {
		now := r.itemNow(text, list, written.merge)
		if now == nil {
			continue
		}
		r.finished = r.finished || now.done()
		if now.inProgress() {
			going = append(going, now.text())
		}
	}
	from, done = r.from, len(r.active) > 0 && len(going) == 0 && r.finished
	if len(going) == 0 {
		r.from, r.finished = pos, false
	}
	r.list, r.active = list, going
	for i := range list {
		if list[i].inProgress() && !slices.Contains(r.active, list[i].text()) {
			r.active = append(r.active, list[i].text())
		}
	}
	return from, done
}

// itemNow returns what a new list has in place of an item of the list before: the item with its text, or with another one
// where it was, if the lists have another item in common. It returns nil if the item was dropped. In a list that only
// changed, each item is where it was.
func (r *todoRun) itemNow(text string, list []todoItem, changed bool) *todoItem {
	at := indexOfTodo(r.list, text)
	if changed {
		return &list[at]
	}
	if i := indexOfTodo(list, text); i >= 0 {
		return &list[i]
	}
	if at >= len(list) || indexOfTodo(r.list, list[at].text()) >= 0 {
		return nil
	}
	goesOn := slices.ContainsFunc(list, func(t todoItem) bool { return indexOfTodo(r.list, t.text()) >= 0 })
	if !goesOn {
		return nil
	}
	return &list[at]
}

func indexOfTodo(list []todoItem, text string) int {
	return slices.IndexFunc(list, func(t todoItem) bool { return t.text() == text })
}

// subtasksByCheckpoints returns what is between each two checkpoints. starts are the indexes of the first messages after
// them, ascending. The message that announces a checkpoint belongs to none: the agent goes back by what it says.
func subtasksByCheckpoints(s *session.State, starts []uint32) []subtask {
	var all []subtask
	for i := 1; i < len(starts); i++ {
		t := subtask{s.Position(starts[i-1]), s.Position(starts[i])}
		for t.to > t.from && s.Kept[t.to-1].GetMessage().GetOrigin() == compactordv1.Origin_ORIGIN_MARKER {
			t.to--
		}
		if starts[i-1] >= session.KeptFrom(s.Head) && t.to > t.from {
			all = append(all, t)
		}
	}
	return all
}
