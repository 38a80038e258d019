package summarizers

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/session/wording"
)

// ToolResult is the tool result that a request of kind Observation shortens.
type ToolResult struct {
	// Index and Part are its place in the log. The agent recalls the whole result with them.
	Index, Part uint32
	// Tool is the tool's name. Argument is the call's main argument on one line, such as a path or a command. Either
	// may be empty.
	Tool, Argument string
	// Text is the whole result. Each part that is not text has a line that describes it.
	Text string
	// Task is the user's last request, which the result serves. It may be empty.
	Task string
	// Failed says that the result is flagged as an error.
	Failed bool
	// Guidelines say what to keep and what to leave out.
	Guidelines string
}

// Replacement returns what views show in place of the result: the shorter text, and a line that says how to recall the
// whole one. Summarizers need not write that line, and a model could not be relied on to write it.
func (r *ToolResult) Replacement(s *Summary) string {
	return WithoutThinking(s.Text) + r.recall()
}

// recall returns that line. An agent can copy the arguments for the recall tool from it.
func (r *ToolResult) recall() string {
	return wording.ShortenedResult(r.Index, r.Part)
}

// TextTokens returns how many tokens of the budget the text of an Observation may have, so that the recall line below
// it fits, too.
func (r *Request) TextTokens() uint32 {
	return r.MaxTokens - min(r.MaxTokens, r.Count(r.Result.recall()))
}

// checkObservation checks a shortened tool result. The whole result has req.Replaces tokens. A tool's output may itself
// begin like an error or contain a tool call, so these are refused only if the whole result does not.
func checkObservation(req *Request, s *Summary) error {
	if !utf8.ValidString(s.Text) {
		return &CheckError{CheckUTF8, "The text is not valid UTF-8."}
	}
	// WithoutThinking trims white space, so the text must be compared with a trimmed one.
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
