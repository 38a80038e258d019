package prompts

import (
	"strings"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxArgument is how much is told of what a tool was asked.
const maxArgument = 300

// What the task and the guidelines may take of a prompt about a tool result, as one of so many parts.
const (
	taskShare       = 8
	guidelinesShare = 4
)

// observation puts a tool result into the frame, cut where it does not fit. It is all that the one prompt shows.
func (f *frame) observation(s *scribe) error {
	r := f.req.Result
	share := f.free
	var task, guidelines uint32
	var around strings.Builder
	if text, tokens := f.fit(strings.TrimSpace(escape(s.redact(r.Task), false)), share/taskShare, " of the task", tellsRule); text != "" {
		around.WriteString(tagged(tagTask, text) + "\n\n")
		task = tokens + f.count(tagged(tagTask, ""))
	}
	if text, tokens := f.fit(strings.TrimSpace(escape(s.redact(r.Guidelines), true)), share/guidelinesShare, " of the guidelines", nil); text != "" {
		around.WriteString(tagged(tagGuidelines, text) + "\n\n")
		guidelines = tokens + f.count(tagged(tagGuidelines, ""))
	}
	header := s.outputHeader(r) + "\n"
	taken := task + guidelines + f.count(header) + f.count(tagged(tagResult, ""))
	if taken+minBudget > f.free {
		return ErrTooLarge
	}
	c := cutting{tells: tellsError, of: " of the output"}
	text, ok := c.fit(escape(s.redact(r.Text), false), f.free-taken, f.count)
	if !ok {
		return ErrTooLarge
	}
	f.result = tagged(tagResult, header+text) + "\n\n" + around.String()
	return nil
}

// outputHeader says which tool wrote what, and what it was asked.
func (s *scribe) outputHeader(r *summarizers.ToolResult) string {
	name := s.label(r.Tool)
	if name == "" {
		name = "a tool"
	}
	header := "[output of " + name
	if r.Failed {
		header += ", failed"
	}
	header += "]"
	if r.Argument != "" {
		header += " " + escape(wording.OneLine(s.redact(r.Argument), maxArgument), false)
	}
	return header
}
