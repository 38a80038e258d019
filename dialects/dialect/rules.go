package dialect

import (
	"fmt"
	"slices"
)

// Mode says how strict Validate is.
type Mode int

const (
	// Request applies all rules: the list is sent as it is, and the model writes the next message.
	Request Mode = iota
	// History does not apply some rules to the last message, since more messages will follow it.
	History
)

// Rule is one rule of a provider.
type Rule struct {
	// ID names it, such as `anthropic.results-follow-calls`.
	ID string
	// Sentence says what the rule demands.
	Sentence string
	// Source says where the rule comes from.
	Source string
	// RequestOnly reports that the rule does not apply in mode History.
	RequestOnly bool
}

// Violation is a rule that a list breaks.
type Violation struct {
	// Rule is the rule's id.
	Rule string
	// Message is the position in List.Messages. -1 means the system prompt, or the list as a whole.
	Message int
	// Part is the position of the block, part or call in the message. 0 also means the message as a whole.
	Part int
	// Detail says what is wrong, in one sentence. Of the conversation it quotes only names of fields, roles and types.
	Detail string
}

// String returns the violation as a text for people.
func (v Violation) String() string {
	if v.Message < 0 {
		return fmt.Sprintf("%s: %s", v.Rule, v.Detail)
	}
	return fmt.Sprintf("message %d, part %d: %s: %s", v.Message, v.Part, v.Rule, v.Detail)
}

// Check is a rule, and the function that checks a list that was decoded into T.
type Check[T any] struct {
	Rule
	// Check reports each place where the list breaks the rule.
	Check func(list T, report func(message, part int, detail string))
}

// run checks a decoded list by all rules of a table.
func run[T any](table []Check[T], list T, mode Mode) []Violation {
	var found []Violation
	for _, c := range table {
		if c.RequestOnly && mode == History {
			continue
		}
		c.Check(list, func(message, part int, detail string) {
			found = append(found, Violation{Rule: c.ID, Message: message, Part: part, Detail: detail})
		})
	}
	slices.SortStableFunc(found, func(a, b Violation) int {
		if a.Message != b.Message {
			return a.Message - b.Message
		}
		return a.Part - b.Part
	})
	return found
}
