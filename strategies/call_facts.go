package strategies

import (
	"strings"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// messageFacts is what plans read of the calls of a message. It is remembered with the state, and so read once.
type messageFacts struct {
	calls []*callFacts
	// todos is what its last to-do call writes, if writesTodos says that it has one.
	todos       todoList
	writesTodos bool
}

// callFacts is what plans read of a call: each of it when it is first asked for.
type callFacts struct {
	// part is the place of the call in its message.
	part int
	tool string
	// fields are the first fields of its arguments; none where these are no valid JSON object.
	fields func() []field
	// patched are the files that a patch in its arguments names.
	patched func() []string
	// main is what it was called for.
	main func() string
	// ranged says whether its arguments ask for a part of a file.
	ranged func() bool
}

// factsOf returns the facts of a message of a state.
func factsOf(known *session.Known, l *compactordv1.LoggedMessage) *messageFacts {
	facts, ok := known.Facts(l, readFacts).(*messageFacts)
	if !ok {
		return &messageFacts{}
	}
	return facts
}

// noFacts are those of all messages without calls.
var noFacts = &messageFacts{}

func readFacts(l *compactordv1.LoggedMessage) any { return readFactsWith(l, factsOfCall) }

// OutlineFacts returns what plans read of a message, and holds nothing else of it. It is for session.Outlines.
func OutlineFacts(l *compactordv1.LoggedMessage) (facts any, bytes int) {
	found := readFactsWith(l, func(part int, call *compactordv1.ToolCall) *callFacts { return factsOfCall(part, call).alone() })
	return found, found.bytes()
}

// bytesOfField is what a field, a path and an item of a to-do list take beside their texts, about.
const bytesOfField = 128

// bytes returns about how many bytes the facts take.
func (m *messageFacts) bytes() (bytes int) {
	for _, c := range m.calls {
		bytes += len(c.main())
		for _, f := range c.fields() {
			bytes += bytesOfField + len(f.name) + len(f.value)
		}
		for _, path := range c.patched() {
			bytes += bytesOfField + len(path)
		}
	}
	for i := range m.todos.items {
		item := &m.todos.items[i]
		bytes += bytesOfField + len(item.ID) + len(item.Content) + len(item.Title) + len(item.Text) + len(item.Task) +
			len(item.Step) + len(item.Status)
	}
	return bytes
}

func readFactsWith(
	l *compactordv1.LoggedMessage, read func(part int, call *compactordv1.ToolCall) *callFacts,
) *messageFacts {
	var calls []*callFacts
	for i, p := range l.GetMessage().GetParts() {
		if call := p.GetToolCall(); call != nil {
			calls = append(calls, read(i, call))
		}
	}
	if len(calls) == 0 {
		return noFacts
	}
	facts := &messageFacts{calls: calls}
	facts.todos, facts.writesTodos = todoListOf(l)
	return facts
}

// factsOfCall returns the facts of a call, which hold it until all of them were asked for.
func factsOfCall(part int, call *compactordv1.ToolCall) *callFacts {
	return &callFacts{
		part: part, tool: call.GetName(),
		fields:  sync.OnceValue(func() []field { return shortFields(fieldsOf(call.GetArguments(), maxArguments)) }),
		patched: sync.OnceValue(func() []string { return patchedFiles(call.GetArguments()) }),
		main:    sync.OnceValue(func() string { return strings.Clone(MainArgument(call.GetArguments())) }),
		ranged:  sync.OnceValue(func() bool { return asksForPart(call.GetArguments()) }),
	}
}

// alone returns the facts without the call.
func (c *callFacts) alone() *callFacts {
	fields, patched, main, ranged := c.fields(), c.patched(), c.main(), c.ranged()
	for i, f := range fields {
		fields[i] = field{strings.Clone(f.name), strings.Clone(f.value)}
	}
	return &callFacts{
		part: c.part, tool: c.tool,
		fields:  func() []field { return fields },
		patched: func() []string { return patched },
		main:    func() string { return main },
		ranged:  func() bool { return ranged },
	}
}

// maxFieldBytes is how many bytes the fields have together that are known of a call: enough for its paths.
const maxFieldBytes = 8 << 10

// shortFields returns the fields that plans may look for a path in. A value that is longer than what is left of the room
// for all is left out, so that what is known of a call stays small.
func shortFields(fields []field) []field {
	room := maxFieldBytes
	short := fields[:0]
	for _, f := range fields {
		if len(f.name) > room {
			continue
		}
		if room -= len(f.name); len(f.value) > room {
			f.value = ""
		}
		room -= len(f.value)
		short = append(short, f)
	}
	return short
}

// todosIn returns what a message's last to-do call writes, like todoListOf.
func todosIn(known *session.Known, l *compactordv1.LoggedMessage) (list todoList, ok bool) {
	facts := factsOf(known, l)
	return facts.todos, facts.writesTodos
}

// MainArgumentOf returns on one line what a call of a message of the state was for, like MainArgument.
func MainArgumentOf(s *session.State, l *compactordv1.LoggedMessage, part uint32) string {
	if c := callAt(s, l, part); c != nil {
		return c.main()
	}
	return ""
}

// callAt returns the facts of the call at a place in a message; nil where there is none.
func callAt(s *session.State, l *compactordv1.LoggedMessage, part uint32) *callFacts {
	for _, c := range factsOf(s.Known, l).calls {
		if c.part == int(part) {
			return c
		}
	}
	return nil
}
