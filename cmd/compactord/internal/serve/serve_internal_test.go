package serve

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
)

// The file sets the flags, and the settings that are no flags.
func TestTheFileIsRead(t *testing.T) {
	path := sample.File(t, "config.yaml", `
log_level: warn
default_summarizer: local
overflow: {patterns: [{id: ours, pattern: 'Over the limit of \d+'}]}
summarizers:
  local: {kind: anthropic, model: small, base_url: "http://[::1]:8080", api_key_file: `+sample.File(t, "key", "secret")+`}
`)
	cli := &struct {
		Serve Command `cmd:""`
	}{}
	parser, err := kong.New(cli, api.Stores(), kong.Vars{"default_store": "/var/lib/x.db", "default_token": "/var/lib/token", "default_addr": "127.0.0.1:7440", "presets": ""})
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve", "--config", path})
	require.NoError(t, err)
	require.Equal(t, "warn", cli.Serve.LogLevel)
	require.Equal(t, "local", cli.Serve.DefaultSummarizer)
	read, err := config.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, read.Overflow.Patterns, 1)
	require.NoError(t, read.CheckSummarizer("", "local"))
	require.Equal(t, read.Settings, cli.Serve.file.Settings)
	require.Equal(t, read.Overflow, cli.Serve.file.Overflow)
	require.NoError(t, cli.Serve.file.CheckSummarizer("", "local"))
}
