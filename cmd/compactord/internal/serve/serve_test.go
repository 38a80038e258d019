package serve_test

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestServe(t *testing.T) {
	for name, listen := range map[string]string{
		"tcp":  "127.0.0.1:0",
		"unix": "unix:" + filepath.Join(t.TempDir(), "d.sock"),
	} {
		t.Run(name, func(t *testing.T) {
			store := anystore.Place(t)
			d := programtest.Serving(t, "--listen", listen, "--store", store)
			on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--addr", d.Addr)...) }
			require.Equal(t, "There are no sessions.\n", on("sessions").Ends(t, terminal.ExitDone).Out)
			on("import", sample.TalkFile(t), "--session", "s").Ends(t, terminal.ExitDone)
			require.Contains(t, on("compact", "--session", "s").Ends(t, terminal.ExitDone).Out, "Compacted session s.")
			require.Contains(t, on("view", "--session", "s").Ends(t, terminal.ExitDone).Out, "covered by the summary")
			require.Equal(t, terminal.ExitDone, d.Stop())
			require.NotContains(t, d.Log.String(), "failing test", "content of a conversation was logged")
			lines := strings.Split(strings.TrimSpace(d.Log.String()), "\n")
			require.Contains(t, lines[0], "msg=serving version="+terminal.ThisBuild().Version+" address="+d.Addr+" store="+logged(store))
			require.Contains(t, lines[len(lines)-2], "msg=stopping")
			require.Contains(t, lines[len(lines)-1], "msg=stopped")
			require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
			if path, ok := strings.CutPrefix(d.Addr, "unix:"); ok {
				require.NoFileExists(t, path)
			}
		})
	}
}

// logged is a value as a line of the log has it.
func logged(value string) string {
	if strings.ContainsAny(value, `= "`) {
		return strconv.Quote(value)
	}
	return value
}

// At the limit of connections, a daemon does answer; it says that it takes no more.
func TestCommandsAtTheLimitOfConnections(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--max-connections", "1")
	watch, err := healthv1.NewHealthClient(programtest.Connection(t, d.Addr)).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	r := programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitFailed).
		Says(t, "compactord: the daemon at "+d.Addr+" closed the connection\nIt has stopped, or it takes no more connections")
	require.NotContains(t, r.Err, "no daemon answers")
	require.NotContains(t, r.Err, "Start one")
}

func TestStoreIsTheDaemonsAlone(t *testing.T) {
	store := anystore.File(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store)
	for _, args := range [][]string{{"check"}, {"serve", "--listen", "127.0.0.1:0"}} {
		programtest.Ran(t, append(args, "--store", store)...).Ends(t, terminal.ExitFailed).
			Says(t, "compactord: the store "+store+" is in use by another process\n")
	}
	require.Equal(t, terminal.ExitDone, d.Stop())
}

func TestAddressFromTheEnvironment(t *testing.T) {
	sample.TemporaryFolder(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	t.Setenv("COMPACTORD_ADDR", d.Addr)
	programtest.Ran(t, "sessions").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "compact", sample.TalkFile(t), "-q").Ends(t, terminal.ExitDone)
	require.Equal(t, "There are no sessions.\n", programtest.Ran(t, "sessions").Ends(t, terminal.ExitDone).Out, "a file stays off the daemon")
	require.Equal(t, terminal.ExitDone, d.Stop())
}

func TestSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.sock")
	d := programtest.Serving(t, "--listen", "unix:"+path, "--store", anystore.Place(t))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	// A second daemon does not replace one that runs.
	programtest.Ran(t, "serve", "--listen", "unix:"+path, "--store", anystore.Place(t)).Ends(t, terminal.ExitFailed).Says(t, "another program does")
	require.Equal(t, terminal.ExitDone, d.Stop())
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	unix, ok := listener.(*net.UnixListener)
	require.True(t, ok)
	unix.SetUnlinkOnClose(false)
	require.NoError(t, unix.Close())
	require.FileExists(t, path)
	d := programtest.Serving(t, "--listen", "unix:"+path, "--store", anystore.Place(t))
	require.Equal(t, terminal.ExitDone, d.Stop())
}

