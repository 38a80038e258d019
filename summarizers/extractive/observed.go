package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// resultLabels begin what a program writes as the user: what came back from a step of an agent without tools.
var resultLabels = []string{
	"observation", "tool result", "tool output", "tool response", "tool_result", "tool_response", "tool_output", "function result", "function response", "function_response",
	"execution result", "execution output", "command output", "command result", "stdout",
}

// maxResultLabel is how many bytes such a label has at most, with what it is about.
const maxResultLabel = 64

// maxFenced is how many bytes a command has at most that an agent without tools writes into a fence.
const maxFenced = 300

// commandIn returns the command of an agent without tools: the only line of the last fence of its message.
func commandIn(said string) string {
	rest, closed := strings.CutSuffix(strings.TrimRight(said, " \t\n"), "```")
	at := strings.LastIndex(rest, "```")
	if !closed || at < 0 {
		return ""
	}
	_, line, _ := strings.Cut(rest[at:], "\n")
	if line = strings.TrimSpace(line); len(line) > maxFenced || strings.Contains(line, "\n") {
		return ""
	}
	return line
}

// workedNow removes the errors that a command shows to be resolved whose output reports none.
func (l *ledger) workedNow(line, output string) {
	if line == "" || len(l.errors) == 0 {
		return
	}
	if cmd := parseCommand(line); !cmd.reads {
		l.succeed(&call{class: classCommand, cmd: &cmd}, output)
	}
}

// opensResult says whether a text begins with such a label: `Observation: ...`, `[Tool result 3] ...`, `<tool_response>`.
func opensResult(text string) bool {
	head := strings.ToLower(clip(strings.TrimLeft(text, "[<*#( "), maxResultLabel))
	for _, label := range resultLabels {
		rest, ok := strings.CutPrefix(head, label)
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, "s")
		if next, _ := utf8.DecodeRuneInString(rest); next == ':' || next == ']' || next == '>' || next == '：' || next == '*' {
			return true
		}
		line, _, _ := strings.Cut(rest, "\n")
		return strings.HasPrefix(line, " ") && strings.ContainsAny(line, ":]>")
	}
	return false
}

// maxComplaint is how many units a complaint about a call has at most.
const maxComplaint = 300

// complaining are words with which programs refuse an argument, in lower case.
var complaining = inAnyCase(
	"is expected", "expected", "required", "missing", "invalid", "unknown", "unexpected", "unsupported", "must be ", "must not ", "must have", "not allowed", "not valid", "not a valid", "cannot be ",
)

// Complaints about a call begin with what is wrong with an argument, or with "The value of" and say of which type that is. Words
// of orders stand in none, for a user may speak of an argument, too: what looks like an order is one.
var (
	opensComplaint = inAnyCase(
		"argument '", "argument `", "argument \"", "parameter '", "parameter `", "parameter \"", "missing required ", "missing argument", "missing parameter",
		"missing value", "invalid value", "invalid argument", "invalid parameter", "unknown argument", "unknown parameter", "unexpected argument", "unexpected parameter",
		"unsupported value", "unsupported argument", "unsupported parameter",
	)
	opensTyped = inAnyCase("the value of ", "the argument ", "the parameter ")
	typed      = inAnyCase(
		"must be a text", "must be a string", "must be a number", "must be a list", "must be an array", "must be an object", "must be an integer", "must be a boolean",
		"must be one of [", "must be one of (", "must be one of {", "is expected to be ",
	)
	ordersInComplaint = inAnyCase("never", "from now on", "always", "please", "n't ", "n’t ", "stop ", "make ", "use ", " only ", " all ", " every ", "instead", "must not ")
)

// isComplaint says whether a line is one sentence in the form of such a complaint.
func isComplaint(line string) bool {
	opens := opensComplaint.opens(line) || opensTyped.opens(line) && typed.in(line)
	if !opens || ordersInComplaint.in(line) {
		return false
	}
	sentences := 0
	eachSentence(line, func(string, bool) { sentences++ })
	return sentences == 1
}

// refusesCall says whether a message within the agent's work is a program's complaint about its last call: a line that names an
// argument of that in quotation marks.
func (r *reader) refusesCall(said string) bool {
	if !r.working || strings.Contains(said, "\n") || units(said) > maxComplaint || asks(said) || !complaining.in(said) || !isComplaint(said) {
		return false
	}
	return slices.ContainsFunc(r.lastArgs, func(a argument) bool {
		return a.key != "" && slices.ContainsFunc([]string{"'", "`", `"`}, func(mark string) bool { return strings.Contains(said, mark+a.key+mark) })
	})
}
