package openaichat_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func parse(t *testing.T, raw []byte) *dialect.Parsed {
	t.Helper()
	parsed, err := openaichat.New().Parse(raw)
	require.NoError(t, err)
	for _, m := range parsed.Messages {
		require.NoError(t, protovalidate.Validate(m))
	}
	return parsed
}

func render(t *testing.T, messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	t.Helper()
	rendered, err := openaichat.New().Render(messages, opts)
	require.NoError(t, err)
	require.Len(t, rendered.From, len(rendered.Messages))
	return rendered
}

// requireKept requires that a list is exported as it was parsed.
func requireKept(t *testing.T, raw []byte) *dialect.Parsed {
	t.Helper()
	list, err := openaichat.New().Split(raw)
	require.NoError(t, err)
	parsed := parse(t, raw)
	back := render(t, parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.Len(t, back.Messages, len(list.Messages))
	for i, m := range list.Messages {
		if !rawjson.Equal(m, back.Messages[i]) {
			require.Failf(t, "a message came back changed", "message %d\nwas  %s\nnow  %s", i, m, back.Messages[i])
		}
	}
	require.Empty(t, back.Dropped)
	require.Empty(t, back.Repairs)
	return parsed
}

// neutral reads a message that is written in protobuf's JSON, with the field names of the contract.
func neutral(t *testing.T, text string) *compactordv1.Message {
	t.Helper()
	m := &compactordv1.Message{}
	require.NoError(t, protojson.Unmarshal([]byte(text), m), text)
	return m
}

func neutrals(t *testing.T, texts ...string) []*compactordv1.Message {
	t.Helper()
	messages := make([]*compactordv1.Message, len(texts))
	for i, text := range texts {
		messages[i] = neutral(t, text)
	}
	return messages
}

func neutralResult(id, rest string) string {
	return fmt.Sprintf(`{"role":"ROLE_TOOL","parts":[{"tool_result":{"call_id":%q%s}}]}`, id, rest)
}

func requireList(t *testing.T, want string, rendered *dialect.Rendered) {
	t.Helper()
	have := rawjson.EncodeArray(rendered.Messages)
	if !rawjson.Equal(json.RawMessage("["+want+"]"), have) {
		require.JSONEq(t, "["+want+"]", string(have))
		require.Equal(t, "["+want+"]", string(have))
	}
}

func listOf(t *testing.T, elements string) *dialect.List {
	t.Helper()
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte("["+elements+"]"), &list), elements)
	return &dialect.List{Messages: list}
}
