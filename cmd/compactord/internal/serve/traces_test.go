package serve_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// collector is a collector of OpenTelemetry, as its protocol is defined: over gRPC and over HTTP.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer

	mu   sync.Mutex
	got  []*tracev1.ResourceSpans
	keys []string
}

func (c *collector) take(request *collectorv1.ExportTraceServiceRequest, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, request.GetResourceSpans()...)
	c.keys = append(c.keys, key)
}

// Export implements TraceService.
func (c *collector) Export(
	ctx context.Context, request *collectorv1.ExportTraceServiceRequest,
) (*collectorv1.ExportTraceServiceResponse, error) {
	c.take(request, strings.Join(metadata.ValueFromIncomingContext(ctx, "x-key"), ","))
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// ServeHTTP takes spans in protobuf.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var from io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		from, _ = gzip.NewReader(r.Body)
	}
	body, err := io.ReadAll(from)
	var request collectorv1.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.take(&request, r.Header.Get("X-Key"))
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// collecting starts a collector, and returns the flags of a daemon that sends to it.
func collecting(t *testing.T, c *collector, protocol string, encrypted bool) []string {
	t.Helper()
	if protocol == "grpc" {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server := grpc.NewServer()
		collectorv1.RegisterTraceServiceServer(server, c)
		done := make(chan error, 1)
		go func() { done <- server.Serve(listener) }()
		t.Cleanup(func() {
			server.Stop()
			require.NoError(t, <-done)
		})
		return []string{"--traces-endpoint", "http://" + listener.Addr().String()}
	}
	server := httptest.NewUnstartedServer(c)
	flags := []string{"--traces-protocol", protocol}
	if encrypted {
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		server.StartTLS()
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		flags = append(flags, "--traces-ca", sample.File(t, "ca.pem", string(authority)))
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return append(flags, "--traces-endpoint", server.URL)
}

// A daemon that stops has sent the spans of all its calls, with its build, and below the client's own.
func TestTracesReachTheCollector(t *testing.T) {
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for name, test := range map[string]struct {
		protocol  string
		encrypted bool
	}{"grpc": {"grpc", false}, "http": {"http/protobuf", false}, "https": {"http/protobuf", true}} {
		t.Run(name, func(t *testing.T) {
			// A collector that the environment names for other programs is none of ours.
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv("OTEL_SERVICE_NAME", "another")
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
			headers := sample.File(t, "headers", "# of the collector\nX-Key: very secret\n")
			require.NoError(t, os.Chmod(headers, 0o600))
			c := &collector{}
			d := programtest.Serving(t, append(collecting(t, c, test.protocol, test.encrypted),
				"--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--traces-headers", headers)...)
			ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+id+"-"+parent+"-01")
			_, err := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr)).
				CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s", Title: "tell-nobody"})
			require.NoError(t, err)
			require.Equal(t, terminal.ExitDone, d.Stop())
			require.NotContains(t, d.Log.String(), "very secret")
			require.Contains(t, d.Log.String(), "trace_id="+id)
			require.NotEmpty(t, c.got)
			said := map[string]string{}
			for _, a := range c.got[0].GetResource().GetAttributes() {
				said[a.GetKey()] = a.GetValue().GetStringValue()
			}
			require.Equal(t, "compactord", said["service.name"])
			require.Equal(t, terminal.ThisBuild().Version, said["service.version"])
			require.Equal(t, terminal.ThisBuild().Revision, said["vcs.ref.head.revision"])
			require.Equal(t, "test", said["deployment.environment.name"])
			require.Equal(t, "very secret", c.keys[0])
			names := map[string]*tracev1.Span{}
			for _, r := range c.got {
				require.NotContains(t, r.String(), "tell-nobody")
				for _, s := range r.GetScopeSpans() {
					for _, span := range s.GetSpans() {
						names[span.GetName()] = span
					}
				}
			}
			call, commit := names["compactord.v1.SessionService/CreateSession"], names["commit"]
			require.NotNil(t, call)
			require.NotNil(t, commit)
			require.Equal(t, parent, hex.EncodeToString(call.GetParentSpanId()))
			require.Equal(t, id, hex.EncodeToString(commit.GetTraceId()))
			require.Equal(t, call.GetSpanId(), commit.GetParentSpanId())
		})
	}
}

// Where no collector answers, calls do, and the daemon stops in time.
func TestTracesWithoutCollector(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--drain-timeout", "1s",
		"--traces-endpoint", "http://"+freePort(t))
	programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Contains(t, d.Log.String(), "traces are not sent: the collector does not take them")
}

func TestTracesRefused(t *testing.T) {
	open := sample.File(t, "open", "a: b\n")
	require.NoError(t, os.Chmod(open, 0o644))
	broken := sample.File(t, "broken", "very secret\n")
	require.NoError(t, os.Chmod(broken, 0o600))
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--traces-endpoint", "127.0.0.1:4317"}, "must begin with http:// or https:// and name a host"},
		{[]string{"--traces-endpoint", "http://a:secret@127.0.0.1:4317"}, "must only have a host, a port and a path"},
		{[]string{"--traces-endpoint", "https://collector"}, "must name a port"},
		{[]string{"--traces-endpoint", "https://collector:1/v1"}, "an address of the protocol grpc has no path"},
		{[]string{"--traces-ca", open}, "needs --traces-endpoint"},
		{[]string{"--traces-endpoint", "http://127.0.0.1:1", "--traces-ca", open}, "goes with an https address"},
		{[]string{"--traces-endpoint", "http://collector:1", "--traces-headers", broken}, "others could read them on their way to collector:1"},
		{[]string{"--traces-endpoint", "http://127.0.0.1:1", "--traces-headers", open}, open},
		{[]string{"--traces-endpoint", "http://127.0.0.1:1", "--traces-headers", broken}, "line 1: must be NAME: VALUE"},
		{[]string{"--traces-protocol", "udp"}, `"udp" is neither grpc nor http/protobuf`},
		{[]string{"--traces-sample", "1.1"}, "must be from 0 to 1"},
		{[]string{"--traces-service", ""}, "must have from 1 to 128 bytes"},
	} {
		r := programtest.Ran(t, append([]string{"config", "check"}, test.args...)...).Ends(t, terminal.ExitUsage).Says(t, test.says)
		require.NotContains(t, r.Err, "secret")
	}
}
