package torture_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// binary is the program under attack.
var binary string

func TestMain(m *testing.M) {
	if address := os.Getenv(bystanderOf); address != "" {
		if err := bystand(address); err != nil {
			fmt.Fprintln(os.Stderr, "bystander:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if binary = os.Getenv("COMPACTORD_BINARY"); binary != "" {
		os.Exit(m.Run())
	}
	os.Exit(daemontest.RunWithProgram(m, &binary))
}

// daemon is `compactord serve` in a process of its own, on a store on disk or in a database.
type daemon struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient

	address string
	process *exec.Cmd
}

var listensOn = regexp.MustCompile(`^compactord listens on (\S+),`)

// serve starts a daemon with further flags, which stops at the end of the test.
func serve(t *testing.T, flags ...string) *daemon {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--drain-timeout", "1s",
		"--store", anystore.Place(t),
	}, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_, _ = io.Copy(io.Discard, stdout)
		// The test's context has ended, which stops the daemon like Ctrl-C.
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the daemon said nothing")
	found := listensOn.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	d := &daemon{address: found[1], process: cmd}
	d.sessions, d.compactions = d.connect(t)
	return d
}

// connect returns clients on a connection of their own.
func (d *daemon) connect(t *testing.T) (compactordv1.SessionServiceClient, compactordv1.CompactionServiceClient) {
	t.Helper()
	conn, err := dial(d.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)
}

func dial(address string) (*grpc.ClientConn, error) {
	const maxBytes = 64 << 20
	return daemontest.Dial(address,
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxBytes), grpc.MaxCallSendMsgSize(maxBytes)))
}

var (
	// peakMemory is the most memory that a process had, and anonymousMemory what it has beside mapped files.
	peakMemory      = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	anonymousMemory = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)
)

// peakMiB returns the most memory that the daemon had, in MiB; 0 where the system does not say.
func (d *daemon) peakMiB() int { return d.memoryMiB(peakMemory) }

// memoryMiB returns a figure of the daemon's memory, in MiB; 0 where the system does not say.
func (d *daemon) memoryMiB(figure *regexp.Regexp) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.process.Process.Pid))
	if err != nil {
		return 0
	}
	found := figure.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		return 0
	}
	return kib >> 10
}

// create creates a session with messages.
func (d *daemon) create(t *testing.T, id string, messages ...*compactordv1.Message) {
	t.Helper()
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: id})
	require.NoError(t, err)
	for len(messages) > 0 {
		n := min(len(messages), 500)
		_, err = d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages[:n]})
		require.NoError(t, err)
		messages = messages[n:]
	}
}
