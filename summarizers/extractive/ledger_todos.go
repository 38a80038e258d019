package extractive

import (
	"slices"
	"strings"
)

// setTodos replaces the to-do list. Finished items of the old list are kept.
func (l *ledger) setTodos(index uint32, list []todo) {
	old := map[string]*item{}
	for _, it := range l.todos {
		old[it.keyed()] = it
	}
	l.todos = l.todos[:0:0]
	seen := map[string]bool{}
	for _, t := range list {
		key := keyOf(t.text)
		if seen[key] || t.text == "" {
			continue
		}
		seen[key] = true
		known := old[key]
		l.storeTodo(known, t, index)
	}
}

// changeTodos changes the items of the to-do list that a call names by their ids or texts, and adds the others.
func (l *ledger) changeTodos(index uint32, list []todo) {
	old := l.todos
	l.todos = l.todos[:0:0]
	for _, it := range old {
		at := slices.IndexFunc(list, func(t todo) bool {
			return t.id != "" && t.id == it.todoID || t.text != "" && keyOf(t.text) == it.keyed()
		})
		if at < 0 {
			l.list(it)
			continue
		}
		t := list[at]
		list = slices.Delete(slices.Clone(list), at, at+1)
		if t.text == "" {
			t.text = it.text
		}
		l.storeTodo(it, t, index)
	}
	for _, t := range list {
		if t.text != "" && len(l.todos) < maxTodos {
			l.storeTodo(nil, t, index)
		}
	}
}

// mergeTodos merges a list of checkboxes from a text. It changes the items that are known. A list with only new items
// replaces the current one.
func (l *ledger) mergeTodos(index uint32, list []todo) {
	known := map[string]int{}
	for i, it := range l.todos {
		known[it.keyed()] = i
	}
	shared := false
	for _, t := range list {
		if _, ok := known[keyOf(t.text)]; ok {
			shared = true
		}
	}
	if !shared && len(list) > 1 {
		l.setTodos(index, list)
		return
	}
	rest := l.todos
	l.todos = l.todos[:0:0]
	replaced := map[string]bool{}
	for _, t := range list {
		replaced[keyOf(t.text)] = true
	}
	for _, it := range rest {
		if !replaced[it.keyed()] {
			l.todos = append(l.todos, it)
		}
	}
	for _, t := range list {
		var it *item
		if i, ok := known[keyOf(t.text)]; ok {
			it = rest[i]
		}
		l.storeTodo(it, t, index)
	}
}

// storeTodo stores a to-do item according to its state.
func (l *ledger) storeTodo(known *item, t todo, index uint32) {
	it := &item{kind: kindNext, text: t.text, todoID: t.id, box: openBox, cites: []uint32{index}}
	if known != nil {
		it.addCites(known.oldest())
		if len(known.cites) == 0 {
			it.cites = []uint32{index}
		}
	}
	switch t.state {
	case todoGone:
	case todoDone:
		it.kind, it.box, it.score = kindDone, doneBox, 6
		l.settle(t.text)
		l.reopen(it)
		l.add(it)
	case todoActive:
		it.kind = kindDoing
		l.list(it)
	default:
		l.list(it)
	}
}

// list adds an open to-do item. The items keep the order of their list.
func (l *ledger) list(it *item) {
	l.reopen(it)
	l.seq++
	it.seq = l.seq
	l.todos = append(l.todos, it)
}

// reopen drops an earlier to-do item with the same text that was done: it was another one.
func (l *ledger) reopen(it *item) {
	l.dropItems(kindDone, func(done *item) bool { return done.box == doneBox && done.keyed() == it.keyed() })
}

// settleTodos marks to-do items as done whose words a sentence about finished work has.
func (l *ledger) settleTodos(sentence string, index uint32) {
	if len(l.todos) == 0 {
		return
	}
	key, words := keyOf(sentence), subjectWords(sentence)
	l.todos = slices.DeleteFunc(l.todos, func(it *item) bool {
		todoKey := it.keyed()
		if (len(todoKey) < 8 || !strings.Contains(key, todoKey)) && !it.saidBy(words) {
			return false
		}
		done := *it
		done.kind, done.box, done.score = kindDone, doneBox, 6
		done.addCites(index)
		l.add(&done)
		return true
	})
}
