package httpapi_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// samples are messages in JSON on both sides of rules across fields, of values that are refused, and of what must be given.
var samples = map[string][]string{
	"AppendMessagesRequest": {
		`{"sessionId": "s"}`, `{"sessionId": "s", "messages": []}`, `{"messages": [{"role": "ROLE_USER"}]}`,
		`{"sessionId": "s", "messages": [{"role": "ROLE_USER"}]}`,
		`{"sessionId": "s", "providerJson": {"dialect": "DIALECT_GEMINI", "json": "{}"}}`,
		`{"sessionId": "s", "providerJson": {"dialect": "DIALECT_UNSPECIFIED", "json": "{}"}}`,
		`{"sessionId": "s", "providerJson": {"json": "{}"}}`,
		`{"sessionId": "s", "messages": [{"role": "ROLE_USER"}], "providerJson": {"dialect": "DIALECT_GEMINI", "json": "{}"}}`,
	},
	"Message": {
		`{}`, `{"role": "ROLE_UNSPECIFIED"}`, `{"role": "ROLE_SYSTEM", "parts": [{"text": {"text": "x"}}]}`,
		`{"role": "ROLE_DEVELOPER", "parts": [{"text": {"text": "x"}}, {"toolCall": {"name": "x"}}]}`,
		`{"role": "ROLE_USER", "parts": [{"media": {"mimeType": "image/png", "uri": "x"}}]}`,
		`{"role": "ROLE_USER", "parts": [{"thinking": {"text": "x"}}]}`,
		`{"role": "ROLE_ASSISTANT", "parts": [{"thinking": {"text": "x"}}], "model": "x", "stopReason": "STOP_REASON_END"}`,
		`{"role": "ROLE_ASSISTANT", "parts": [{"toolResult": {}}]}`, `{"role": "ROLE_TOOL", "parts": [{"toolResult": {}}]}`,
		`{"role": "ROLE_TOOL", "parts": []}`, `{"role": "ROLE_TOOL", "parts": [{"toolResult": {}}, {"toolResult": {}}]}`,
		`{"role": "ROLE_TOOL", "parts": [{"text": {"text": "x"}}]}`, `{"role": "ROLE_USER", "model": "x"}`,
		`{"role": "ROLE_USER", "model": "", "stopReason": "STOP_REASON_UNSPECIFIED"}`, `{"role": "ROLE_USER", "usage": {}}`,
		`{"role": "ROLE_USER", "stopReason": "STOP_REASON_END"}`, `{"role": "ROLE_USER", "errorText": "x"}`,
	},
	"ClientPlan": {
		`{"strategy": "x"}`, `{"strategy": "x", "firstKeptIndex": 0}`, `{"strategy": "x", "edits": []}`, `{"firstKeptIndex": 3}`,
	},
	"CommitCompactionRequest": {
		`{"sessionId": "s", "planToken": "x", "summary": "x"}`, `{"sessionId": "s", "planToken": "x", "summary": "x", "answers": ["x"]}`,
		`{"sessionId": "s", "planToken": "x", "summary": "", "answers": ["x"]}`, `{"sessionId": "s", "summary": "x"}`,
	},
	"InlineHistory": {
		`{}`, `{"messages": [{"role": "ROLE_USER"}], "providerJson": {"dialect": "DIALECT_GEMINI", "json": "{}"}}`,
		`{"messages": [], "providerJson": {"dialect": "DIALECT_GEMINI", "json": "{}"}}`,
	},
	"RevertToCheckpointRequest": {
		`{"sessionId": "s", "point": 0}`, `{"sessionId": "s"}`, `{"sessionId": "s", "point": 1, "messageFromFuture": "x", "summarize": true}`,
		`{"sessionId": "s", "point": 1, "messageFromFuture": "x", "summarize": false}`, `{"sessionId": "s", "point": 1, "focus": "x"}`,
		`{"sessionId": "s", "point": 1, "focus": "x", "summarize": true}`, `{"sessionId": "s", "point": 1, "focus": ""}`,
	},
	"CreateSessionRequest": {
		`{}`, `{"requestId": "x"}`, `{"requestId": "x", "sessionId": "s"}`, `{"requestId": "", "sessionId": ""}`,
		`{"labels": {"": "x"}}`, `{"labels": {"x": ""}}`,
	},
	"ForkSessionRequest": {
		`{"sessionId": "s", "requestId": "x"}`, `{"sessionId": "s", "requestId": "x", "newSessionId": "t"}`, `{"newSessionId": "t"}`,
	},
	"ChildContext": {
		`{}`, `{"sees": "CHILD_SEES_UNSPECIFIED"}`, `{"sees": "CHILD_SEES_CHOSEN", "indexes": [1], "instructions": true}`, `{"sees": "CHILD_SEES_NOTHING", "indexes": [1]}`,
		`{"sees": "CHILD_SEES_NOTHING", "indexes": [], "blocks": []}`, `{"sees": "CHILD_SEES_EVERYTHING", "blocks": ["x"]}`,
		`{"sees": "CHILD_SEES_EVERYTHING", "instructions": true}`, `{"sees": "CHILD_SEES_EVERYTHING", "instructions": false}`,
	},
	"MaskObservationsStrategy": {`{}`, `{"keepGroups": 1}`, `{"keepTurns": 1}`, `{"keepGroups": 1, "keepTurns": 1}`},
	"PruneToolOutputsStrategy": {`{}`, `{"keepGroups": 0, "keepTurns": 0}`, `{"keepTurns": 1}`},
	"CountedMessages": {
		`{}`, `{"messages": [{"role": "ROLE_USER"}]}`,
		`{"messages": [{"role": "ROLE_USER"}], "providerJson": {"dialect": "DIALECT_GEMINI", "json": "{}"}}`,
	},
	"ListRecordsRequest": {
		`{"sessionId": "s", "kinds": ["RECORD_KIND_REVERT"]}`, `{"sessionId": "s", "kinds": ["RECORD_KIND_UNSPECIFIED"]}`,
	},
	"CompactRequest": {
		`{"sessionId": "s", "reason": "COMPACTION_REASON_MANUAL"}`, `{"sessionId": "s", "reason": "COMPACTION_REASON_USER_MESSAGE"}`,
		`{}`,
	},
	"PinMessagesRequest": {`{"sessionId": "s"}`, `{"sessionId": "s", "indexes": []}`, `{"sessionId": "s", "indexes": [0]}`},
}

