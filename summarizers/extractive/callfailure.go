package extractive

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// readFailure finds out whether a result says that its call failed: by a field, in its opening, or in the first
// sentence of the answer to a call with an effect.
func (p *payload) readFailure(c *call) {
	if p.failed && p.message != "" {
		return
	}
	content := c.class == classLook || c.class == classReadFile
	switch {
	case len(p.fields) > 0 && c.class == classReadFile:
		// The file itself is about an error.
	case len(p.fields) > 0:
		if failed, message := fieldsFail(p.fields, c.class); failed {
			p.failed = true
			if p.message = message; message == "" {
				p.message = strings.TrimSpace(p.text)
			}
		}
	case headedError(p.text):
		p.failed = true
	case content:
	case opensWithError(withoutMarks(p.text)), c.class == classOther && notCarriedOut(p.text, c):
		p.failed, p.message = true, strings.TrimSpace(withoutMarks(p.text))
	}
}

// headedError says whether a text has an error as its heading: `### Error`, `**Error**`.
func headedError(text string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 40 || !strings.ContainsAny(line, "#*_") {
		return false
	}
	return strings.EqualFold(strings.Trim(line, "#*_: \r"), "error")
}

// withoutMarks returns a text without the marks of a heading and the pictures before it.
func withoutMarks(text string) string {
	return strings.TrimLeft(text, " \t\r\n#*_>[❌✗✘🚫⚠\ufe0f:-")
}

// failedStates are values of a state that say that a call was not carried out.
var failedStates = wordSet(`error failed failure fail rejected declined denied refused conflict not_found unavailable forbidden unauthorized invalid
	timeout timed_out insufficient_funds bad_request`)

// flagFails says whether a field of a result, or of the wrapper around one, says that the call failed, and what the field
// says about it.
func flagFails(f argument) (failed bool, message string) {
	switch f.key {
	case "success", "ok", "successful", "succeeded":
		return f.text() == "false", ""
	case "isError", "is_error":
		return f.text() == "true", ""
	case "error", "errors", "errorMessage", "error_message":
		message = messageOf(f)
		return message != "", message
	}
	return false, ""
}

// fieldsFail says whether the fields of a result report a failure, and what they say about it. What a look-up returns
// can be about a failure of something else, so there only fields count that are for the call itself.
func fieldsFail(fields []argument, class toolClass) (failed bool, message string) {
	for i, f := range fields {
		if bad, said := flagFails(f); bad && (said == "" || class != classLook || i == 0 || len(fields) <= fewFields) {
			failed, message = true, cmp.Or(said, message)
		}
		switch f.key {
		case "status", "statusCode", "status_code", "http_status", "httpStatus":
			state := strings.ToLower(f.text())
			code, err := strconv.Atoi(state)
			failed = failed || err == nil && code >= 400 && code < 600 || state == "error" && (i == 0 || class != classLook) ||
				class == classOther && failedStates[strings.ReplaceAll(state, " ", "_")]
		}
	}
	if failed && message == "" {
		if a, ok := find(fields, "message", "detail", "details", "reason", "description", "title"); ok && a.isString() {
			message = a.text()
		}
	}
	return failed, message
}

// fewFields is how many fields an object has at most that is an error and nothing else.
const fewFields = 4

// messageOf returns what a field says about an error; nothing if there is none.
func messageOf(f argument) string {
	text := strings.TrimSpace(f.text())
	switch {
	case text == "" || noMessages[strings.ToLower(text)]:
		return ""
	case f.raw[0] == '{':
		inner := argumentsOf(f.raw)
		if len(inner) == 0 {
			return ""
		}
		if a, ok := find(inner, "message", "detail", "reason", "description", "type", "code"); ok {
			return a.text()
		}
	case f.raw[0] == '[' && strings.TrimSpace(strings.Trim(text, "[]")) == "":
		return ""
	}
	return text
}

// noMessages are values of an error's field that say that there was none.
var noMessages = wordSet(`null none false true 0 ok no_error`)

// maxAnswer is how many bytes an answer has at most whose first sentence is read for a refusal.
const maxAnswer = 800

// unfulfilled say in the first sentence of an answer that a call was not carried out.
var unfulfilled = []string{
	"could not", "couldn't", "couldn’t", "cannot ", "can't ", "can’t ", "unable to", "not found", "does not exist", "doesn't exist", "no such ", "was declined",
	"is declined", "has been declined", "declined:", "was denied", "is denied", "permission denied", "access denied", "denied:", "was rejected", "rejected:",
	"was refused", "not allowed", "not permitted", "not authorized", "unauthorized", "forbidden", "has failed", "have failed", " failed:", "failed to", "failed.",
	"not available", "no longer available", "is unavailable", "not possible", "timed out", "did not succeed", "unsuccessful", "insufficient ", "was not ",
	"were not ", "has not been ", "have not been ", "denied the request", "already taken",
	"konnte nicht", "konnten nicht", "nicht gefunden", "nicht möglich", "fehlgeschlagen", "no se pudo", "no se ha podido", "no encontrad", "impossible de",
	"n'a pas pu", "introuvable", "não foi possível", "не удалось", "не найден", "无法", "失败", "未找到", "不存在", "できません", "できませんでした", "失敗", "見つかりません", "없습니다", "실패",
}

// notCarriedOut says whether an answer begins with a sentence that says that the call was not carried out. A tool that
// declines something reports that as its success, and an answer can repeat what the call said.
func notCarriedOut(answer string, c *call) bool {
	if len(answer) > maxAnswer {
		return false
	}
	sentence := openingOf(withoutMarks(answer))
	declines := nameOf(c.name).has(decliningVerbs)
	return slices.ContainsFunc(unfulfilled, func(r string) bool {
		return containsAnyCase(sentence, r) && (!declines || !declining().MatchString(r)) &&
			!slices.ContainsFunc(c.args, func(a argument) bool { return containsAnyCase(a.raw, strings.TrimSpace(r)) })
	})
}

var (
	decliningVerbs = wordSet(`decline deny reject refuse`)
	declining      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`declin|den|reject|refus`)
	})
)

// openingOf returns the beginning of a text up to the end of its first sentence, its first line, or a remark.
func openingOf(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	for _, end := range []string{". ", "! ", "; ", " (", "。", "！", "；"} {
		if i := strings.Index(text, end); i > 0 {
			text = text[:i+1]
		}
	}
	return text
}
