package serve_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

// operator asks a daemon over HTTP.
type operator struct {
	base   string
	client *http.Client
	token  string
}

// get returns the status and the body of an answer.
func (o operator) get(t *testing.T, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.base+path, nil)
	require.NoError(t, err)
	request.Close = true
	if o.token != "" {
		request.Header.Set("Authorization", "Bearer "+o.token)
	}
	response, err := o.client.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(body)
}

// freePort returns an address on which nobody listens: that of the admin listener is only in the log.
func freePort(t *testing.T) string {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	return free.Addr().String()
}

func TestAdminListenerOfThisMachine(t *testing.T) {
	socket, port := filepath.Join(t.TempDir(), "admin.sock"), freePort(t)
	overSocket := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	checks := []string{service.CheckServing, service.CheckReads, service.CheckWrites}
	if anystore.Named(anystore.Bolt) == anystore.Bolt {
		checks = append(checks, service.CheckDisk)
	}
	for where, o := range map[string]operator{
		"unix:" + socket: {base: "http://admin", client: overSocket},
		port:             {base: "http://" + port, client: http.DefaultClient},
	} {
		d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--admin-listen", where, "--pprof")
		// It is ready once it has answered.
		programtest.Ran(t, "healthcheck", "--addr", d.Addr).Ends(t, terminal.ExitDone)
		for _, path := range []string{"/livez", "/metrics", "/version", "/debug/pprof/"} {
			code, _ := o.get(t, path)
			require.Equal(t, http.StatusOK, code, path)
		}
		_, metrics := o.get(t, "/metrics")
		require.Contains(t, metrics, `compactord_build_info{go_version="go`)
		code, body := o.get(t, "/readyz")
		require.Equal(t, http.StatusOK, code, body)
		var ready struct {
			Ready  bool
			Checks []struct{ Name string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &ready))
		require.True(t, ready.Ready)
		names := make([]string, len(ready.Checks))
		for i, check := range ready.Checks {
			names[i] = check.Name
		}
		require.ElementsMatch(t, checks, names)
		require.Equal(t, terminal.ExitDone, d.Stop())
	}
	require.NoFileExists(t, socket)
}

// What other machines can reach speaks TLS and asks for tokens, but for probes.
func TestAdminListenerThatOthersReach(t *testing.T) {
	owner := state(t)
	authority := certificatestest.NewAuthority(t)
	pair := signed(authority, 1)
	_, port, err := net.SplitHostPort(freePort(t))
	require.NoError(t, err)
	token := access.NewToken()
	hash, err := access.HashOf(token)
	require.NoError(t, err)
	line := access.Entry{Subject: "scraper", Role: access.Read, Hash: hash}.Line()
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--admin-listen", "0.0.0.0:"+port, "--pprof",
		"--tls-cert", pair.Cert, "--tls-key", pair.Key, "--tokens", sample.File(t, "tokens", line+"\n"))
	programtest.Ran(t, "healthcheck", "--addr", d.Addr, "--tls-ca", authority.Path).Ends(t, terminal.ExitDone)
	config := authority.ClientConfig()
	config.NextProtos = nil
	nobody := operator{base: "https://127.0.0.1:" + port, client: &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}
	reader, admin, stranger := nobody, nobody, nobody
	reader.token, admin.token, stranger.token = token, secretOf(t, owner), access.NewToken()
	for path, want := range map[string][4]int{
		"/livez":             {200, 200, 200, 200},
		"/readyz":            {200, 200, 200, 200},
		"/metrics":           {401, 401, 200, 200},
		"/version":           {401, 401, 200, 200},
		"/debug/pprof/":      {401, 401, 403, 200},
		"/debug/pprof/heap":  {401, 401, 403, 200},
		"/debug/pprof/trace": {401, 401, 403, 200},
		"/nothing":           {404, 404, 404, 404},
	} {
		var got [4]int
		for i, o := range []operator{nobody, stranger, reader, admin} {
			got[i], _ = o.get(t, path)
		}
		require.Equal(t, want, got, path)
	}
	plain, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	require.NoError(t, err)
	_, err = io.WriteString(plain, "GET /livez HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	said, err := io.ReadAll(plain)
	require.NoError(t, errors.Join(err, plain.Close()))
	require.NotContains(t, string(said), "HTTP", "it speaks no plaintext")
	old := config.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	require.Error(t, err, conn)
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), token)
}
