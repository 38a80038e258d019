package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

const maxBytes = 64 << 20

// daemon is `compactord serve` in a process of its own.
type daemon struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient

	b       *testing.B
	store   string
	metrics string
	// web is the URL at which it serves HTTP.
	web     string
	process *exec.Cmd
	stop    func()
}

var (
	listensOn     = regexp.MustCompile(`^compactord listens on (\S+),`)
	servesHTTP    = regexp.MustCompile(`msg="serving HTTP" address=(\S+)`)
	servesMetrics = regexp.MustCompile(`msg="serving metrics" address=(\S+)`)
)

// start starts a daemon with an empty store that stops at the end of the benchmark.
func start(b *testing.B) *daemon {
	b.Helper()
	return serve(b, anystore.Place(b))
}

// serve starts a daemon on a store.
func serve(b *testing.B, store string) *daemon {
	b.Helper()
	// The benchmark's own context ends before its clean-up, and kills.
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	cmd := exec.CommandContext(ctx, program, "serve", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--store", store)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	log := bufio.NewReader(stderr)
	metrics := match(b, log, servesMetrics)
	web := match(b, log, servesHTTP)
	address := match(b, bufio.NewReader(stdout), listensOn)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, log)
	}()
	conn := dial(b, address)
	d := &daemon{
		sessions: compactordv1.NewSessionServiceClient(conn), compactions: compactordv1.NewCompactionServiceClient(conn),
		b: b, store: store, metrics: "http://" + metrics + "/metrics", web: "http://" + web, process: cmd,
	}
	d.stop = sync.OnceFunc(func() {
		cancel()
		<-read
		_ = cmd.Wait()
	})
	b.Cleanup(d.stop)
	return d
}

// match reads lines up to one that matches, and returns its first group.
func match(b *testing.B, lines *bufio.Reader, line *regexp.Regexp) string {
	b.Helper()
	for {
		text, err := lines.ReadString('\n')
		require.NoError(b, err, "the daemon did not start")
		if found := line.FindStringSubmatch(text); found != nil {
			return found[1]
		}
	}
}

func dial(b *testing.B, address string) *grpc.ClientConn {
	b.Helper()
	conn, err := daemontest.Dial(address,
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxBytes), grpc.MaxCallSendMsgSize(maxBytes)))
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// gauges returns figures of the daemon's metrics, by their names.
func (d *daemon) gauges(names ...string) (values []float64) {
	d.b.Helper()
	r, err := http.NewRequestWithContext(d.b.Context(), http.MethodGet, d.metrics, nil)
	require.NoError(d.b, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(d.b, err)
	defer func() { require.NoError(d.b, answer.Body.Close()) }()
	page, err := io.ReadAll(answer.Body)
	require.NoError(d.b, err)
	for _, name := range names {
		found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(page)
		require.NotNil(d.b, found, name)
		value, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(d.b, err)
		values = append(values, value)
	}
	return values
}

// create creates a session with a policy and messages.
func (d *daemon) create(id string, policy *compactordv1.Policy, messages ...*compactordv1.Message) {
	d.b.Helper()
	_, err := d.sessions.CreateSession(d.b.Context(), &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy})
	require.NoError(d.b, err)
	for len(messages) > 0 {
		n := min(len(messages), 1000)
		d.append(id, messages[:n]...)
		messages = messages[n:]
	}
}

// createEmpty creates a session from any goroutine.
func (d *daemon) createEmpty(id string) {
	if _, err := d.sessions.CreateSession(d.b.Context(), &compactordv1.CreateSessionRequest{SessionId: id}); err != nil {
		d.b.Error(err)
	}
}

// append appends messages to a session.
func (d *daemon) append(id string, messages ...*compactordv1.Message) *compactordv1.AppendMessagesResponse {
	answer, err := d.sessions.AppendMessages(d.b.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages})
	if err != nil {
		d.b.Fatal(err)
	}
	return answer
}

// view reads all pages of a session's view, and returns the last page.
func (d *daemon) view(id string, kind compactordv1.Dialect) *compactordv1.GetLLMViewResponse {
	r := &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, Dialect: kind}
	for {
		answer, err := d.compactions.GetLLMView(d.b.Context(), r)
		if err != nil {
			d.b.Fatal(err)
		}
		if !answer.GetHasMore() {
			return answer
		}
		r.ViewToken = answer.GetViewToken()
	}
}

// delta reads what is new in a session's view.
func (d *daemon) delta(id string, kind compactordv1.Dialect, token string) *compactordv1.GetLLMViewResponse {
	answer, err := d.compactions.GetLLMView(d.b.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, Dialect: kind, ViewToken: token,
	})
	if err != nil {
		d.b.Fatal(err)
	}
	return answer
}

func text(role compactordv1.Role, content string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: content}}},
	}}
}

func user(content string) *compactordv1.Message { return text(compactordv1.Role_ROLE_USER, content) }

func assistant(content string) *compactordv1.Message {
	return text(compactordv1.Role_ROLE_ASSISTANT, content)
}

// prose returns about size bytes of text with characters that JSON must escape.
func prose(size int) string {
	const line = "The quick brown fox said: \"jump\".\n"
	return strings.Repeat(line, size/len(line)+1)[:size]
}

// reading is a turn of 4 messages and about size bytes in which a file is read, whose text is half of it.
func reading(number, size int) []*compactordv1.Message {
	id := fmt.Sprintf("call_%d", number)
	asking := assistant("I do.")
	asking.Parts = append(asking.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
		Id: id, Name: "read", Arguments: fmt.Sprintf(`{"path":"%s.go"}`, id),
	}}})
	result := &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: id,
			Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: prose(size / 2)}}},
			},
		}}},
	}}
	return []*compactordv1.Message{user(prose(size / 4)), asking, result, assistant(prose(size / 4))}
}

// conversation is a list of turns of 8 kB with about size bytes.
func conversation(size int) (messages []*compactordv1.Message) {
	const turn = 8000
	for number := range size / turn {
		messages = append(messages, reading(number, turn)...)
	}
	return messages
}

// keeping is a policy whose compactions keep some messages.
func keeping(messages uint32) *compactordv1.Policy {
	return &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(messages)},
	}}}
}

// compact compacts a session, and returns what was committed.
func (d *daemon) compact(id string, policy *compactordv1.Policy) *compactordv1.CompactionEntry {
	d.b.Helper()
	stream, err := d.compactions.Compact(d.b.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, Policy: policy,
	})
	require.NoError(d.b, err)
	for {
		event, err := stream.Recv()
		require.NoError(d.b, err)
		if completed := event.GetEvent().GetCompleted(); completed != nil {
			return completed.GetCompaction()
		}
	}
}
