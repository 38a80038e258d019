package summarizers

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names of the checks, in the order in which Check makes them.
const (
	CheckUTF8      = "utf8"
	CheckEmpty     = "empty"
	CheckToolCall  = "tool_call"
	CheckErrorText = "error_text"
	CheckCutOff    = "cut_off"
	CheckBudget    = "budget"
	CheckSize      = "size"
	CheckSections  = "sections"
)

// Checks returns their names.
func Checks() []string {
	return []string{
		CheckUTF8, CheckEmpty, CheckToolCall, CheckErrorText, CheckCutOff, CheckBudget, CheckSize, CheckSections,
	}
}

// CheckError names the check that a summary failed.
type CheckError struct {
	// Check is the stable name of the check.
	Check string
	// Detail says in a sentence what is wrong. It contains nothing of the conversation, and can be sent back to a model.
	Detail string
}

func (e *CheckError) Error() string {
	return "summary refused (" + e.Check + "): " + e.Detail
}

// Check makes the checks that a summary must pass before it may replace what it covers. It checks the text in the form
// that Stored returns. A failure is a *CheckError. The sections are checked last, so that a caller that has replaced
// the instructions can ignore CheckSections. One section is enough, since a missing section counts as an empty one, and
// none is required if the budget is too small for the headings.
func Check(req *Request, s *Summary) error {
	_, err := Checked(req, s)
	return err
}

// Checked makes the checks of Check, and returns the text in the form that they looked at: the stored one. With
// CheckSections it returns the text, too.
func Checked(req *Request, s *Summary) (stored string, err error) {
	if s == nil {
		return "", &CheckError{CheckEmpty, "There is no summary."}
	}
	text := WithoutThinking(s.Text)
	if req.Kind == Observation {
		return text, checkObservation(req, s)
	}
	if !utf8.ValidString(s.Text) {
		return "", &CheckError{CheckUTF8, "The summary is not valid UTF-8."}
	}
	read := readSections(text, Headings(req.Kind, req.Sections))
	if err := checkAnswer(read, s.CutOff); err != nil {
		return "", err
	}
	stored, tokens := counted(req, text)
	if tokens > req.MaxTokens {
		return "", &CheckError{CheckBudget, fmt.Sprintf("The summary has %d tokens; at most %d are allowed.", tokens, req.MaxTokens)}
	}
	if tokens >= req.Replaces {
		return "", &CheckError{CheckSize, fmt.Sprintf("The summary has %d tokens and what it would replace only %d.", tokens, req.Replaces)}
	}
	if len(read.marks) == 0 && req.Count(skeleton(read.headings)) <= req.MaxTokens {
		return stored, &CheckError{CheckSections, fmt.Sprintf("The summary has none of its sections, such as %q.", read.headings[0].Title)}
	}
	return stored, nil
}

// checkAnswer refuses what is no summary, or not all of one.
func checkAnswer(read *sectioned, cutOff bool) error {
	switch {
	case read.text == "":
		return &CheckError{CheckEmpty, "The summary is empty once thinking is removed."}
	case isToolCall(read.text):
		return &CheckError{CheckToolCall, "The summary is a tool call; only the text of the summary is wanted."}
	case len(read.marks) == 0 && !hasHeading(read.text) && isErrorText(read.text):
		return &CheckError{CheckErrorText, "The summary is an error message or a refusal."}
	case cutOff:
		return &CheckError{CheckCutOff, "The summary ends where the output limit was."}
	case read.endsInHeading():
		return &CheckError{CheckCutOff, "The summary ends in a heading with nothing below it."}
	default:
		return nil
	}
}

// A text is a fragment if it has fewer than fragmentTokens tokens, misses most of its sections, and would replace at
// least fragmentOf tokens.
const (
	fragmentTokens = 200
	fragmentOf     = 200_000
)

// ReplacesNothing is the value of Request.Replaces for a text that only the next prompt of a fold continues from.
const ReplacesNothing = math.MaxUint32

// checkFragment refuses a fragment. Check does not, since there may be little to summarize. No text is a fragment if the
// budget is too small for more.
func checkFragment(req *Request, text string) error {
	s := readSections(text, Headings(req.Kind, req.Sections))
	missing := s.missing()
	if req.Replaces < fragmentOf || req.Replaces == ReplacesNothing || 2*missing <= len(s.headings) {
		return nil
	}
	tokens := req.Count(text)
	if tokens >= fragmentTokens || req.MaxTokens < fragmentTokens || req.MaxTokens < req.Count(skeleton(s.headings)) {
		return nil
	}
	return &CheckError{CheckSections, fmt.Sprintf(
		"The summary is a fragment: %d tokens for %d, and %d sections are missing.", tokens, req.Replaces, missing)}
}

var toolCallOpenings = []string{
	"<tool_call", "<tool_use", "<function_call", "<function=", "<invoke ", "<|tool_call", "<|python_tag|>", "[TOOL_CALL",
	"[tool_call", "<｜tool", `{"tool_calls"`, `{"tool_call"`, `{"function_call"`, `{"type":"tool_use"`, `{"type": "tool_use"`,
}

// isToolCall says whether the text is a tool call in JSON, or a line of it begins with the markup of one.
func isToolCall(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		for _, opening := range toolCallOpenings {
			if strings.HasPrefix(line, opening) {
				return true
			}
		}
	}
	body := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```"))
	return strings.HasPrefix(body, "{") && strings.HasSuffix(body, "}") &&
		strings.Contains(body, `"name"`) && (strings.Contains(body, `"arguments"`) || strings.Contains(body, `"input"`))
}

var errorOpenings = []string{
	"error", "api error", "{\"error\"", "{\"type\":\"error\"", "{ \"error\"", "internal server error", "bad gateway",
	"service unavailable", "gateway timeout", "rate limit", "upstream connect error", "request timed out",
	"context length exceeded", "prompt is too long", "<html", "<!doctype", "traceback (most recent call last)",
	"i'm sorry", "i’m sorry", "i am sorry", "sorry,", "i cannot", "i can't", "i can’t", "i'm unable", "i am unable",
	"i'm not able", "as an ai", "抱歉", "对不起", "很抱歉", "我无法", "我不能", "错误", "请求失败",
}

// isErrorText says whether the text begins like an error or a refusal. The callers ask it only where the text has no
// heading or is a shortened tool result.
func isErrorText(text string) bool {
	// A tool's output may begin with signs that nobody sees, which a shortened one does not have.
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	opening := strings.ToLower(text[:min(len(text), 64)])
	for _, e := range errorOpenings {
		if strings.HasPrefix(opening, e) {
			return true
		}
	}
	return false
}

// hasHeading says whether the text has any heading.
func hasHeading(text string) bool {
	for line := range strings.Lines(text) {
		if titleOf(line) != "" {
			return true
		}
	}
	return false
}

// titleOf returns the title of a heading line in lower case, or "" for any other line. Models write headings with any
// number of `#`, in bold, numbered, or with a colon.
func titleOf(line string) string {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "#"):
		line = strings.TrimLeft(line, "#")
		if strings.IndexAny(line, "0123456789") == 0 {
			// `#12` is the number of something.
			return ""
		}
	case strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**"):
	default:
		return ""
	}
	line = strings.Trim(line, " \t*:")
	line = strings.TrimLeft(line, "0123456789.) ")
	return strings.ToLower(line)
}
