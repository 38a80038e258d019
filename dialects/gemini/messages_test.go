package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// requirePart requires a part, written in the JSON of the contract.
func requirePart(t *testing.T, want string, have *compactordv1.Part) {
	t.Helper()
	part := &compactordv1.Part{}
	require.NoError(t, protojson.Unmarshal([]byte(want), part))
	require.True(t, proto.Equal(part, have), "want %v\nhave %v", part, have)
}

// message reads a message, written in the JSON of the contract.
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
