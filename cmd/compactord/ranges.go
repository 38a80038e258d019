package main

import (
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mostIndexes is how many messages are named one by one.
const mostIndexes = 20

// hashed writes the numbers of messages, the first of many.
func hashed(indexes []uint32) string {
	text := ""
	for i, index := range indexes {
		if i == mostIndexes {
			return fmt.Sprintf("%s and %s more", text, number(len(indexes)-i))
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("#%d", index)
	}
	return text
}

// covered is how many messages a range holds.
func covered(r *compactordv1.IndexRange) uint32 { return r.GetEnd() - r.GetStart() }

// indexRange names messages by the first and the last.
func indexRange(r *compactordv1.IndexRange) string {
	if covered(r) == 1 {
		return fmt.Sprintf("#%d", r.GetStart())
	}
	return fmt.Sprintf("#%d to #%d", r.GetStart(), max(r.GetEnd(), 1)-1)
}

// messageRange counts and names messages.
func messageRange(r *compactordv1.IndexRange) string {
	if covered(r) == 1 {
		return fmt.Sprintf("1 message, #%d", r.GetStart())
	}
	return fmt.Sprintf("%s, from #%d to #%d", count(covered(r), "message"), r.GetStart(), max(r.GetEnd(), 1)-1)
}
