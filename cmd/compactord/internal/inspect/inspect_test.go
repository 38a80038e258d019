package inspect_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// page is a page that is served.
type page struct {
	origin, session, token string
	client                 http.Client
	ended                  chan int
	cancel                 context.CancelCauseFunc
}

// served runs the command until it has printed its address as JSON.
func served(t *testing.T, args ...string) *page {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	p := &page{ended: make(chan int, 1), cancel: cancel, client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	out, write := io.Pipe()
	a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), Stdout: write, Stderr: io.Discard}}
	go func() {
		p.ended <- program.Run(ctx, a, append([]string{"inspect", "--json"}, args...))
		_ = write.Close()
	}()
	var printed struct{ Address, Session string }
	require.NoError(t, json.NewDecoder(bufio.NewReader(out)).Decode(&printed))
	address, err := url.Parse(printed.Address)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", address.Hostname())
	place, token, found := strings.Cut(address.Fragment, "?token=")
	require.True(t, found)
	require.Equal(t, "/session/"+printed.Session, place)
	p.origin, p.session, p.token = "http://"+address.Host, printed.Session, token
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}

// ask calls an RPC, and returns status and answer.
func (p *page) ask(t *testing.T, rpc, request, token string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.origin+"/compactord.v1."+rpc, strings.NewReader(request))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := p.client.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func (p *page) stop(t *testing.T) {
	t.Helper()
	p.cancel(terminal.ErrInterrupted)
	require.Equal(t, terminal.ExitDone, <-p.ended)
}

// The page of a file can be read by who has its token, and changes nothing.
func TestServesAFile(t *testing.T) {
	sample.TemporaryFolder(t)
	p := served(t, sample.TalkFile(t), "--compact", "--context-window", "20000")
	defer p.stop(t)
	status, answer := p.ask(t, "SessionService/GetSession", `{"sessionId":"file"}`, p.token)
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, strings.ReplaceAll(answer, `": "`, `":"`), `"title":"talk.jsonl"`)
	require.Contains(t, answer, `"compactionId"`)
	for _, token := range []string{"", "cptd_wrong", p.token + "0"} {
		status, answer = p.ask(t, "SessionService/GetSession", `{"sessionId":"file"}`, token)
		require.Equal(t, http.StatusUnauthorized, status, answer)
	}
	for _, rpc := range []string{"SessionService/ClearSession", "SessionService/DeleteSession", "CompactionService/Compact"} {
		status, answer = p.ask(t, rpc, `{"sessionId":"file"}`, p.token)
		require.Equal(t, http.StatusForbidden, status, answer)
	}
	status, answer = p.ask(t, "CompactionService/Prune", `{"sessionId":"file","dryRun":true}`, p.token)
	require.Equal(t, http.StatusOK, status, answer)
	status, _ = p.ask(t, "StoreService/Backup", `{}`, p.token)
	require.Equal(t, http.StatusNotImplemented, status)
	status, answer = p.ask(t, "SessionService/GetSession", `{"sessionId":"none"}`, p.token)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, answer, "SESSION_NOT_FOUND")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.origin+"/inspect/", http.NoBody)
	require.NoError(t, err)
	response, err := p.client.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// The page of a session of a daemon follows what happens there.
