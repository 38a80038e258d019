package dialect

import (
	"fmt"
	"slices"
)

// Mode says how strict Validate is.
type Mode int

const (
	// Request holds a list to all rules: it goes to the provider as it is, and the next message is the model's.
	Request Mode = iota
	// History waives the rules on the last message: more is going to follow it.
	History
)

// Rule is one rule of a provider.
type Rule struct {
	// ID names it, such as `anthropic.results-follow-calls`.
	ID string
	// Sentence says what is demanded.
	Sentence string
	// Source says who says so.
	Source string
	// RequestOnly rules are waived in a History.
	RequestOnly bool
}

// Violation is a rule that a list breaks.
type Violation struct {
	// Rule is the rule's id.
	Rule string
	// Message is the position in List.Messages; -1 where it is the system prompt or the list as a whole.
	Message int
	// Part is the position of the block, part or call in the message; 0 where it is the message as a whole.
	Part int
	// Detail says what is wrong, in one sentence that quotes nothing of the conversation but names of fields, roles and
	// types.
	Detail string
}

// String is the violation as people read it.
func (v Violation) String() string {
	if v.Message < 0 {
		return fmt.Sprintf("%s: %s", v.Rule, v.Detail)
	}
	return fmt.Sprintf("message %d, part %d: %s: %s", v.Message, v.Part, v.Rule, v.Detail)
}

// Check is a rule with its check of a list that was decoded into T.
type Check[T any] struct {
	Rule
	// Check reports each place where the list breaks the rule.
	Check func(list T, report func(message, part int, detail string))
}

// run checks a decoded list by a table.
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
