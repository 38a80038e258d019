package gemini_test

import (
	"encoding/json"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// requirePart compares a part with one that is written in the JSON of the contract.
func requirePart(t *testing.T, want string, have *compactordv1.Part) {
	t.Helper()
	part := &compactordv1.Part{}
	require.NoError(t, protojson.Unmarshal([]byte(want), part))
	require.True(t, proto.Equal(part, have), "want %v\nhave %v", part, have)
}

// message reads a message that is written in the JSON of the contract.
func message(t *testing.T, raw string) *compactordv1.Message {
	t.Helper()
	m := &compactordv1.Message{}
	require.NoError(t, protojson.Unmarshal([]byte(raw), m), raw)
	return m
}

func messages(t *testing.T, raw ...string) []*compactordv1.Message {
	t.Helper()
	all := make([]*compactordv1.Message, len(raw))
	for i, r := range raw {
		all[i] = message(t, r)
	}
	return all
}

func roles(messages []*compactordv1.Message) []compactordv1.Role {
	all := make([]compactordv1.Role, len(messages))
	for i, m := range messages {
		all[i] = m.GetRole()
	}
	return all
}

// parse parses a list and requires that there is no error.
func parse(t *testing.T, raw string) *dialect.Parsed {
	t.Helper()
	parsed, err := gemini.New().Parse([]byte(raw))
	require.NoError(t, err, raw)
	for i, m := range parsed.Messages {
		require.NoError(t, protovalidate.Validate(m), "message %d", i)
	}
	return parsed
}

// requireWritten requires that messages are rendered as the list that they were parsed from.
func requireWritten(t *testing.T, want *dialect.List, messages []*compactordv1.Message) {
	t.Helper()
	written, err := gemini.New().Render(messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Empty(t, written.Dropped)
	require.Empty(t, written.Repairs)
	requireSame(t, want.System, written.System)
	requireSame(t, want.Messages, written.Messages)
}

func requireSame(t *testing.T, want, have []json.RawMessage) {
	t.Helper()
	require.Len(t, have, len(want))
	for i := range want {
		if !rawjson.Equal(want[i], have[i]) {
			require.Equal(t, string(want[i]), string(have[i]), "element %d", i)
		}
	}
}

func model(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }

func assistant(parts string) string { return `{"role":"ROLE_ASSISTANT","parts":[` + parts + `]}` }

func user(parts string) string { return `{"role":"ROLE_USER","parts":[` + parts + `]}` }

func opaque(json string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{
		Dialect: compactordv1.Dialect_DIALECT_GEMINI, Json: json,
	}}}
}

// list splits a list, which may break any rule.
func list(t *testing.T, raw string) *dialect.List {
	t.Helper()
	split, err := gemini.New().Split([]byte(raw))
	require.NoError(t, err, raw)
	return split
}
