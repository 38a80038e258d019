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
	call *compactordv1.ToolCall
	// few are the fields of its arguments, unless these are more than plans remember.
	few func() (fields []field, are bool)
	// patched are the files that a patch in its arguments names.
	patched func() []string
	// main is what it was called for.
	main func() string
}

// fields returns the fields of its arguments; none where these are no valid JSON object.
func (c *callFacts) fields() []field {
	if fields, few := c.few(); few {
		return fields
	}
	return fieldsOf(c.call.GetArguments())
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

func readFacts(l *compactordv1.LoggedMessage) any {
	var calls []*callFacts
	for _, p := range l.GetMessage().GetParts() {
		if call := p.GetToolCall(); call != nil {
			calls = append(calls, &callFacts{
				call:    call,
				few:     sync.OnceValues(func() ([]field, bool) { return fewFields(call.GetArguments()) }),
				patched: sync.OnceValue(func() []string { return patchedFiles(call.GetArguments()) }),
				main:    sync.OnceValue(func() string { return strings.Clone(MainArgument(call.GetArguments())) }),
			})
		}
	}
	if len(calls) == 0 {
		return noFacts
	}
	facts := &messageFacts{calls: calls}
	facts.todos, facts.writesTodos = todoListOf(l)
	return facts
}

func fewFields(arguments string) (fields []field, are bool) {
	if fields = fieldsOf(arguments); len(fields) > maxArguments {
		return nil, false
	}
	return fields, true
}

// todosIn returns what a message's last to-do call writes, like todoListOf.
func todosIn(known *session.Known, l *compactordv1.LoggedMessage) (list todoList, ok bool) {
	facts := factsOf(known, l)
	return facts.todos, facts.writesTodos
}
