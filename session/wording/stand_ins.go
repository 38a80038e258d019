package wording

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MissingResult stands in for the result of a call that was closed without one.
const MissingResult = "No result: the conversation went on before the tool answered."

// StrayResultHeading introduces a result that answers no open call.
func StrayResultHeading(r *compactordv1.ToolResult) string {
	name := r.GetName()
	if name == "" {
		name = "a tool"
	}
	outcome := "Result"
	if r.GetIsError() {
		outcome = "Error"
	}
	return fmt.Sprintf("%s of %s that arrived when its call was no longer open:", outcome, name)
}

// MediaLine is the text that stands in for a medium, wherever only text can stand: in views, in summaries and what they are
// made of, in other dialects, and in what people read. It is one line, whatever the name holds.
func MediaLine(m *compactordv1.MediaPart) string {
	name := strings.Join(strings.Fields(m.GetName()), " ")
	if name == "" {
		name = "file"
	}
	return fmt.Sprintf("[Attached %s: %s]", m.GetMimeType(), name)
}

// ItemLine stands in for a provider's own item where only text can stand: it is not for other models to read.
func ItemLine(o *compactordv1.OpaquePart) string { return "[Provider's item: " + o.GetType() + "]" }
