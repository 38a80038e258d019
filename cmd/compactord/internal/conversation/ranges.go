package conversation

import (
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mostIndexes is how many messages are named one by one.
const mostIndexes = 20

// MessageNumbers writes the numbers of messages, the first of many.
func MessageNumbers(indexes []uint32) string {
	text := ""
	for i, index := range indexes {
		if i == mostIndexes {
			return fmt.Sprintf("%s and %s more", text, terminal.Number(len(indexes)-i))
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("#%d", index)
	}
	return text
}

// Covered is how many messages a range holds.
func Covered(r *compactordv1.IndexRange) uint32 { return r.GetEnd() - r.GetStart() }

// IndexRange names messages by the first and the last.
func IndexRange(r *compactordv1.IndexRange) string {
	if Covered(r) == 1 {
		return fmt.Sprintf("#%d", r.GetStart())
	}
	return fmt.Sprintf("#%d to #%d", r.GetStart(), max(r.GetEnd(), 1)-1)
}

// MessageRange counts and names messages.
func MessageRange(r *compactordv1.IndexRange) string {
	if Covered(r) == 1 {
		return fmt.Sprintf("1 message, #%d", r.GetStart())
	}
	return fmt.Sprintf("%s, from #%d to #%d", terminal.Count(Covered(r), "message"), r.GetStart(), max(r.GetEnd(), 1)-1)
}
