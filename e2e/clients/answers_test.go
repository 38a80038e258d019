package clients_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// leftOut are the fields that differ from run to run, at any depth.
var leftOut = []string{
	"appended_at", "changed_at", "created_at", "duration", "ended_at", "has_more", "next_page_token", "plan_token", "set_at", "time",
	"view_token",
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ids numbers the ids that the daemon generates, in the order of their first appearance in a case's answers.
type ids map[string]string

// comparable returns an answer as the table has it: without fields that differ from run to run, and without empty
// fields at the top level.
func (known ids) comparable(answer map[string]any, without []string) map[string]any {
	known.walk(answer, append(slices.Clone(leftOut), without...))
	maps.DeleteFunc(answer, func(_ string, value any) bool { return empty(value) })
	return answer
}

func (known ids) walk(value any, without []string) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(without, key) {
				delete(v, key)
				continue
			}
			v[key] = known.walk(v[key], without)
		}
	case []any:
		for i := range v {
			v[i] = known.walk(v[i], without)
		}
	case string:
		if uuid.MatchString(v) {
			if known[v] == "" {
				known[v] = fmt.Sprintf("id %d", len(known)+1)
			}
			return known[v]
		}
	}
	return value
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// object converts a message to protobuf's JSON with the field names of the contract.
func object(t *testing.T, m proto.Message) map[string]any {
	t.Helper()
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	require.NoError(t, err)
	var value map[string]any
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}

// list converts messages to a JSON list.
func list[M proto.Message](t *testing.T, messages []M) []any {
	t.Helper()
	values := make([]any, len(messages))
	for i, m := range messages {
		values[i] = object(t, m)
	}
	return values
}

// texts converts strings to a JSON list.
func texts(all []string) []any {
	values := make([]any, len(all))
	for i, text := range all {
		values[i] = text
	}
	return values
}

// failure converts an error to the table's form: everything that programs decide by, but not the message.
func failure(t *testing.T, err error) map[string]any {
	t.Helper()
	s, ok := status.FromError(err)
	require.True(t, ok, "%v", err)
	details := map[string]any{"code": code.Code_name[int32(s.Code())]}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			details["reason"] = d.GetReason()
			metadata := map[string]any{}
			for key, value := range d.GetMetadata() {
				metadata[key] = value
			}
			if len(metadata) > 0 {
				details["metadata"] = metadata
			}
		case *errdetails.BadRequest:
			fields := make([]string, len(d.GetFieldViolations()))
			for i, violation := range d.GetFieldViolations() {
				fields[i] = violation.GetField()
			}
			details["fields"] = texts(fields)
		}
	}
	return map[string]any{"error": details}
}