func TestServesASessionOfADaemon(t *testing.T) {
	sample.TemporaryFolder(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	defer func() { require.Equal(t, terminal.ExitDone, d.Stop()) }()
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "a/b?c", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	p := served(t, "--session", "a/b?c", "--addr", d.Addr)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.origin+"/compactord.v1.SessionService/WatchSession",
		strings.NewReader(`{"sessionId":"a/b?c","fromSequence":0}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+p.token)
	response, err := p.client.Do(r)
	require.NoError(t, err)
	lines := bufio.NewScanner(response.Body)
	for seen := ""; !strings.Contains(seen, "passes now"); seen = lines.Text() {
		require.True(t, lines.Scan(), "the stream has the messages: %v", lines.Err())
	}
	cancel()
	require.NoError(t, response.Body.Close())
	p.stop(t)
	programtest.Ran(t, "inspect", "--session", "none", "--addr", d.Addr).Ends(t, terminal.ExitFailed).Says(t, "SESSION_NOT_FOUND")
}

// With --write the page does what it offers, and nothing else; without it, it only reads.
func TestServesASessionToChange(t *testing.T) {
	sample.TemporaryFolder(t)
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(20)), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	for _, test := range []struct {
		args                    []string
		status, cancelled, page int
	}{
		{nil, http.StatusForbidden, http.StatusForbidden, 0},
		{[]string{"--write"}, http.StatusOK, http.StatusNotFound, 1},
	} {
		p := served(t, append([]string{"--session", "s", "--store", store}, test.args...)...)
		for _, call := range [][2]string{
			{"SessionService/PinMessages", `{"sessionId": "s", "indexes": [1]}`},
			{"SessionService/UnpinMessages", `{"sessionId": "s", "indexes": [1]}`},
			{"SessionService/CreateCheckpoint", `{"sessionId": "s"}`},
			{"CompactionService/Compact", `{"sessionId": "s"}`},
			{"CompactionService/Prune", `{"sessionId": "s"}`},
			{"SessionService/RevertToCheckpoint", `{"sessionId": "s", "undo": true}`},
		} {
			status, answer := p.ask(t, call[0], call[1], p.token)
			require.Equal(t, test.status, status, "%s: %s", call[0], answer)
		}
		// None runs.
		status, answer := p.ask(t, "CompactionService/CancelCompaction", `{"sessionId": "s"}`, p.token)
		require.Equal(t, test.cancelled, status, answer)
		for _, call := range [][2]string{
			{"SessionService/ClearSession", `{"sessionId": "s"}`},
			{"SessionService/DeleteSession", `{"sessionId": "s"}`},
			{"SessionService/UpdateSession", `{"sessionId": "s", "title": "x", "updateMask": "title"}`},
			{"SessionService/AppendMessages", `{"sessionId": "s", "messages": [{"role": "ROLE_USER"}]}`},
		} {
			status, answer := p.ask(t, call[0], call[1], p.token)
			require.Equal(t, http.StatusForbidden, status, "%s: %s", call[0], answer)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.origin+"/inspect/", http.NoBody)
		require.NoError(t, err)
		response, err := p.client.Do(r)
		require.NoError(t, err)
		page, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, test.page, strings.Count(string(page), "data-write"))
		p.stop(t)
	}
}

// secret is what redaction must find. It is put together here so that no scanner finds it in this file.
var secret = "ghp_" + strings.Join([]string{"x7Kq2", "mVb9Tz", "R4wLn8", "YcP1sD", "f6HgJ3", "uAeW5k0"}, "")

// A file has all of the session, with the secrets replaced unless told otherwise.
func TestExports(t *testing.T) {
	sample.TemporaryFolder(t)
	talk := sample.Talk(3) + `{"role":"user","content":"The token is ` + secret + ` for now."}` + "\n"
	transcript := sample.File(t, "talk.jsonl", talk)
	to := filepath.Join(t.TempDir(), "page.html")
	var printed struct {
		File    string
		Bytes   int
		Secrets int
		LeftOut []string `json:"left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(programtest.Ran(t, "inspect", transcript, "--export", to, "--json").Ends(t, terminal.ExitDone).Out), &printed))
	content, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, to, printed.File)
	require.Equal(t, len(content), printed.Bytes)
	require.Positive(t, printed.Secrets)
	require.NotNil(t, printed.LeftOut)
	require.Empty(t, printed.LeftOut)
	require.NotContains(t, string(content), secret)
	require.Contains(t, string(content), "[REDACTED:")
	require.Contains(t, string(content), "Test 2 passes now")
	require.Contains(t, string(content), "from talk.jsonl. ")
	require.NotContains(t, string(content), filepath.Dir(transcript), "the folders of whoever sends it")
	info, err := os.Stat(to)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	plain := programtest.Ran(t, "inspect", transcript, "--export", "-", "--no-redact").Ends(t, terminal.ExitDone).Out
	require.Contains(t, plain, secret)
	require.Contains(t, plain, "Secrets were not replaced.")
	require.NotContains(t, plain, "[REDACTED:")
}

func TestWrongUseOfInspect(t *testing.T) {
	path := sample.TalkFile(t)
	for _, test := range []struct {
		says string
		args []string
	}{
		{"--redact and --no-redact need --export", []string{path, "--no-redact"}},
		{"is a folder", []string{path, "--export", t.TempDir()}},
		{"leave out --json", []string{path, "--export", "-", "--json"}},
		{"name a transcript file", nil},
		{"a file is never changed", []string{path, "--write"}},
		{"exclude each other", []string{"--session", "s", "--write", "--export", "x.html"}},
		{"need a file or --compact", []string{"--session", "s", "--preset", "klip13"}},
	} {
		programtest.Ran(t, append([]string{"inspect"}, test.args...)...).Ends(t, terminal.ExitUsage).Says(t, test.says)
	}
}

// In a request, arguments of a call are fields, and only a field's name says that its value is a secret.
func TestSecretsInArgumentsStayOutOfAFile(t *testing.T) {
	sample.TemporaryFolder(t)
	const password = "Garden8553-blue"
	transcript := sample.File(t, "login.jsonl", `{"role":"user","content":"Log in."}
{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"login","arguments":"{\"user\":\"bob\",\"password\":\"`+password+`\"}"}}]}
{"role":"tool","tool_call_id":"c","content":"ok"}
`)
	file := programtest.Ran(t, "inspect", transcript, "--export", "-").Ends(t, terminal.ExitDone).Out
	require.NotContains(t, file, password)
	require.Contains(t, file, `\"input\":{\"user\":\"bob\",\"password\":\"[REDACTED:password:`, "and all else stays as it is")
	require.Contains(t, programtest.Ran(t, "inspect", transcript, "--export", "-", "--no-redact").Ends(t, terminal.ExitDone).Out, password)
}
