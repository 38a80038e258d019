package prompts

import (
	"strings"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxArgument is how much of a call's main argument is shown.
const maxArgument = 300

// In a prompt about a tool result or a range, the task gets at most one part in taskShare of the tokens, and the
// guidelines one in guidelinesShare.
const (
	taskShare       = 8
	guidelinesShare = 4
)

// observation puts the tool result into the frame, and cuts it if it does not fit. The prompt shows no messages.
func (f *frame) observation(mw *messageWriter) error {
	r := f.req.Result
	taken := f.surround(mw, r.Task, r.Guidelines)
	header := mw.outputHeader(r) + "\n"
	taken += f.count(header) + f.count(tagged(tagResult, ""))
	if taken+minBudget > f.free {
		return ErrTooLarge
	}
	c := cutting{notable: isErrorLine, of: " of the output"}
	text, ok := c.fit(escape(mw.redact(r.Text), false), f.free-taken, f.count)
	if !ok {
		return ErrTooLarge
	}
	f.result = tagged(tagResult, header+text) + "\n\n"
	return nil
}

// surround puts the task and the guidelines into the frame, each cut to its share, and returns their size in tokens.
func (f *frame) surround(mw *messageWriter, task, guidelines string) (tokens uint32) {
	share := f.free
	if text, size := f.fit(strings.TrimSpace(escape(mw.redact(task), false)), share/taskShare, " of the task", isRuleLine); text != "" {
		f.around += tagged(tagTask, text) + "\n\n"
		tokens += size + f.count(tagged(tagTask, ""))
	}
	if text, size := f.fit(strings.TrimSpace(escape(mw.redact(guidelines), true)), share/guidelinesShare, " of the guidelines", nil); text != "" {
		f.around += tagged(tagGuidelines, text) + "\n\n"
		tokens += size + f.count(tagged(tagGuidelines, ""))
	}
	return tokens
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
