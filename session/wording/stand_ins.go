package wording

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// MissingResult replaces the result of a call that was closed without one.
const MissingResult = "No result: the conversation went on before the tool answered."

// StrayResultHeading is the line before a quoted stray result.
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

// MediaLine replaces a medium where only text is possible: in views, in summaries and the texts that they are written
// from, in other dialects, and in what people read. It is one line, whatever the name contains.
func MediaLine(m *compactordv1.MediaPart) string {
	name := strings.Join(strings.Fields(m.GetName()), " ")
	if name == "" {
		name = "file"
	}
	return fmt.Sprintf("[Attached %s: %s]", m.GetMimeType(), name)
}

// ItemLine replaces a provider's own item where only text is possible: other models cannot read the item.
func ItemLine(o *compactordv1.OpaquePart) string { return "[Provider's item: " + o.GetType() + "]" }