func TestServeRefuses(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--listen", "0.0.0.0:0"}, terminal.ExitUsage, "other machines can reach 0.0.0.0:0"},
		{[]string{"--listen", ":0"}, terminal.ExitUsage, "other machines can reach :0"},
		{[]string{"--metrics-listen", "0.0.0.0:0"}, terminal.ExitUsage, "could read the metrics. Listen on 127.0.0.1, set --tls-cert and --tls-key, or"},
		{[]string{"--listen", "[::]:0"}, terminal.ExitUsage, "--insecure"},
		{[]string{"--listen", "example.org:0"}, terminal.ExitUsage, "--insecure"},
		{[]string{"--listen", "unix:"}, terminal.ExitUsage, "needs the path of a socket"},
		{[]string{"--listen", "7440"}, terminal.ExitUsage, "write HOST:PORT or unix:PATH"},
		{[]string{"--metrics-listen", "0.0.0.0:0"}, terminal.ExitUsage, "--metrics-listen: other machines"},
		{[]string{"--metrics-listen", "unix:x"}, terminal.ExitUsage, "--metrics-listen: must be HOST:PORT"},
		{[]string{"--admin-listen", "0.0.0.0:0", "--no-auth", "--listen", "unix:/x"}, terminal.ExitUsage, "--admin-listen: other machines"},
		{[]string{"--admin-listen", "0.0.0.0:0", "--insecure", "--pprof"}, terminal.ExitUsage, "--pprof: other machines can reach 0.0.0.0:0, and profiles need TLS"},
		{[]string{"--admin-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, terminal.ExitUsage, "--metrics-listen: --admin-listen serves the metrics, too"},
		{[]string{"--admin-listen", "nowhere"}, terminal.ExitUsage, "--admin-listen: "},
		{[]string{"--pprof"}, terminal.ExitUsage, "--pprof: name the address with --admin-listen"},
		{[]string{"--listen", taken.Addr().String()}, terminal.ExitFailed, "another program does"},
		{[]string{"--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String()}, terminal.ExitFailed, "cannot serve metrics"},
		{[]string{"--listen", "unix:" + sample.File(t, "file", "text")}, terminal.ExitFailed, "and it is not a socket"},
		{[]string{"--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "no", "folder.db")}, terminal.ExitFailed, "there is no folder"},
	} {
		args := test.args
		if !strings.Contains(strings.Join(args, " "), "--store") {
			args = append(args, "--store", anystore.Place(t))
		}
		r := programtest.Ran(t, append([]string{"serve"}, args...)...).Ends(t, test.code).Says(t, test.says)
		require.Empty(t, r.Out)
	}
}

func TestInsecureListensAnywhere(t *testing.T) {
	d := programtest.Serving(t, "--listen", "0.0.0.0:0", "--insecure", "--store", anystore.Place(t))
	require.False(t, reflects(t, d), "what others can reach does not describe itself")
	require.Equal(t, terminal.ExitDone, d.Stop())
}

func TestReflection(t *testing.T) {
	for _, test := range []struct {
		args []string
		want bool
	}{{nil, true}, {[]string{"--no-reflection"}, false}} {
		d := programtest.Serving(t, append(test.args, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))...)
		require.Equal(t, test.want, reflects(t, d))
		require.Equal(t, terminal.ExitDone, d.Stop())
	}
}

func reflects(t *testing.T, d *programtest.Daemon) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := reflectionv1.NewServerReflectionClient(programtest.Connection(t, d.Addr)).ServerReflectionInfo(ctx)
	require.NoError(t, err)
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	}); err != nil {
		return false
	}
	_, err = stream.Recv()
	return err == nil
}

func TestMetricsAndHealth(t *testing.T) {
	where := freePort(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--metrics-listen", where, "--log-format", "json")
	answer, err := healthv1.NewHealthClient(programtest.Connection(t, d.Addr)).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, answer.GetStatus())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+where+"/metrics", nil)
	require.NoError(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(body), `grpc_server_handled_total{grpc_code="OK",grpc_method="Check"`)
	require.Contains(t, string(body), "go_goroutines")
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.True(t, strings.HasPrefix(d.Log.String(), "{"), "logs are JSON")
}
