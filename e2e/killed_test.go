package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// unanswered is a model that accepts requests and never answers. It stops at the end of the test.
func unanswered(t *testing.T) (url string, asked <-chan struct{}) {
	t.Helper()
	requests, over := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL, requests
}

// daemonProcess is `compactord serve` in a separate process.
type daemonProcess struct {
	cmd         *exec.Cmd
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
}

func serveProcess(t *testing.T, config, store string) *daemonProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), compactord, "serve",
		"--listen", "127.0.0.1:0", "--store", store, "--config", config, "--drain-timeout", "1ms")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the daemon said nothing")
	found := listensOn.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	conn, err := daemontest.Dial(found[1])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &daemonProcess{
		cmd:      cmd,
		sessions: compactordv1.NewSessionServiceClient(conn), compactions: compactordv1.NewCompactionServiceClient(conn),
	}
}

// end stops the daemon with a signal and waits for its end.
func (d *daemonProcess) end(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, d.cmd.Process.Signal(signal))
	err := d.cmd.Wait()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
	}
}

// startAndEnd starts a compaction whose model never answers, and stops the daemon during it. It returns the
// compaction's operation id and the sequence from which a watcher continues.
func (d *daemonProcess) startAndEnd(t *testing.T, asked <-chan struct{}, signal os.Signal) (operation string, next uint32) {
	t.Helper()
	ctx := t.Context()
	_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(2000)},
	})
	require.NoError(t, err)
	var messages []*compactordv1.Message
	for i := range 40 {
		messages = append(messages, &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER + compactordv1.Role(i%2),
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{
				Text: strings.Repeat(fmt.Sprintf("message %d ", i), 40),
			}}}},
		})
	}
	appended, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: messages})
	require.NoError(t, err)
	stream, err := d.compactions.Compact(ctx, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"},
	})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	require.NotNil(t, first.GetEvent().GetStarted(), "%v", first)
	<-asked
	d.end(t, signal)
	return first.GetEvent().GetOperationId(), appended.GetPoint() + 1
}

// The log records the end of each compaction that started, even if the daemon was killed or stopped.
func TestEndOfTheDaemonIsRecordedAsTheEndOfItsCompaction(t *testing.T) {
	for name, test := range map[string]struct {
		signal  os.Signal
		outcome compactordv1.AttemptOutcome
		reason  compactordv1.ErrorReason
		says    string
	}{
		"killed": {
			syscall.SIGKILL, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
			compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, "the daemon ended",
		},
		"stopped": {
			syscall.SIGTERM, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED,
			compactordv1.ErrorReason_ERROR_REASON_CANCELLED, "the daemon is shutting down",
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, asked := unanswered(t)
			config, store := filepath.Join(t.TempDir(), "config.yaml"), anystore.Place(t)
			require.NoError(t, os.WriteFile(config, []byte(
				"default_summarizer: model\nsummarizers:\n  model:\n    kind: openai\n    model: m\n    base_url: "+url+"\n"), 0o600))
			operation, next := serveProcess(t, config, store).startAndEnd(t, asked, test.signal)

			if test.signal == syscall.SIGKILL {
				anystore.Bury(t, store)
			}
			d := serveProcess(t, config, store)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			watch, err := d.sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: &next})
			require.NoError(t, err)
			var attempt *compactordv1.CompactionAttempt
			for attempt == nil {
				answer, err := watch.Recv()
				require.NoError(t, err)
				attempt = answer.GetRecord().GetAttempt()
			}
			require.Equal(t, operation, attempt.GetProvenance().GetOperationId())
			require.Equal(t, test.outcome, attempt.GetOutcome())
			require.Equal(t, test.reason, attempt.GetErrorReason())
			require.Contains(t, attempt.GetMessage(), test.says)
			cancel()
			d.end(t, syscall.SIGTERM)

			// The program shows the attempt too, from the store.
			out, _ := run(t, 0, "records", "--session", "s", "--store", store, "--json")
			require.True(t, json.Valid([]byte(out)), out)
			require.Equal(t, 1, strings.Count(out, operation), out)
			_, _ = run(t, 0, "check", "--store", store)
		})
	}
}
