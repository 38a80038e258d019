package summarizers

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/session/wording"
)

// ToolResult is what a request of kind Observation is about: one tool result, which is to be written shorter.
type ToolResult struct {
	// Index and Part are where the log has it. The agent recalls the whole result by them.
	Index, Part uint32
	// Tool is the tool that answered, Argument the argument that tells most of what it was asked, such as a path or a
	// command, on one line. Either may be empty.
	Tool, Argument string
	// Text is the whole result, what is no text in it told by a line each.
	Text string
	// Task is the last thing that the user asked for, what the result is read for. May be empty.
	Task string
	// Failed says that the tool flagged it as an error.
	Failed bool
	// Guidelines say what to keep and what to leave out.
	Guidelines string
}

// Replacement is what views show in place of the result: the shorter text, and a line on how to have the whole one back.
// Summarizers need not write that line, and a model could not be relied on for it.
func (r *ToolResult) Replacement(s *Summary) string {
	return WithoutThinking(s.Text) + r.recall()
}

// recall is written so that an agent can hand it as it stands to the tool that recalls.
func (r *ToolResult) recall() string {
	return wording.ShortenedResult(r.Index, r.Part)
}

// TextTokens is how many of the budget's tokens are left for the text of an Observation beside the line below it.
func (r *Request) TextTokens() uint32 {
	return r.MaxTokens - min(r.MaxTokens, r.Count(r.Result.recall()))
}

// checkObservation makes the checks of a result that was written shorter, in place of which the whole one takes
// req.Replaces tokens. What a tool said may well begin like an error or hold a tool call, so only what the summarizer itself added of
// that is refused.
func checkObservation(req *Request, s *Summary) error {
	if !utf8.ValidString(s.Text) {
		return &CheckError{CheckUTF8, "The text is not valid UTF-8."}
	}
	// The text has lost the white space around it, and so must what it is compared with.
	text, whole := WithoutThinking(s.Text), strings.TrimSpace(req.Result.Text)
	switch {
	case text == "":
		return &CheckError{CheckEmpty, "The text is empty once thinking is removed."}
	case isToolCall(text) && !isToolCall(whole):
		return &CheckError{CheckToolCall, "The text is a tool call; only the shorter text of the result is wanted."}
	case isErrorText(text) && !isErrorText(whole) && !req.Result.Failed:
		return &CheckError{CheckErrorText, "The text is an error message or a refusal, and the result is none."}
	case s.CutOff:
		return &CheckError{CheckCutOff, "The text ends where the output limit was."}
	}
	if tokens, most := req.Count(text), req.TextTokens(); tokens > most {
		return &CheckError{CheckBudget, fmt.Sprintf("The text has %d tokens; at most %d are allowed.", tokens, most)}
	}
	if tokens := req.Count(req.Result.Replacement(s)); tokens >= req.Replaces {
		return &CheckError{CheckSize, fmt.Sprintf("The text takes %d tokens and what it would replace only %d.", tokens, req.Replaces)}
	}
	return nil
}
