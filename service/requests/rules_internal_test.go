package requests

import (
	"context"
	"errors"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The rules stop soon after the call has ended, whatever is left, and the call ends with its cause.
func TestRulesStopWithTheCall(t *testing.T) {
	req := &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: make([]*compactordv1.Message, 5000)}
	for i := range req.GetMessages() {
		req.Messages[i] = &compactordv1.Message{}
	}
	asked := 0
	until := &untilEnded{ended: func() bool {
		asked++
		return asked == 3
	}}
	validator, err := contractRules()
	require.NoError(t, err)
	var found *protovalidate.ValidationError
	require.ErrorAs(t, validator.Validate(req, protovalidate.WithFilter(until)), &found)
	require.Equal(t, 3, asked)
	const each = 2 // violations of an empty message
	require.LessOrEqual(t, len(found.Violations), 3*lookEvery*each)

	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the client has left")
	cancel(left)
	require.ErrorIs(t, checkRules(ctx, req, 5000), left)
}

// All violations of a request are found, but of one that holds very many values only the first.
func TestHowManyViolations(t *testing.T) {
	req := &compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{{}, {}}}
	violations := func(values int) int {
		var invalid *protovalidate.ValidationError
		require.ErrorAs(t, checkRules(t.Context(), req, values), &invalid)
		return len(invalid.Violations)
	}
	require.Greater(t, violations(2), 2)
	require.Equal(t, 1, violations(listsViolations+1))
}

// A request within another one has the bounds of the contract, and a bound for its memory.
func TestRequestsWithinRequests(t *testing.T) {
	wire := func(req proto.Message) []byte {
		encoded, err := proto.Marshal(req)
		require.NoError(t, err)
		return encoded
	}
	into := &compactordv1.CompactRequest{}
	good := &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"}}
	require.NoError(t, Decode(t.Context(), wire(good), into, 1<<20))
	require.True(t, proto.Equal(good, into))
	require.Error(t, Decode(t.Context(), wire(good), into, 10))
	require.Error(t, Decode(t.Context(), wire(&compactordv1.CompactRequest{}), into, 1<<20), "breaks a rule")
	require.Error(t, Decode(t.Context(), []byte{0xff}, into, 1<<20))
	many := &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_History{
		History: &compactordv1.InlineHistory{Messages: make([]*compactordv1.Message, 100001)},
	}}
	require.Error(t, Decode(t.Context(), wire(many), into, 1<<40))
}
