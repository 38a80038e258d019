package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// outcome says how a tool call ended.
type outcome struct {
	failed bool
	// declined says that the user did not allow the call; said is what the user said about it.
	declined bool
	said     string
	// cancelled says that the call was not carried out to its end, which is no failure of its own.
	cancelled bool
	// errors are the essential lines of the tool's error message, word for word.
	errors string
	// tests are the tests that failed, and files the files and packages that the message names.
	tests, files []string
	// closing is the last line of the output that says something, or the error in it. opening is the one before that. They
	// are empty if there is none.
	closing, opening string
}

// rejections are the texts with which agent programs report that the user did not allow a call.
var rejections = []string{
	"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action", "The tool use was rejected",
	"User rejected", "user rejected", "Tool call rejected by user", "[Request interrupted by user", "User declined", "The user rejected",
}

// outcomeOf determines how a call ended.
func outcomeOf(text string, flagged bool, class toolClass, cmd *command) outcome {
	opening := strings.TrimSpace(text[:min(len(text), 512)])
	if slices.ContainsFunc(rejections, func(r string) bool { return strings.HasPrefix(opening, r) }) {
		return rejected(text, flagged)
	}
	if class != classCommand && !flagged {
		// Such a tool returns content, which may be about errors.
		if !opensWithError(opening) {
			return outcome{}
		}
		flagged = true
	}
	if flagged && isCancelled(opening) {
		return outcome{cancelled: true}
	}
	if refusesEdit(opening) {
		// What follows is the text as it would have been.
		text, _, _ = strings.Cut(strings.TrimLeft(text, " \r\n["), "This is how ")
	}
	var e errorScan
	e.scan(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<tool_use_error>"), "</tool_use_error>"))
	switch failed, concluded := e.saysFailed(opening, flagged, cmd); {
	case failed:
		return failedWith(&e, class)
	case concluded:
		return succeededWith(&e, cmd)
	default:
		return outcome{}
	}
}

// rejected returns the outcome of a call that the user did not allow.
func rejected(text string, flagged bool) outcome {
	const reply = "the user said:"
	o := outcome{declined: true}
	// Output that is not reported as an error may only look like this.
	if i := strings.Index(text, reply); i >= 0 && flagged {
		o.said = strings.TrimSpace(clip(text[i+len(reply):], 2048))
	}
	return o
}

// saysFailed says whether an output says that its call failed, and whether its last line tells what came of the call.
func (e *errorScan) saysFailed(opening string, flagged bool, cmd *command) (failed, concluded bool) {
	switch {
	case cmd != nil && cmd.compares() && e.exit <= 1 && !cmd.complains(opening):
		// A status of 1 says that something differs, or that nothing was found.
		return false, false
	case flagged, refusesEdit(opening):
		return true, true
	case e.exit > 0:
		// A search that finds nothing also has a status other than 0.
		return cmd == nil || !cmd.reads || e.bestScore() > 0, true
	case cmd != nil && cmd.reads:
		return false, false
	case e.exit == 0 && cmd != nil && !cmd.masks:
		return false, true
	}
	said := ""
	if cmd != nil {
		said = cmd.said
	}
	return e.endsBadly(said) || e.bestScore() >= 4 && !e.endsWell() || cmd != nil && cmd.checks() && e.reportsFailures(), true
}

// failedWith returns the outcome of a call that failed with an output.
func failedWith(e *errorScan, class toolClass) outcome {
	o := outcome{failed: true, errors: e.message(), tests: e.tests, files: e.named()}
	if class != classCommand && e.many {
		// Tools say first what is wrong, and then show what they were given.
		o.errors = e.joined([]found{{text: clip(e.opening, 4*maxErrorText), weight: frameWeight + 1}})
	}
	return o
}

// succeededWith returns the outcome of a call that did not fail: what its output says last, or the error in it.
func succeededWith(e *errorScan, cmd *command) outcome {
	said := ""
	if cmd != nil {
		said = cmd.said
	}
	// Some shells repeat the command.
	final, before := withoutEcho(e.final, said), withoutEcho(e.before, said)
	if final == "" {
		final, before = before, ""
	}
	o := outcome{closing: told(final), opening: told(before)}
	if isNotice(cmp.Or(final, " ")) {
		o.closing = worksOnly
	}
	if complaint := e.first; complaint.score >= 3 && !e.endsWell() && !quotes(said, complaint.text) {
		o.closing = told(complaint.text)
	}
	return o
}

// withoutEcho returns a line of output, or "" if it is the command itself.
func withoutEcho(line, said string) string {
	if line != "" && strings.HasPrefix(strings.TrimSpace(said), strings.TrimSuffix(line, " \\")) && len(line) > 2 {
		return ""
	}
	return line
}

// maxClosing is how many units of a line of output tell how a command ended.
const maxClosing = 80

// told returns a line of output as it tells how a command ended.
func told(line string) string {
	if saysOnlyOK(line) || isNumberedLine(line) {
		return worksOnly
	}
	return shorten(oneLine(clip(line, 512)), maxClosing)
}

// isNumberedLine says whether a line of output is one of a file behind its number, or has only signs: what a command showed
// last, and not how it ended.
func isNumberedLine(line string) bool {
	rest := strings.TrimLeft(line, " 0123456789")
	if len(rest) < len(line) && (strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "→")) {
		return true
	}
	return line != "" && !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// cancellations are the texts with which agent programs report that a call was not carried out, or not to its end.
var cancellations = []string{
	"cancelled by user", "canceled by user", "cancelled by the user", "canceled by the user",
	"aborted by user", "aborted by the user", "interrupted by user", "interrupted by the user", "tool call cancelled", "tool call canceled",
	"tool call was cancelled", "tool call was canceled", "tool call aborted", "tool call skipped", "tool execution aborted", "tool execution cancelled",
	"tool execution canceled", "call was not executed", "user aborted", "user cancelled", "user canceled", "command was aborted", "command aborted",
}

// isCancelled says whether an error says only that a call was cancelled, by the user or since another call failed.
func isCancelled(opening string) bool {
	if len(opening) > 240 || containsAnyCase(opening, "timeout") || containsAnyCase(opening, "timed out") {
		return false
	}
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return containsAnyCase(opening, w) })
	}
	return has(cancellations) || has(cancelling) && has(otherCalls)
}

// cancelling are words for a cancellation, and otherCalls say that another call is the reason.
var (
	cancelling = []string{"cancelled", "canceled", "aborted", "skipped", "not executed", "errored"}
	otherCalls = []string{"parallel call", "parallel tool", "another call", "another tool", "other call", "other tool", "previous call", "sibling tool", "sibling call"}
)

// refusesEdit says whether an editor in a shell reports that it did not apply an edit.
func refusesEdit(opening string) bool {
	return strings.HasPrefix(strings.TrimPrefix(opening, "["), "Your proposed edit has introduced new syntax error")
}

func opensWithError(opening string) bool {
	for _, p := range []string{"error", "<tool_use_error>", `{"error"`, `{"status":"error"`, "failed to ", "file not found", "file does not exist", "exception:"} {
		if hasPrefixAnyCase(opening, p) {
			return true
		}
	}
	return strings.HasPrefix(opening, "错误") || strings.HasPrefix(opening, "失败")
}
