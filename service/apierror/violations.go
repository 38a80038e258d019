package apierror

import (
	"regexp"
	"strings"
	"sync"

	"buf.build/go/protovalidate"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxFieldViolations is the most violations in one BadRequest.
const maxFieldViolations = 20

func fromViolations(v *protovalidate.ValidationError) *Error {
	e := &Error{
		Reason: compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
	}
	for _, violation := range v.Violations {
		if len(e.Fields) == maxFieldViolations {
			break
		}
		e.Fields = append(e.Fields, FieldViolation{
			Field:       violatedField(violation),
			Description: describe(violation),
		})
	}
	texts := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		texts = append(texts, short(f.Field, maxFieldBytes)+": "+short(f.Description, maxDescriptionBytes))
	}
	e.Message = strings.Join(texts, "; ")
	return e
}

// crossRules has the field to fix for each rule of the contract that concerns several fields.
var crossRules = map[string]string{
	"message.parts_of_role":                        "parts",
	"message.assistant_only":                       "role",
	"mask_observations.one_unit":                   "keep_groups",
	"prune_tool_outputs.one_unit":                  "keep_groups",
	"create_session.request_id_needs_session_id":   "request_id",
	"append_messages.one_shape":                    "messages",
	"inline_history.one_shape":                     "messages",
	"counted_messages.one_shape":                   "messages",
	"fork_session.request_id_needs_new_session_id": "request_id",
	"revert.message_or_summary":                    "message_from_future",
	"revert.focus_needs_summarize":                 "focus",
	"client_plan.does_something":                   "first_kept_index",
	"commit_compaction.one_text":                   "answers",
}

// patternTexts describe the contract's patterns in words.
var patternTexts = map[string]string{
	"^[!-~]{1,128}$":                       "must be 1 to 128 visible ASCII characters without spaces",
	"^[A-Za-z][A-Za-z0-9_.-]{0,63}$":       "must be a name: a letter, then up to 63 letters, digits, _, . and -",
	"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$": "must be a name: a letter or digit, then up to 127 letters, digits, ., _, :, / and -",
	smallName:                              "must be a name: a small letter, then up to 63 small letters, digits and _",
}

// smallName is the pattern of the names of presets and of strategies of the operator's own.
const smallName = "^[a-z][a-z0-9_]{0,63}$"

var isSmallName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(smallName) })

// describe says what is wrong with a field: for a pattern the words of patternTexts, else those of the rule, in the words
// of other errors.
func describe(v *protovalidate.Violation) string {
	if v.Proto.GetRuleId() == "string.pattern" && v.RuleValue.IsValid() {
		if words, known := patternTexts[v.RuleValue.String()]; known {
			return words + respelt(v)
		}
	}
	return inOurWords(v.Proto.GetMessage())
}

// respelt asks for the name that was meant where it was written in another case or with other marks, such as claude-code.
func respelt(v *protovalidate.Violation) string {
	name, isText := v.FieldValue.Interface().(string)
	if !isText || v.RuleValue.String() != smallName {
		return ""
	}
	written := strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(strings.ToLower(name))
	if !isSmallName().MatchString(written) {
		return ""
	}
	return " (did you mean " + written + "?)"
}

func violatedField(v *protovalidate.Violation) string {
	path := protovalidate.FieldPathString(v.Proto.GetField())
	field, crosses := crossRules[v.Proto.GetRuleId()]
	switch {
	case !crosses:
		return path
	case path == "":
		return field
	default:
		return path + "." + field
	}
}
