package openairesponses

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const mostIDCharacters = 64

var (
	idPattern   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	namePattern = idPattern
	prefixes    = map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc"}
)

// itemID returns an item's own id; false where it has none, or one that names a call.
func (e *entry) itemID() (string, bool) {
	if rawjson.KindOf(e.fields["id"]) != rawjson.String ||
		e.typ == "local_shell_call_output" && !e.fields.Has("call_id") {
		return "", false
	}
	return textIn(e.fields, "id"), true
}

func (in *input) itemIDs(report report) {
	for _, e := range in.entries {
		id, has := e.itemID()
		if has && !idPattern.MatchString(id) {
			report(e.at, 0, "id has other characters, or more or fewer of them")
		} else if has && !strings.HasPrefix(id, prefixes[e.typ]) {
			report(e.at, 0, "id must begin with "+prefixes[e.typ])
		}
	}
}

func (in *input) itemIDsUnique(report report) {
	seen := make(map[string]bool)
	for _, e := range in.entries {
		id, has := e.itemID()
		if has && seen[id] {
			report(e.at, 0, "an earlier item has the same id")
		}
		seen[id] = has
	}
}

func (in *input) callIDs(report report) {
	for _, e := range in.entries {
		if utf8.RuneCountInString(e.link) > mostIDCharacters {
			report(e.at, 0, "the id of the call is too long")
		}
		if e.link == "" && (e.typ == "function_call" || e.typ == "custom_tool_call" || e.speaker == ofTool) &&
			rawjson.KindOf(e.fields["call_id"]) == rawjson.String {
			report(e.at, 0, "the id of the call is empty")
		}
	}
}

func (in *input) callIDsUnique(report report) {
	seen := make(map[string]bool)
	for _, e := range in.entries {
		if !e.isCall() {
			continue
		}
		if seen[e.link] {
			report(e.at, 0, "an earlier call has the same id")
		}
		seen[e.link] = true
	}
}

func (in *input) toolNames(report report) {
	for _, e := range in.entries {
		if _, isCall := callTypes[e.typ]; isCall && rawjson.KindOf(e.fields["name"]) == rawjson.String &&
			!namePattern.MatchString(textIn(e.fields, "name")) {
			report(e.at, 0, "name has other characters, or more or fewer of them")
		}
	}
}

func (in *input) arguments(report report) {
	for _, e := range in.entries {
		if e.typ != "function_call" || rawjson.KindOf(e.fields["arguments"]) != rawjson.String {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(textIn(e.fields, "arguments")), &object) != nil || object == nil {
			report(e.at, 0, "arguments must hold a JSON object")
		}
	}
}

func (in *input) callsAnswered(report report) { in.unanswered(false, report) }

func (in *input) lastCallsAnswered(report report) { in.unanswered(true, report) }

// unanswered tells of the calls without an output: of those at the end, or of the others.
func (in *input) unanswered(atEnd bool, report report) {
	last := -1
	if n := len(in.entries); n > 0 {
		last = in.entries[n-1].batch
	}
	for _, e := range in.entries {
		if e.isCall() && !in.answered[e] && atEnd == (e.batch == last) {
			report(e.at, 0, "the call has no output")
		}
	}
}

func (in *input) outputsHaveCalls(report report) {
	for _, e := range in.entries {
		if e.speaker == ofTool && e.link != "" && in.answers[e] == nil && !in.repeats[e] {
			report(e.at, 0, "no call before the output has its id")
		}
	}
}

func (in *input) oneOutput(report report) {
	for _, e := range in.entries {
		if e.speaker == ofTool && e.link != "" && in.answers[e] == nil && in.repeats[e] {
			report(e.at, 0, "an earlier output answers the same call")
		}
	}
}

func (in *input) outputTypes(report report) {
	for _, e := range in.entries {
		if call := in.answers[e]; call != nil && callTypes[call.typ].output != e.typ {
			report(e.at, 0, "the output must be of type "+callTypes[call.typ].output)
		}
	}
}

func (in *input) outputsFollowCalls(report report) {
	for _, e := range in.entries {
		if call := in.answers[e]; call != nil && call.batch != e.batch {
			report(e.at, 0, "something stands between the output and the calls that it belongs to")
		}
	}
}

func (in *input) reasoningFollowed(report report) {
	followed := false
	for i := len(in.entries) - 1; i >= 0; i-- {
		e := in.entries[i]
		if e.typ != "reasoning" {
			followed = e.speaker == ofModel
		} else if !followed {
			report(e.at, 0, "nothing of the model follows the reasoning")
		}
	}
}

func (in *input) reasoningResolvable(report report) {
	for _, e := range in.entries {
		if e.typ == "reasoning" && textIn(e.fields, "id") == "" && textIn(e.fields, "encrypted_content") == "" {
			report(e.at, 0, "the reasoning has neither id nor encrypted_content")
		}
	}
}

func (in *input) compactionLength(report report) {
	for _, e := range in.entries {
		if e.typ != "compaction" || rawjson.KindOf(e.fields["encrypted_content"]) != rawjson.String {
			continue
		}
		if n := utf8.RuneCountInString(textIn(e.fields, "encrypted_content")); n < 1 || n > 10_485_760 {
			report(e.at, 0, "encrypted_content is empty or too long")
		}
	}
}
