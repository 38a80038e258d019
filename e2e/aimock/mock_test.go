// Package aimock_test runs summaries by models against a mock of their providers that others have written, so that our
// understanding of the protocols is compared with theirs.
//
// The mock is a program of Node; package.json says which. `npm ci` in this folder installs it, as `go run -C tools
// ./verify test` does. Without it the tests are skipped.
package aimock_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/e2e/daemontest"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Suite{M: m}) }

// program is the installed mock.
const program = "node_modules/@copilotkit/aimock/dist/cli.js"

// key is the API key that the mock requires.
const key = "key-of-the-test"

// mock is a running mock of all providers.
type mock struct {
	t      testing.TB
	url    string
	client *http.Client
}

// object is a JSON object.
type object = map[string]any

// answering is a fixture: the response to requests whose last user message contains a text.
func answering(userMessage string, response object) object {
	return object{"match": object{"userMessage": userMessage}, "response": response}
}

var listensOn = regexp.MustCompile(`server listening on (http://\S+)`)

// start runs the mock with fixtures until the test ends.
func start(t testing.TB, fixtures ...object) *mock {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the tests against the mock need Node 20")
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("the mock is not installed: run `npm ci` in e2e/aimock")
	}
	path := filepath.Join(t.TempDir(), "fixtures.json")
	content, err := json.Marshal(object{"fixtures": fixtures})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content, 0o600))

	cmd := exec.CommandContext(t.Context(), node, program, "--port", "0", "--fixtures", path, "--strict", "--validate-on-load")
	cmd.Env = append(cmd.Environ(), "AIMOCK_API_KEYS="+key)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	m := &mock{t: t, client: &http.Client{Transport: &http.Transport{}}}
	drained := make(chan struct{})
	t.Cleanup(func() {
		m.client.CloseIdleConnections()
		<-drained
		_ = cmd.Wait()
	})
	// The mock logs a lot. It would block if nobody read its output.
	lines := bufio.NewScanner(stdout)
	output := ""
	for m.url == "" && lines.Scan() {
		output += lines.Text() + "\n"
		if found := listensOn.FindStringSubmatch(lines.Text()); found != nil {
			m.url = found[1]
		}
	}
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	require.NotEmpty(t, m.url, "the mock does not listen: %s", output)
	return m
}

// server returns the mock's address and key for a protocol.
func (m *mock) server(p llmtest.Protocol) daemontest.Server {
	base := m.url
	if p == llmtest.Chat || p == llmtest.Responses {
		base += "/v1/"
	}
	return daemontest.Server{BaseURL: base, APIKey: key, Client: m.client}
}

// asked is a request in the mock's journal, which has one shape for all protocols.
type asked struct {
	Path string
	Body struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	Response struct{ Status int }
}

// journal returns all requests so far.
func (m *mock) journal() []asked {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.url+"/__aimock/journal", http.NoBody)
	require.NoError(m.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	answer, err := m.client.Do(req)
	require.NoError(m.t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(m.t, http.StatusOK, answer.StatusCode)
	var all []asked
	require.NoError(m.t, json.NewDecoder(answer.Body).Decode(&all))
	return all
}

// paths are the paths of the protocols' endpoints.
var paths = map[llmtest.Protocol]string{
	llmtest.Chat: "/v1/chat/completions", llmtest.Responses: "/v1/responses", llmtest.Messages: "/v1/messages",
	llmtest.Gemini: "/v1beta/models/" + daemontest.ModelName + ":streamGenerateContent",
}

// The lock file has the mock of package.json, and names no registry.
func TestLockedAsNamed(t *testing.T) {
	var named struct{ Dependencies map[string]string }
	content, err := os.ReadFile("package.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &named))
	lock, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	var locked struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	require.NoError(t, json.Unmarshal(lock, &locked))
	for name, version := range named.Dependencies {
		require.Regexp(t, `^\d+\.\d+\.\d+$`, version, name)
		require.Equal(t, version, locked.Packages["node_modules/"+name].Version)
	}
	for name, one := range locked.Packages {
		require.Empty(t, one.Resolved, "%s: a lock file must name no registry; remove the field", name)
		require.Equal(t, name != "", one.Integrity != "", name)
	}
	require.NotContains(t, string(lock), "http", "a lock file must name no registry")
}
