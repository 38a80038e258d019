package serve_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/anystore"
)

func TestHealthCheckOfADaemon(t *testing.T) {
	a := certificatestest.NewAuthority(t)
	pair := signed(a, 1)
	for name, how := range map[string]struct{ serve, ask []string }{
		"plaintext": {},
		"TLS":       {[]string{"--tls-cert", pair.Cert, "--tls-key", pair.Key}, []string{"--tls-ca", a.Path}},
	} {
		t.Run(name, func(t *testing.T) {
			d := programtest.Serving(t, append([]string{"--listen", "127.0.0.1:0", "--store", anystore.Place(t)}, how.serve...)...)
			ask := append([]string{"healthcheck", "--addr", d.Addr}, how.ask...)
			require.Equal(t, "The daemon at "+d.Addr+" serves.\n", programtest.Ran(t, ask...).Ends(t, terminal.ExitDone).Out)
			require.Equal(t, "The daemon at "+d.Addr+" takes writes.\n",
				programtest.Ran(t, append(ask, "--writes")...).Ends(t, terminal.ExitDone).Out)
			t.Setenv("COMPACTORD_TOKEN_FILE", "there-is-none")
			programtest.Ran(t, ask...).Ends(t, terminal.ExitDone)
			require.Equal(t, terminal.ExitDone, d.Stop())
			programtest.Ran(t, ask...).Ends(t, terminal.ExitFailed).Says(t, "no daemon answers at "+d.Addr)
		})
	}
}

// A server that stops, or whose store refuses writes, answers so.
func TestHealthCheckOfWhatDoesNotServe(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, status := grpc.NewServer(), health.NewServer()
	healthv1.RegisterHealthServer(server, status)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	addr := listener.Addr().String()

	status.SetServingStatus(service.WritesService, healthv1.HealthCheckResponse_NOT_SERVING)
	programtest.Ran(t, "healthcheck", "--addr", addr).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "healthcheck", "--addr", addr, "--writes").Ends(t, terminal.ExitFailed).
		Says(t, "the daemon at "+addr+" takes no writes: it is stopping, or its log says why")
	status.Shutdown()
	programtest.Ran(t, "healthcheck", "--addr", addr).Ends(t, terminal.ExitFailed).Says(t, "the daemon at "+addr+" is stopping")
}

// What takes the connection and says nothing is not waited for.
func TestHealthCheckOfASilentServer(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	programtest.Ran(t, "healthcheck", "--addr", listener.Addr().String(), "--timeout", "10ms").Ends(t, terminal.ExitFailed)
}
