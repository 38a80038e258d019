package wording

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxChildTitle is how many characters of a child's title stand with its result.
const maxChildTitle = 100

// ChildResult is the text of the message with a child's result in its parent's log: who speaks, how to read the child's
// log, and the result. next is how many messages that log holds.
func ChildResult(title, sessionID string, next uint32, end *compactordv1.ChildEnd) string {
	var b strings.Builder
	what := "Result"
	if end.GetIsError() {
		what = "Failure"
	}
	b.WriteString("[" + what + " of a sub-agent")
	if title = OneLine(title, maxChildTitle); title != "" {
		fmt.Fprintf(&b, ", %q", title)
	}
	b.WriteString(". It is no message of the user. ")
	switch next {
	case 0:
		fmt.Fprintf(&b, "Its session, %s, has no messages.", sessionID)
	case 1:
		fmt.Fprintf(&b, "Its log can be recalled: %s.", ChildReference(sessionID, 0))
	default:
		last := ChildReference(sessionID, next-1)
		fmt.Fprintf(&b, "Its log can be recalled: %s to %s. Below, [#%d] means %s.", ChildReference(sessionID, 0), last, next-1, last)
	}
	b.WriteString("]\n<sub_agent_result>\n")
	b.WriteString(childWrapper.escape(end.GetResult()))
	if end.ResultIndex != nil && end.GetShortened() {
		fmt.Fprintf(&b, "\n[Only the beginning is here. To read the whole, recall %s.]",
			ChildReference(sessionID, end.GetResultIndex()))
	}
	b.WriteString("\n</sub_agent_result>")
	return b.String()
}

// ChildReference is the reference to a message of a child's log, in words that recall understands.
func ChildReference(sessionID string, index uint32) string {
	return fmt.Sprintf("%s#%d", sessionID, index)
}
