package strategies

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// todoList is what a call of a to-do tool writes: the whole list, or with merge the items that it adds or changes.
type todoList struct {
	items []todoItem
	merge bool
}

// todoListOf returns what a message's last to-do call writes. It returns false if the message has no such call. Where it
// has several, they are as one.
func todoListOf(l *compactordv1.LoggedMessage) (list todoList, ok bool) {
	if session.Failed(l.GetMessage()) {
		return list, false
	}
	for _, p := range l.GetMessage().GetParts() {
		written, is := todoListIn(p.GetToolCall())
		for i := range written.items {
			written.items[i].index = l.GetIndex()
		}
		switch {
		case !is:
		case ok && written.merge:
			list.items = changed(list.items, written.items)
		default:
			list, ok = written, true
		}
	}
	return list, ok
}

// WritesTodos reports whether a message has a call of a to-do tool, and whether that writes a whole list.
func WritesTodos(l *compactordv1.LoggedMessage) (writes, whole bool) {
	list, ok := todoListOf(l)
	return ok, ok && !list.merge
}

// after returns the items of the list that was before after this one was written.
func (t todoList) after(before []todoItem) []todoItem {
	if !t.merge {
		return t.items
	}
	return changed(before, t.items)
}

// changed returns a list with changes of its items. An item is known by its id or, without one, by its text. A change
// leaves out what stays as it is.
func changed(list, changes []todoItem) []todoItem {
	list = slices.Clone(list)
	for _, c := range changes {
		at := slices.IndexFunc(list, c.changes)
		if at < 0 {
			list = append(list, c)
			continue
		}
		list[at] = todoItem{
			ID: list[at].ID, Content: cmp.Or(c.text(), list[at].text()), Status: cmp.Or(c.Status, list[at].Status), index: c.index,
		}
	}
	return list
}

// changes reports whether a change of a list is about this item of it.
func (t *todoItem) changes(item todoItem) bool {
	if t.id() != "" && item.id() != "" {
		return t.id() == item.id()
	}
	return t.text() != "" && t.text() == item.text()
}

// todoItem is an item of a to-do list in the formats that agents use.
type todoItem struct {
	ID      json.RawMessage `json:"id"`
	Content string          `json:"content"`
	Title   string          `json:"title"`
	Text    string          `json:"text"`
	Task    string          `json:"task"`
	Step    string          `json:"step"`
	Status  string          `json:"status"`
	// index is that of the message whose call wrote it last.
	index uint32
}

func (t *todoItem) text() string {
	for _, s := range []string{t.Content, t.Title, t.Text, t.Task, t.Step} {
		if s != "" {
			return s
		}
	}
	return ""
}

// maxTodoID is the most bytes of an item's id. Longer ones do not count.
const maxTodoID = 128

// id returns the item's id, without the quotation marks of a string; empty where it has none.
func (t *todoItem) id() string {
	if id := strings.Trim(string(t.ID), `"`); id != "null" && len(id) <= maxTodoID && utf8.ValidString(id) {
		return id
	}
	return ""
}

// state returns the item's status in lower case, without the signs that agents write in it.
func (t *todoItem) state() string {
	return strings.ToLower(withoutSigns.Replace(t.Status))
}

var withoutSigns = strings.NewReplacer("_", "", "-", "", " ", "")

func (t *todoItem) inProgress() bool { return t.text() != "" && t.state() == "inprogress" }

func (t *todoItem) done() bool { return t.state() == "completed" || t.state() == "done" }

// todoListIn returns what a call writes. It returns false if it is no call of a to-do tool.
func todoListIn(call *compactordv1.ToolCall) (list todoList, ok bool) {
	if call == nil || !isTodoTool(call.GetName()) {
		return list, false
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal([]byte(call.GetArguments()), &arguments) != nil {
		return list, false
	}
	for _, name := range []string{"todos", "plan", "items", "tasks", "todo_list"} {
		if raw, given := arguments[name]; given && json.Unmarshal(raw, &list.items) == nil {
			list.merge = string(arguments["merge"]) == "true"
			return list, true
		}
	}
	return todoList{}, false
}

// isTodoTool recognizes TodoWrite, todo_write, update_plan, SetTodoList and similar names.
func isTodoTool(name string) bool {
	plain := strings.ToLower(withoutSigns.Replace(name))
	return strings.Contains(plain, "todo") || plain == "updateplan"
}

// todoItemsOf returns the items that slots have.
func todoItemsOf(slots *compactordv1.Slots) []todoItem {
	items := make([]todoItem, 0, len(slots.GetOpenTodos()))
	for _, todo := range slots.GetOpenTodos() {
		t := todoItem{ID: json.RawMessage(todo.GetId()), Content: todo.GetText(), Status: "pending", index: todo.GetIndex()}
		if todo.GetInProgress() {
			t.Status = "in_progress"
		}
		items = append(items, t)
	}
	return items
}

func openTodos(items []todoItem) []*compactordv1.Todo {
	var open []*compactordv1.Todo
	for i := range items {
		if text := items[i].text(); text != "" && !items[i].done() && items[i].state() != "cancelled" {
			open = append(open, &compactordv1.Todo{
				Text: text, InProgress: items[i].inProgress(), Index: items[i].index, Id: items[i].id(),
			})
		}
	}
	return open
}
