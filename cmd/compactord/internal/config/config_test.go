package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/anystore"
)

// configured returns the configuration of `serve` with these arguments.
func configured(t *testing.T, args ...string) (*config.Config, error) {
	t.Helper()
	cli := &program.Commands{}
	parser, err := kong.New(cli, program.Variables(), kong.Vars{"default_store": "/var/lib/x.db"})
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{"serve"}, args...))
	return &cli.Serve.Config, err
}

func TestDefaults(t *testing.T) {
	c, err := configured(t)
	require.NoError(t, err)
	require.Equal(t, api.DefaultListen, c.Listen)
	require.Equal(t, service.DefaultMaxMessageBytes, c.MaxMessageBytes)
	require.Equal(t, service.DefaultDrainTimeout, c.DrainTimeout)
	require.Equal(t, service.DefaultHeartbeat, c.Heartbeat)
	require.Equal(t, service.DefaultMaxConnections, c.MaxConnections)
	require.Equal(t, service.DefaultMaxConnectionsOfClient, c.MaxConnectionsOfClient)
	require.True(t, c.Reflects())
}

func TestFlagsOverEnvironmentOverFileOverDefaults(t *testing.T) {
	path := sample.File(t, "config.yaml", "heartbeat: 1s\ndrain_timeout: 2s\nlog_level: warn\nmax_message_bytes: 5000000\nreflection: false\n")
	t.Setenv("COMPACTORD_HEARTBEAT", "3s")
	t.Setenv("COMPACTORD_DRAIN_TIMEOUT", "4s")
	c, err := configured(t, "--config", path, "--heartbeat", "5s")
	require.NoError(t, err)
	require.Equal(t, 5*time.Second, c.Heartbeat, "flag over environment")
	require.Equal(t, 4*time.Second, c.DrainTimeout, "environment over file")
	require.Equal(t, "warn", c.LogLevel, "file over default")
	require.Equal(t, 5000000, c.MaxMessageBytes)
	require.False(t, c.Reflects())
	require.Equal(t, "text", c.LogFormat, "default")
	t.Setenv("COMPACTORD_CONFIG", path)
	c, err = configured(t)
	require.NoError(t, err)
	require.Equal(t, "warn", c.LogLevel, "the file itself is named by the environment")
}

