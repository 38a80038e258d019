package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// Settings that are lists can come from repeated flags, the environment, and a list or a text of the file.
func TestListsFromEverySource(t *testing.T) {
	hosts := func(args ...string) []string {
		c, err := configured(t, append([]string{"--http-listen", "127.0.0.1:1"}, args...)...)
		require.NoError(t, err)
		return c.HTTPAllowHost
	}
	require.Empty(t, hosts())
	want := []string{"a.example", "b.example"}
	require.Equal(t, want, hosts("--http-allow-host", "a.example", "--http-allow-host", "b.example"))
	require.Equal(t, want, hosts("--config", sample.File(t, "list.yaml", "http_allow_host: [a.example, b.example]\n")))
	require.Equal(t, want, hosts("--config", sample.File(t, "text.yaml", "http_allow_host: a.example,b.example\n")))
	t.Setenv("COMPACTORD_HTTP_ALLOW_HOST", "a.example,b.example")
	require.Equal(t, want, hosts())
	require.Equal(t, []string{"c"}, hosts("--http-allow-host", "c"), "flag over environment")
	printed := programtest.Ran(t, "config", "print", "--store", anystore.Place(t), "--http-listen", "127.0.0.1:1").Ends(t, terminal.ExitDone)
	require.Contains(t, printed.Out, "http_allow_host: # environment COMPACTORD_HTTP_ALLOW_HOST\n    - a.example\n    - b.example\n")
}

func TestHostsAndOriginsAreAsBrowsersWriteThem(t *testing.T) {
	c, err := configured(t, "--http-listen", "localhost:1", "--http-allow-host", "Box.Example",
		"--http-allow-origin", "https://App.Example:443", "--http-allow-origin", "http://localhost:5173", "--http-allow-origin", "http://[::1]:80")
	require.NoError(t, err)
	require.Equal(t, []string{"localhost", "box.example"}, c.HTTPHosts())
	require.Equal(t, []string{"https://app.example", "http://localhost:5173", "http://[::1]"}, c.HTTPOrigins())
}

func TestWrongSettingsOfHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no address":          {[]string{"--http-listen", "x"}, `--http-listen: "x" is not an address`},
		"reachable":           {[]string{"--http-listen", "0.0.0.0:1"}, "--http-listen: other machines can reach 0.0.0.0:1, and without TLS, others could read the tokens"},
		"the address of gRPC": {[]string{"--listen", "127.0.0.1:1", "--http-listen", "127.0.0.1:1"}, "--http-listen: it is the address of --listen"},
		"no tokens":           {[]string{"--listen", "unix:/tmp/x", "--no-auth", "--http-listen", "127.0.0.1:1"}, "--http-listen: all who can connect to 127.0.0.1:1 could do everything"},
		"a port":              {[]string{"--http-listen", "127.0.0.1:1", "--http-allow-host", "a:1"}, `--http-allow-host: "a:1" is no name of a host`},
		"any origin":          {[]string{"--http-listen", "127.0.0.1:1", "--http-allow-origin", "*"}, "--http-allow-origin: an origin is https://HOST"},
		"a path":              {[]string{"--http-listen", "127.0.0.1:1", "--http-allow-origin", "https://a/"}, "--http-allow-origin: an origin is https://HOST"},
		"null":                {[]string{"--http-listen", "127.0.0.1:1", "--http-allow-origin", "null"}, "--http-allow-origin: an origin is https://HOST"},
		"another scheme":      {[]string{"--http-listen", "127.0.0.1:1", "--http-allow-origin", "ftp://a"}, "--http-allow-origin: an origin is https://HOST"},
		"no page to write":    {[]string{"--inspect-write"}, "--inspect-write: it needs --inspect"},
		"a socket":            {[]string{"--http-listen", "unix:/tmp/x", "--inspect"}, "--inspect: a browser reaches no Unix socket"},
		"without a listener":  {[]string{"--http-allow-origin", "https://a"}, "--http-allow-origin: name the address with --http-listen"},
	} {
		_, err := configured(t, c.args...)
		require.ErrorContains(t, err, c.says, name)
	}
	for _, args := range [][]string{
		{"--http-listen", "0.0.0.0:1", "--insecure"},
		{"--listen", "unix:/tmp/x", "--no-auth", "--http-listen", "unix:/tmp/y"},
		{"--http-listen", "[::1]:1", "--http-allow-origin", "https://a.b:8443"},
	} {
		_, err := configured(t, args...)
		require.NoError(t, err, args)
	}
	programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "c.yaml", "http_allow_host: [a, 1]\n")).
		Ends(t, terminal.ExitUsage).Says(t, "http_allow_host must be a list of texts without commas")
}
