package summarizers

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The names of the checks, in the order in which they are made.
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

// CheckError says which check a summary failed.
type CheckError struct {
	// Check is the stable name of the check.
	Check string
	// Detail says in a sentence what is wrong. It holds nothing of the conversation, and can be sent back to a model.
	Detail string
}

func (e *CheckError) Error() string {
	return "summary refused (" + e.Check + "): " + e.Detail
}

// Check makes the checks that a summary has to pass before it may replace what it covers. The failure is a *CheckError. The sections are looked at last, so that who has replaced the
// instructions can take CheckSections as passed; none are wanted of a summary whose budget does not hold the headings.
func Check(req *Request, s *Summary) error {
	if s == nil {
		return &CheckError{CheckEmpty, "There is no summary."}
	}
	if req.Kind == Observation {
		return checkObservation(req, s)
	}
	if !utf8.ValidString(s.Text) {
		return &CheckError{CheckUTF8, "The summary is not valid UTF-8."}
	}
	text := WithoutThinking(s.Text)
	if text == "" {
		return &CheckError{CheckEmpty, "The summary is empty once thinking is removed."}
	}
	if isToolCall(text) {
		return &CheckError{CheckToolCall, "The summary is a tool call; only the text of the summary is wanted."}
	}
	present := headingsOf(text)
	if len(present) == 0 && isErrorText(text) {
		return &CheckError{CheckErrorText, "The summary is an error message or a refusal."}
	}
	if s.CutOff {
		return &CheckError{CheckCutOff, "The summary ends where the output limit was."}
	}
	if endsInHeading(text) {
		return &CheckError{CheckCutOff, "The summary ends in a heading with nothing below it."}
	}
	tokens := req.Count(text)
	if tokens > req.MaxTokens {
		return &CheckError{CheckBudget, fmt.Sprintf("The summary has %d tokens; at most %d are allowed.", tokens, req.MaxTokens)}
	}
	if tokens >= req.Replaces {
		return &CheckError{CheckSize, fmt.Sprintf("The summary has %d tokens and what it would replace only %d.", tokens, req.Replaces)}
	}
	wanted := Headings(req.Kind, req.Sections)
	if missing := firstMissing(present, wanted); missing != "" && req.Count(skeleton(wanted)) <= req.MaxTokens {
		return &CheckError{CheckSections, fmt.Sprintf("The section %q is missing or not in its place.", missing)}
	}
	return nil
}

var toolCallOpenings = []string{
	"<tool_call", "<tool_use", "<function_call", "<function=", "<invoke ", "<|tool_call", "<|python_tag|>", "[TOOL_CALL",
	"[tool_call", "<｜tool", `{"tool_calls"`, `{"tool_call"`, `{"function_call"`, `{"type":"tool_use"`, `{"type": "tool_use"`,
}

// isToolCall says whether a tool call stands where the summary should, or at the beginning of a line of it.
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

// isErrorText says whether the text opens like an error or a refusal. It is only asked of texts without any heading.
func isErrorText(text string) bool {
	opening := strings.ToLower(text[:min(len(text), 64)])
	for _, e := range errorOpenings {
		if strings.HasPrefix(opening, e) {
			return true
		}
	}
	return false
}

// headingsOf returns the text's headings in order, as titleOf gives them.
func headingsOf(text string) []string {
	var titles []string
	for line := range strings.Lines(text) {
		if title := titleOf(line); title != "" {
			titles = append(titles, title)
		}
	}
	return titles
}

// titleOf returns the title of a heading line in lower case, or "" for any other line. Models write headings with any
// number of signs, in bold, numbered, or with a colon.
func titleOf(line string) string {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "#"):
		line = strings.TrimLeft(line, "#")
	case strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**"):
	default:
		return ""
	}
	line = strings.Trim(line, " \t*:")
	line = strings.TrimLeft(line, "0123456789.) ")
	return strings.ToLower(line)
}

func endsInHeading(text string) bool {
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasPrefix(last, "#") && titleOf(last) != ""
}

// firstMissing returns the title of the first heading that does not follow the one before it, or "".
func firstMissing(present []string, wanted []Heading) string {
	at := 0
	for _, w := range wanted {
		title := strings.ToLower(w.Title)
		for at < len(present) && present[at] != title && !sameTitle(present[at], title) {
			at++
		}
		if at == len(present) {
			return w.Title
		}
		at++
	}
	return ""
}

// sameTitle takes "constraints and preferences" for "constraints & preferences", and "relevant_files" for "relevant
// files".
func sameTitle(a, b string) bool {
	plain := strings.NewReplacer("_", " ", "&", "and")
	return plain.Replace(a) == plain.Replace(b)
}
