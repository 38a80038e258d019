package wire

import (
	"math"
	"strings"
)

// Text gathers the text of an answer and hands it on as it comes.
type Text struct {
	to   func(delta string)
	all  strings.Builder
	left int64
	full bool
}

// Text begins the text of the exchange's answer.
func (x *Exchange) Text(to func(delta string)) *Text {
	return &Text{to: to, left: x.client.options.MaxAnswerBytes}
}

// Add takes in a piece of the text. It is false once the answer is longer than it may be: then it is to be ended.
func (t *Text) Add(delta string) bool {
	if delta == "" {
		return !t.full
	}
	if !t.Pass(len(delta)) {
		return false
	}
	t.all.WriteString(delta)
	t.to(delta)
	return true
}

// Pass counts what is no text, but as long: thinking and the arguments of calls.
func (t *Text) Pass(length int) bool {
	t.left -= int64(length)
	t.full = t.full || t.left < 0
	return !t.full
}

// Empty says whether there was no text so far.
func (t *Text) Empty() bool { return t.all.Len() == 0 }

func (t *Text) String() string { return t.all.String() }

// Tokens is a count that a provider gives, as the contract holds it.
func Tokens[T ~int32 | ~int64](n T) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32))
}
