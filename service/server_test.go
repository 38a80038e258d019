package service_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

func TestHealthAndReflection(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.Reflection = true })
	conn := d.dial()
	health, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, health.GetStatus())

	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	}))
	answer, err := stream.Recv()
	require.NoError(t, err)
	require.NoError(t, stream.CloseSend())
	var names []string
	for _, s := range answer.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	require.Contains(t, names, "compactord.v1.SessionService")
	require.Contains(t, names, "compactord.v1.CompactionService")
}

// journal records what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Calls are logged and counted, refused and failed ones too. Content of conversations never is, nor a summarizer's
// error, which may quote it.
func TestLogsAndMetricsHaveCallsAndNoContent(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	log := &journal{}
	metrics := prometheus.NewRegistry()
	broken := &scripted{name: "broken", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		panic(secret)
	}}
	d := start(t, withSummarizer(broken), func(o *service.ServerOptions) {
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Metrics = metrics
	})
	d.create("s", by("broken", noFallback, small(500)))
	d.append("s", user(secret+strings.Repeat(" more", 2000)), assistant(secret+strings.Repeat(" more", 2000)), user(secret))
	_, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Internal, "INTERNAL")
	_, err = d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "white space"})
	require.Equal(t, codes.InvalidArgument, statusCode(err))
	d.view("s")
	d.stop()

	require.Contains(t, log.String(), "AppendMessages")
	require.Contains(t, log.String(), "InvalidArgument")
	require.NotContains(t, log.String(), secret)
	families, err := metrics.Gather()
	require.NoError(t, err)
	var text strings.Builder
	for _, family := range families {
		text.WriteString(family.String())
	}
	require.Contains(t, text.String(), "grpc_server_handled_total")
	require.Contains(t, text.String(), "compactord_compactions_total")
	require.Contains(t, text.String(), `value:"failed"`)
	require.Contains(t, text.String(), "InvalidArgument")
	require.NotContains(t, text.String(), secret)
}

// A request over the size limit is refused with the limit's name, and the connection stays open.
func TestRequestsOverTheLimit(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) { o.MaxMessageBytes = 1 << 20 })
	d.create("s", nil)
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("x", 3<<19))},
	})
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, "max_message_bytes", info.GetMetadata()["limit"])
	require.Equal(t, "1048576", info.GetMetadata()["value"])
	d.append("s", user("small enough"))
}

// A field of a newer contract is refused with its path, and nothing is stored.
func TestUnknownFieldsAreRefused(t *testing.T) {
	t.Parallel()
	notAsJSON(t, "a client of protobuf leaves out what it does not know; TestHostileJSON sends a field that the contract does not have")
	d := start(t)
	d.create("s", nil)
	newer := user("hello")
	newer.GetParts()[0].ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 900, protowire.VarintType), 1))
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{newer},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "messages[0].parts[0].900")
	require.Empty(t, d.messages("s"))
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	sent, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("not bytes but %T", v)
	}
	return *sent, nil
}

func (rawCodec) Unmarshal([]byte, any) error { return nil }

// Bytes that cannot be decoded are a bad request like any other, and no bug of the daemon.
func TestRequestsThatDoNotDecode(t *testing.T) {
	t.Parallel()
	d := start(t)
	for name, sent := range map[string][]byte{
		"not UTF-8": {0x0a, 2, 0xff, 0xfe}, "cut off": {0x0a, 9, 'x'}, "no protobuf": {0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			err := d.dial().Invoke(t.Context(), compactordv1.SessionService_GetSession_FullMethodName, &sent, &[]byte{},
				grpc.ForceCodec(rawCodec{}))
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		})
	}
}

// A request with a huge error does not affect other calls on its connection.
func TestErrorsStayShort(t *testing.T) {
	t.Parallel()
	d := start(t)
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		Labels: map[string]string{strings.Repeat("k", 9<<20): "v"},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.Less(t, proto.Size(status.Convert(err).Proto()), 8000)
	require.ErrorContains(t, err, "labels")
}

// Times and durations that JSON cannot express are refused.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	notAsJSON(t, "a client of protobuf does not write such a time; TestHostileJSON sends it")
	d := start(t)
	d.create("s", nil)
	late := user("x")
	late.WrittenAt = &timestamppb.Timestamp{Seconds: 1 << 60, Nanos: -7}
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{late},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "messages[0].written_at")
}
