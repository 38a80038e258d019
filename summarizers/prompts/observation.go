package prompts

import (
	"strings"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxArgument is how much of a call's main argument is shown.
const maxArgument = 300

// In a prompt about a tool result, the task gets at most one part in taskShare of the tokens, and the guidelines one in
// guidelinesShare.
const (
	taskShare       = 8
	guidelinesShare = 4
)

// observation puts the tool result into the frame, and cuts it if it does not fit. The prompt shows no messages.
func (f *frame) observation(mw *messageWriter) error {
	r := f.req.Result
	share := f.free
	var task, guidelines uint32
	var around strings.Builder
	if text, tokens := f.fit(strings.TrimSpace(escape(mw.redact(r.Task), false)), share/taskShare, " of the task", isRuleLine); text != "" {
		around.WriteString(tagged(tagTask, text) + "\n\n")
		task = tokens + f.count(tagged(tagTask, ""))
	}
	if text, tokens := f.fit(strings.TrimSpace(escape(mw.redact(r.Guidelines), true)), share/guidelinesShare, " of the guidelines", nil); text != "" {
		around.WriteString(tagged(tagGuidelines, text) + "\n\n")
		guidelines = tokens + f.count(tagged(tagGuidelines, ""))
	}
	header := mw.outputHeader(r) + "\n"
	taken := task + guidelines + f.count(header) + f.count(tagged(tagResult, ""))
	if taken+minBudget > f.free {
		return ErrTooLarge
	}
	c := cutting{notable: isErrorLine, of: " of the output"}
	text, ok := c.fit(escape(mw.redact(r.Text), false), f.free-taken, f.count)
	if !ok {
		return ErrTooLarge
	}
	f.result = tagged(tagResult, header+text) + "\n\n" + around.String()
	return nil
}

// outputHeader returns a header with the tool's name and main argument.
func (mw *messageWriter) outputHeader(r *summarizers.ToolResult) string {
	name := mw.label(r.Tool)
	if name == "" {
		name = "a tool"
	}
	header := "[output of " + name
	if r.Failed {
		header += ", failed"
	}
	header += "]"
	if r.Argument != "" {
		header += " " + escape(wording.OneLine(mw.redact(r.Argument), maxArgument), false)
	}
	return header
}
