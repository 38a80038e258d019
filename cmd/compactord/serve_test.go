package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
)

// daemon is `compactord serve` in this process.
type daemon struct {
	addr string
	// log is what it wrote to stderr; to be read once it has ended.
	log    bytes.Buffer
	ended  chan int
	cancel context.CancelCauseFunc
}

// serving starts a daemon and waits until it listens.
func serving(t *testing.T, args ...string) *daemon {
	t.Helper()
	d := &daemon{ended: make(chan int, 1)}
	ctx, cancel := context.WithCancelCause(t.Context())
	d.cancel = cancel
	out, write := io.Pipe()
	a := &app{terminal: terminal{stdout: write, stderr: &d.log}}
	go func() {
		d.ended <- run(ctx, a, append([]string{"serve"}, args...))
		_ = write.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		require.FailNow(t, "the daemon did not start", "exit code %d: %s", <-d.ended, d.log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	text, found := strings.CutPrefix(line, "compactord listens on ")
	require.True(t, found, line)
	d.addr, _, found = strings.Cut(text, ", store ")
	require.True(t, found, line)
	t.Cleanup(func() { d.cancel(errInterrupted) })
	return d
}

// stop ends the daemon as a signal would, and returns its exit code.
func (d *daemon) stop() int {
	d.cancel(errInterrupted)
	return <-d.ended
}

func TestServe(t *testing.T) {
	for name, listen := range map[string]string{
		"tcp":  "127.0.0.1:0",
		"unix": "unix:" + filepath.Join(t.TempDir(), "d.sock"),
	} {
		t.Run(name, func(t *testing.T) {
			store := storePath(t)
			d := serving(t, "--listen", listen, "--store", store)
			on := func(args ...string) answer { return ran(t, append(args, "--addr", d.addr)...) }
			require.Equal(t, "There are no sessions.\n", on("sessions").ends(t, exitDone).out)
			on("import", talkFile(t), "--session", "s").ends(t, exitDone)
			require.Contains(t, on("compact", "--session", "s").ends(t, exitDone).out, "Compacted session s.")
			require.Contains(t, on("view", "--session", "s").ends(t, exitDone).out, "covered by the summary")
			require.Equal(t, exitDone, d.stop())
			require.NotContains(t, d.log.String(), "failing test", "content of a conversation was logged")
			require.Contains(t, ran(t, "check", "--store", store).ends(t, exitDone).out, "is sound")
			if path, ok := strings.CutPrefix(d.addr, "unix:"); ok {
				require.NoFileExists(t, path)
			}
		})
	}
}

func TestStoreIsTheDaemonsAlone(t *testing.T) {
	store := storePath(t)
	d := serving(t, "--listen", "127.0.0.1:0", "--store", store)
	for _, args := range [][]string{{"check"}, {"serve", "--listen", "127.0.0.1:0"}} {
		ran(t, append(args, "--store", store)...).ends(t, exitFailed).
			says(t, "compactord: the store "+store+" is in use by another process\n")
	}
	require.Equal(t, exitDone, d.stop())
}

func TestAddressFromTheEnvironment(t *testing.T) {
	temporaryFolder(t)
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t))
	t.Setenv("COMPACTORD_ADDR", d.addr)
	ran(t, "sessions").ends(t, exitDone)
	ran(t, "compact", talkFile(t), "-q").ends(t, exitDone)
	require.Equal(t, "There are no sessions.\n", ran(t, "sessions").ends(t, exitDone).out, "a file stays off the daemon")
	require.Equal(t, exitDone, d.stop())
}

func TestSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.sock")
	d := serving(t, "--listen", "unix:"+path, "--store", storePath(t))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	// Nobody takes the place of a daemon that lives.
	ran(t, "serve", "--listen", "unix:"+path, "--store", storePath(t)).ends(t, exitFailed).says(t, "another program does")
	require.Equal(t, exitDone, d.stop())
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
	d := serving(t, "--listen", "unix:"+path, "--store", storePath(t))
	require.Equal(t, exitDone, d.stop())
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
		{[]string{"--listen", "0.0.0.0:0"}, exitUsage, "other machines can reach 0.0.0.0:0"},
		{[]string{"--listen", ":0"}, exitUsage, "other machines can reach :0"},
		{[]string{"--listen", "[::]:0"}, exitUsage, "--insecure"},
		{[]string{"--listen", "example.org:0"}, exitUsage, "--insecure"},
		{[]string{"--listen", "unix:"}, exitUsage, "needs the path of a socket"},
		{[]string{"--listen", "7440"}, exitUsage, "write HOST:PORT or unix:PATH"},
		{[]string{"--metrics-listen", "0.0.0.0:0"}, exitUsage, "--metrics-listen: other machines"},
		{[]string{"--metrics-listen", "unix:x"}, exitUsage, "--metrics-listen: must be HOST:PORT"},
		{[]string{"--listen", taken.Addr().String()}, exitFailed, "another program does"},
		{[]string{"--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String()}, exitFailed, "cannot serve metrics"},
		{[]string{"--listen", "unix:" + file(t, "file", "text")}, exitFailed, "and it is no socket"},
		{[]string{"--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "no", "folder.db")}, exitFailed, "there is no such file or folder"},
	} {
		args := test.args
		if !strings.Contains(strings.Join(args, " "), "--store") {
			args = append(args, "--store", storePath(t))
		}
		r := ran(t, append([]string{"serve"}, args...)...).ends(t, test.code).says(t, test.says)
		require.Empty(t, r.out)
	}
}

func TestInsecureListensAnywhere(t *testing.T) {
	d := serving(t, "--listen", "0.0.0.0:0", "--insecure", "--store", storePath(t))
	require.False(t, reflects(t, d), "what others can reach does not describe itself")
	require.Equal(t, exitDone, d.stop())
}

func TestReflection(t *testing.T) {
	for _, test := range []struct {
		args []string
		want bool
	}{{nil, true}, {[]string{"--no-reflection"}, false}} {
		d := serving(t, append(test.args, "--listen", "127.0.0.1:0", "--store", storePath(t))...)
		require.Equal(t, test.want, reflects(t, d))
		require.Equal(t, exitDone, d.stop())
	}
}

func connection(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func reflects(t *testing.T, d *daemon) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := reflectionv1.NewServerReflectionClient(connection(t, d.addr)).ServerReflectionInfo(ctx)
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
	// A port that is free now is the best that can be had: the metrics' own is not printed.
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	where := free.Addr().String()
	require.NoError(t, free.Close())
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--metrics-listen", where, "--log-format", "json")
	answer, err := healthv1.NewHealthClient(connection(t, d.addr)).Check(t.Context(), &healthv1.HealthCheckRequest{})
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
	require.Equal(t, exitDone, d.stop())
	require.True(t, strings.HasPrefix(d.log.String(), "{"), "logs are JSON")
}
