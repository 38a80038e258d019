package conversation

import (
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxListed is how many messages MessageNumbers lists.
const maxListed = 20

// MessageNumbers formats indexes of messages, such as "#3 #4". Of a long list it counts the rest.
func MessageNumbers(indexes []uint32) string {
	text := ""
	for i, index := range indexes {
		if i == maxListed {
			return fmt.Sprintf("%s and %s more", text, terminal.Number(len(indexes)-i))
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("#%d", index)
	}
	return text
}

// Length returns how many messages a range has.
func Length(r *compactordv1.IndexRange) uint32 { return r.GetEnd() - r.GetStart() }

// IndexRange formats a range by its first and last message, such as "#3 to #9".
func IndexRange(r *compactordv1.IndexRange) string {
	if Length(r) == 1 {
		return fmt.Sprintf("#%d", r.GetStart())
	}
	return fmt.Sprintf("#%d to #%d", r.GetStart(), max(r.GetEnd(), 1)-1)
}

// MessageRange formats a range with its length, such as "7 messages, from #3 to #9".
func MessageRange(r *compactordv1.IndexRange) string {
	if Length(r) == 1 {
		return fmt.Sprintf("1 message, #%d", r.GetStart())
	}
	return fmt.Sprintf("%s, from #%d to #%d", terminal.Count(Length(r), "message"), r.GetStart(), max(r.GetEnd(), 1)-1)
}
