package service_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// While requests in flight take the memory of their connection, further large ones are refused and may be sent again.
// Small ones and other connections go on, and all is free once the calls have ended.
func TestMemoryOfRequestsInFlight(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}), func(o *service.ServerOptions) { o.MaxMessageBytes, o.MaxInflightBytes = 8<<20, 32<<20 })
	d.create("s", nil)
	large := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("x", 3<<20))},
	}
	held := make(chan error, 1)
	go func() {
		history := &compactordv1.InlineHistory{Messages: working(10, 200_000)}
		_, err := d.compact(&compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_History{History: history}, Policy: small(1000),
		})
		held <- err
	}()
	<-reached
	_, err := d.sessions.AppendMessages(t.Context(), large)
	info := requireReason(t, err, codes.ResourceExhausted, "MEMORY_EXHAUSTED")
	require.Equal(t, "max_inflight_bytes_of_client", info.GetMetadata()["limit"])
	require.Contains(t, status.Convert(err).Proto().String(), "google.rpc.RetryInfo")
	d.append("s", user("small"))
	close(release)
	require.NoError(t, <-held)
	_, err = d.sessions.AppendMessages(t.Context(), large)
	require.NoError(t, err)
	require.Len(t, d.messages("s"), 2)
}

// A request that would take more memory than any may is refused for good.
func TestRequestThatCanNeverBeTaken(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.MaxInflightBytes = 16 << 20 })
	d.create("s", nil)
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("x", 3<<20))},
	})
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, "max_inflight_bytes_of_client", info.GetMetadata()["limit"])
}

// The bounds hold wherever messages come: in an append, a history, and a plan token.
func TestBoundsBeforeDecoding(t *testing.T) {
	t.Parallel()
	notAsJSON(t, "JSON of so many messages could take more memory than any request may, and is refused for that; TestBoundsOfRequestsOverHTTP sends it")
	d := start(t)
	d.create("s", nil)
	empty := func(n int) []*compactordv1.Message { return make([]*compactordv1.Message, n) }
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: empty(1 << 20)})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "messages: must have at most 10,000 entries")

	history := &compactordv1.InlineHistory{Messages: empty(100_001)}
	_, err = d.compact(&compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_History{History: history}})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "history.messages: must have at most 100,000 entries")

	options, err := proto.Marshal(&compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_History{History: history}})
	require.NoError(t, err)
	const fixed = 1 + 1 + 4 + 2*32 + 1
	token := append(make([]byte, fixed), options...)
	token[0] = 2
	_, err = d.compactions.CommitCompaction(t.Context(), &compactordv1.CommitCompactionRequest{
		SessionId: "s", PlanToken: base64.RawURLEncoding.EncodeToString(token), Answers: []string{"x"},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}
