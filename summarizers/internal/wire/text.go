package wire

import "strings"

// answerText collects the text of an answer and passes it on as it arrives.
type answerText struct {
	to   func(delta string)
	all  strings.Builder
	left int64
	full bool
}

// add adds a piece of the text. It returns false once the answer is too long; the caller must then end it.
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

// pass counts bytes of an answer that are not text: thinking and the arguments of calls.
func (t *answerText) pass(length int) bool {
	t.left -= int64(length)
	t.full = t.full || t.left < 0
	return !t.full
}

func (t *answerText) String() string { return t.all.String() }
