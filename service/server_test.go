package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/encoding/protowire"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

func TestHealthAndReflection(t *testing.T) {
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

// journal takes what is logged.
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

// Calls are logged and counted, refused and failed ones too; content of conversations never is, nor a summarizer's
// error, which may quote it.
func TestLogsAndMetricsTellCallsAndNoContent(t *testing.T) {
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
	d.append("s", user(secret), assistant(secret+strings.Repeat(" more", 2000)), user(secret))
	_, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
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

// A request over the limit is refused with the limit's name, and the connection lives on.
func TestRequestsOverTheLimit(t *testing.T) {
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

// A field of a newer contract is refused by its place, and nothing is stored.
func TestUnknownFieldsAreRefused(t *testing.T) {
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