func TestWrongFiles(t *testing.T) {
	for name, test := range map[string]struct{ content, says string }{
		"unknown key":   {"listen: 127.0.0.1:1\nlisten_to: x\n", `there is no setting "listen_to"; there are listen, store, `},
		"flag's name":   {"log-level: debug\n", `there is no setting "log-level"`},
		"no mapping":    {"- a\n", "is not a YAML mapping of settings"},
		"no scalar":     {"listen: [a, b]\n", "listen must be a text, a number, or true or false"},
		"twice":         {"listen: a\nlisten: b\n", "is not a YAML mapping of settings"},
		"two documents": {"listen: a\n---\nlisten: b\n", "more than one YAML document"},
		"no time":       {"drain_timeout: 5\n", `config.yaml: drain_timeout: expected a time such as 90s or 2m but got "5"` + "\n"},
		"no number":     {"max_connections: many\n", `config.yaml: max_connections: expected a whole number but got "many"` + "\n"},
		"a fraction":    {"max_connections: 1.5\n", `config.yaml: max_connections: expected a whole number but got "1.5"` + "\n"},
		"no choice":     {"insecure: maybe\n", `config.yaml: insecure: expected yes or no but got "maybe"` + "\n"},
		"out of range":  {"heartbeat: 1ms\n", "config.yaml: heartbeat: must be from 100ms to 1h0m0s\n"},
		"no address":    {"listen: x\n", `config.yaml: listen: "x" is not an address`},
		"no summarizer": {"default_summarizer: x\n", `config.yaml: default_summarizer: there is no summarizer "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", test.content)).
				Ends(t, terminal.ExitUsage).Says(t, test.says)
		})
	}
	programtest.Ran(t, "serve", "--config", "there-is-none.yaml").Ends(t, terminal.ExitUsage).Says(t, "there is no such file")
	_, err := configured(t, "--config", sample.File(t, "empty.yaml", ""))
	require.NoError(t, err)
}

// An error names what is to be changed: the flag, the variable, or the key of the file.
func TestWrongValuesNameTheirSource(t *testing.T) {
	path := sample.File(t, "config.yaml", "heartbeat: 1ms\nlog_level: loud\n")
	t.Setenv("COMPACTORD_CONFIG", path)
	t.Setenv("COMPACTORD_LISTEN", "x")
	t.Setenv("COMPACTORD_HEARTBEAT", "2ms")
	store := []string{"--store", anystore.Place(t)}
	r := programtest.Ran(t, append([]string{"serve", "--drain-timeout", "0s"}, store...)...).Ends(t, terminal.ExitUsage)
	require.Equal(t, `compactord: COMPACTORD_LISTEN: "x" is not an address: write HOST:PORT or unix:PATH
--drain-timeout: must be above 0, up to 1h0m0s
COMPACTORD_HEARTBEAT: must be from 100ms to 1h0m0s
`+path+`: log_level: "loud" is none of debug, info, warn, error
For help: compactord serve --help
`, r.Err)
	for name, test := range map[string]struct{ variable, value, says string }{
		"time":   {"COMPACTORD_DRAIN_TIMEOUT", "5", `compactord: COMPACTORD_DRAIN_TIMEOUT: expected a time such as 90s or 2m but got "5"` + "\n"},
		"number": {"COMPACTORD_MAX_CONNECTIONS", "x", `compactord: COMPACTORD_MAX_CONNECTIONS: expected a whole number but got "x"` + "\n"},
		"file":   {"COMPACTORD_CONFIG", "none.yaml", "compactord: COMPACTORD_CONFIG: cannot read "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(test.variable, test.value)
			programtest.Ran(t, append([]string{"serve"}, store...)...).Ends(t, terminal.ExitUsage).Says(t, test.says)
		})
	}
	t.Setenv("COMPACTORD_ADDR", "x")
	programtest.Ran(t, "sessions").Ends(t, terminal.ExitUsage).Says(t, `compactord: COMPACTORD_ADDR: "x" is not an address`)
	programtest.Ran(t, "sessions", "--addr", "y").Ends(t, terminal.ExitUsage).Says(t, `compactord: --addr: "y" is not an address`)
}

func TestAllProblemsAtOnce(t *testing.T) {
	c := &config.Config{Listen: "1.2.3.4:5", DefaultPreset: "x", LogLevel: "loud", MaxInflightBytes: 1, LogFormat: "xml", MetricsListen: "x"}
	err := c.Check(config.Sources{})
	for _, flag := range []string{
		"--listen: ", "--store: ", "--default-preset: ", "--max-message-bytes: ", "--max-inflight-bytes: ", "--max-connections: ", "--max-connections-of-client: ", "--drain-timeout: ", "--heartbeat: ",
		"--log-level: ", "--log-format: ", "--metrics-listen: ",
	} {
		require.ErrorContains(t, err, flag)
	}
}

// TestEverySettingIsDeclaredWhole requires a flag, a variable of the same name, and a help text for each setting.
func TestEverySettingIsDeclaredWhole(t *testing.T) {
	keys := config.SettingKeys()
	require.Len(t, keys, reflect.TypeFor[config.Config]().NumField())
	cli := &program.Commands{}
	parser, err := kong.New(cli, program.Variables())
	require.NoError(t, err)
	flags := map[string]*kong.Flag{}
	for _, node := range parser.Model.Children {
		if node.Name == "serve" {
			for _, flag := range node.Flags {
				flags[strings.ReplaceAll(flag.Name, "-", "_")] = flag
			}
		}
	}
	for _, key := range keys {
		require.Contains(t, flags, key)
		require.Equal(t, []string{"COMPACTORD_" + strings.ToUpper(key)}, flags[key].Envs)
		require.NotEmpty(t, flags[key].Help)
	}
}

// The document says which sizes of requests can be set.
func TestBoundsOfMaxMessageBytes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "configuration.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "size of the largest request, 4 MiB to 1 GiB")
	for bytes, accepted := range map[int]bool{4<<20 - 1: false, 4 << 20: true, 1 << 30: true, 1<<30 + 1: false} {
		_, err := configured(t, "--max-message-bytes", strconv.Itoa(bytes))
		require.Equal(t, accepted, err == nil, "%d: %v", bytes, err)
	}
}
