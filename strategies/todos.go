package strategies

import (
	"encoding/json"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// todosOf returns the open items that a message's last to-do call writes. It returns false if the message has no such
// call.
func todosOf(l *compactordv1.LoggedMessage) ([]*compactordv1.Todo, bool) {
	items, found := todoListOf(l)
	return openTodos(items, l.GetIndex()), found
}

// todoListOf returns the items that a message's last to-do call writes. It returns false if the message has no such call.
func todoListOf(l *compactordv1.LoggedMessage) (items []todoItem, ok bool) {
	if session.Failed(l.GetMessage()) {
		return nil, false
	}
	for _, p := range l.GetMessage().GetParts() {
		if written, is := todoItems(p.GetToolCall()); is {
			items, ok = written, true
		}
	}
	return items, ok
}

// todoItem is an item of a to-do list in the formats that agents use.
type todoItem struct {
	Content string `json:"content"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Task    string `json:"task"`
	Step    string `json:"step"`
	Status  string `json:"status"`
}

func (t *todoItem) text() string {
	for _, s := range []string{t.Content, t.Title, t.Text, t.Task, t.Step} {
		if s != "" {
			return s
		}
	}
	return ""
}

// state returns the item's status in lower case, without the signs that agents write in it.
func (t *todoItem) state() string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(t.Status))
}

func (t *todoItem) inProgress() bool { return t.text() != "" && t.state() == "inprogress" }

func (t *todoItem) done() bool { return t.state() == "completed" || t.state() == "done" }

func todoItems(call *compactordv1.ToolCall) ([]todoItem, bool) {
	if call == nil || !isTodoTool(call.GetName()) {
		return nil, false
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal([]byte(call.GetArguments()), &arguments) != nil {
		return nil, false
	}
	for _, name := range []string{"todos", "plan", "items", "tasks", "todo_list"} {
		var items []todoItem
		if raw, ok := arguments[name]; ok && json.Unmarshal(raw, &items) == nil {
			return items, true
		}
	}
	return nil, false
}

// isTodoTool recognizes TodoWrite, todo_write, update_plan, SetTodoList and similar names.
func isTodoTool(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	return strings.Contains(plain, "todo") || plain == "updateplan"
}

func openTodos(items []todoItem, index uint32) []*compactordv1.Todo {
	var open []*compactordv1.Todo
	for i := range items {
		if text := items[i].text(); text != "" && !items[i].done() && items[i].state() != "cancelled" {
			open = append(open, &compactordv1.Todo{Text: text, InProgress: items[i].inProgress(), Index: index})
		}
	}
	return open
}
