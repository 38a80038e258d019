package extractive

import (
	"encoding/json"
	"strconv"
	"strings"
)

// todo is an item of a to-do list in a tool call.
type todo struct {
	// id is the agent's own for it; empty where it has none.
	id    string
	text  string
	state todoState
}

type todoState uint8

const (
	todoPending todoState = iota
	todoActive
	todoDone
	todoGone
)

func stateOf(status string) todoState {
	switch s := strings.ToLower(status); {
	case s == "true", strings.HasPrefix(s, "complete"), strings.HasPrefix(s, "done"), s == "finished", s == "closed", s == "已完成":
		return todoDone
	case strings.HasPrefix(s, "in"), strings.HasPrefix(s, "active"), s == "doing", s == "started", s == "进行中":
		return todoActive
	case strings.HasPrefix(s, "cancel"), strings.HasPrefix(s, "delete"), s == "removed", s == "skipped":
		return todoGone
	}
	return todoPending
}

var (
	todoTextKeys  = []string{"content", "step", "title", "description", "text", "subject", "task", "name"}
	todoStateKeys = []string{"status", "state", "completed", "done"}
	todoListKeys  = []string{"todos", "plan", "items", "tasks", "todo_list", "steps", "todoList"}
)

const (
	// maxTodos limits the length of a to-do list.
	maxTodos = 200
	// maxTodoID is how many bytes of an item's id are compared.
	maxTodoID = 64
)

// todosOf returns the list that a call of a to-do tool writes. ok is false if it writes none.
func todosOf(args []argument) (list []todo, ok bool) {
	a, found := find(args, todoListKeys...)
	if !found || len(a.raw) > 1<<20 {
		return nil, false
	}
	raw := a.raw
	if a.isString() {
		raw = a.text()
		if !strings.HasPrefix(strings.TrimSpace(raw), "[") {
			return markdownTodos(raw)
		}
	}
	var elements []json.RawMessage
	if json.Unmarshal([]byte(raw), &elements) != nil {
		return nil, false
	}
	for _, e := range elements[:min(len(elements), maxTodos)] {
		fields := argumentsOf(string(e))
		text, state, id := argument{raw: string(e)}, argument{}, argument{}
		if fields != nil {
			id, _ = find(fields, "id")
			text, _ = find(fields, todoTextKeys...)
			state, _ = find(fields, todoStateKeys...)
		}
		t := todo{id: clip(id.text(), maxTodoID), text: oneLine(clip(text.text(), 2048)), state: stateOf(state.text())}
		if t.text != "" || t.id != "" {
			list = append(list, t)
		}
	}
	return list, true
}

// ticked is a sign that also stands before what speaks for something.
const ticked = "✅ "

// markdownTodos reads a list of checkboxes. Items with a tick are to-dos only beside one that is open or crossed out.
func markdownTodos(text string) (list []todo, ok bool) {
	ticks := onlyTicks(text)
	for line := range strings.Lines(text) {
		body, listed := listItem(strings.TrimSpace(line))
		if !listed || ticks && strings.HasPrefix(body, ticked) {
			continue
		}
		state, boxed, rest := checkbox(body)
		if !boxed || rest == "" || len(list) == maxTodos {
			continue
		}
		t := todo{text: bare(clip(rest, 2048))}
		if state == doneBox {
			t.state = todoDone
		}
		list = append(list, t)
	}
	return list, len(list) > 0
}

// onlyTicks says whether the list items of a text have ticks, and no other checkboxes.
func onlyTicks(text string) bool {
	if !strings.Contains(text, ticked) {
		return false
	}
	for line := range strings.Lines(text) {
		body, listed := listItem(strings.TrimSpace(line))
		if _, boxed, _ := checkbox(body); listed && boxed && !strings.HasPrefix(body, ticked) {
			return false
		}
	}
	return true
}

// taskLabel returns the text of a task with its number, so that later calls can be understood after a merge.
func taskLabel(number int, text string) string {
	return "Task " + strconv.Itoa(number) + ": " + text
}

// taskNumber reads the number in such a text.
func taskNumber(text string) (int, bool) {
	rest, ok := strings.CutPrefix(text, "Task ")
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}