// The document accepts the messages that the contract's rules accept, and refuses those that they refuse.
func TestTheDocumentHasTheRulesOfTheContract(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var document struct {
		Components struct{ Schemas json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(text, &document))
	defs := strings.ReplaceAll(string(document.Components.Schemas), "#/components/schemas/", "#/$defs/")
	counts := make(map[bool]int)
	for name, all := range samples {
		schema := &jsonschema.Schema{}
		require.NoError(t, json.Unmarshal([]byte(`{"$ref": "#/$defs/`+name+`", "$defs": `+defs+`}`), schema))
		resolved, err := schema.Resolve(nil)
		require.NoError(t, err, name)
		kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("compactord.v1." + name))
		require.NoError(t, err)
		for _, sample := range all {
			m := kind.New().Interface()
			require.NoError(t, protojson.Unmarshal([]byte(sample), m), "%s %s", name, sample)
			var value any
			require.NoError(t, json.Unmarshal([]byte(sample), &value))
			refusal, refused := protovalidate.Validate(m), resolved.Validate(value)
			require.Equal(t, refusal == nil, refused == nil, "%s %s: the contract says %v, the document %v", name, sample, refusal, refused)
			counts[refusal == nil]++
		}
	}
	require.Greater(t, counts[true], 20)
	require.Greater(t, counts[false], 20)
}
