package wire

import "strings"

// answerText gathers the text of an answer and hands it on as it comes.
type answerText struct {
	to   func(delta string)
	all  strings.Builder
	left int64
	full bool
}

// add takes in a piece of the text. It is false once the answer is longer than it may be: then it is to be ended.
func (t *answerText) add(delta string) bool {
	if delta == "" {
		return !t.full
	}
	if !t.pass(len(delta)) {
		return false
	}
	t.all.WriteString(delta)
	t.to(delta)
	return true
}

// pass counts what is no text, but as long: thinking and the arguments of calls.
func (t *answerText) pass(length int) bool {
	t.left -= int64(length)
	t.full = t.full || t.left < 0
	return !t.full
}

func (t *answerText) String() string { return t.all.String() }
