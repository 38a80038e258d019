package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Problems of the file, the environment, flags, models and certificates are reported together.
func TestConfigCheckReportsEveryProblem(t *testing.T) {
	path := sample.File(t, "config.yaml", `heartbeet: 1s
log_level: loud
max_connections: many
store: [a]
tls_cert: none.pem
tls_key: none.key
summarizers:
  a: {kind: openai, modell: x, tries: "much"}
  b: {kind: y, model: m, base_url: "http://127.0.0.1:1"}
`)
	t.Setenv("COMPACTORD_DRAIN_TIMEOUT", "5")
	t.Setenv("COMPACTORD_LOG_FORMAT", "xml")
	r := programtest.Ran(t, "config", "check", path, "--heartbeat", "1ms", "--json").Ends(t, terminal.ExitUsage)
	var document struct {
		OK       bool
		Problems []config.Problem
	}
	require.NoError(t, json.Unmarshal([]byte(r.Out), &document))
	require.False(t, document.OK)
	found := map[string]config.Problem{}
	for _, p := range document.Problems {
		found[p.Key] = p
	}
	require.Len(t, found, len(document.Problems), r.Out)
	for key, want := range map[string]struct {
		source        config.Source
		from, message string
	}{
		"heartbeet":            {config.FromFile, path, `there is no setting "heartbeet" (did you mean heartbeat?); there are `},
		"log_level":            {config.FromFile, path, `"loud" is none of `},
		"max_connections":      {config.FromFile, path, "expected a whole number"},
		"store":                {config.FromFile, path, "must be a text, "},
		"tls_cert":             {config.FromFile, path, "none.pem"},
		"tls_key":              {config.FromFile, path, "none.key"},
		"summarizers.a.modell": {config.FromFile, path, `has no key "modell" (did you mean model?); there are `},
		"summarizers.a.tries":  {config.FromFile, path, "must be a whole number"},
		"summarizers.b.kind":   {config.FromFile, path, "must be openai, anthropic or gemini"},
		"drain_timeout":        {config.FromEnvironment, "COMPACTORD_DRAIN_TIMEOUT", "expected a time such as 90s"},
		"log_format":           {config.FromEnvironment, "COMPACTORD_LOG_FORMAT", "neither text nor json"},
		"heartbeat":            {config.FromFlag, "--heartbeat", "must be from 100ms"},
	} {
		require.Contains(t, found, key)
		require.Equal(t, want.source, found[key].Source, key)
		require.Equal(t, want.from, found[key].From, key)
		require.Contains(t, found[key].Message, want.message, key)
		delete(found, key)
		r.Says(t, want.message)
	}
	require.Empty(t, found)
	programtest.Ran(t, "config", "print", path).Ends(t, terminal.ExitUsage).Says(t, "log_level: ")
}

func TestConfigCheckReadsWhatTheDaemonWouldRead(t *testing.T) {
	folder := t.TempDir()
	path := sample.File(t, "config.yaml", "summarizers: {a: {kind: openai, model: m, api_key_env: TEST_KEY_OF_A}}\ndefault_summarizer: a\n")
	programtest.Ran(t, "config", "check", path).Ends(t, terminal.ExitUsage).
		Says(t, path+": summarizers.a.api_key_env: the environment has no variable TEST_KEY_OF_A")
	t.Setenv("TEST_KEY_OF_A", "sk-very-secret")
	t.Setenv("COMPACTORD_CONFIG", path)
	r := programtest.Ran(t, "config", "check").Ends(t, terminal.ExitDone)
	require.Equal(t, "The settings are right.\n", r.Out)
	r = programtest.Ran(t, "config", "check", "--json").Ends(t, terminal.ExitDone)
	require.JSONEq(t, `{"ok": true, "problems": []}`, r.Out)
	programtest.Ran(t, "config", "check", "--tokens", sample.File(t, "tokens", "nonsense\n")).Ends(t, terminal.ExitUsage).Says(t, "--tokens: ")
	programtest.Ran(t, "config", "check", filepath.Join(folder, "none.yaml")).Ends(t, terminal.ExitUsage).Says(t, "there is no such file")
	programtest.Ran(t, "config", "check", path, "--config", path).Ends(t, terminal.ExitUsage).Says(t, "--config: the file is named already")
	programtest.Ran(t, "config", "check", "--default-summarizer", "b").Ends(t, terminal.ExitUsage).Says(t, `--default-summarizer: there is no summarizer "b"`)
}

// What is printed names the source of each setting, hides secrets, and is a file with the same effect.
func TestConfigPrint(t *testing.T) {
	path := sample.File(t, "config.yaml", `log_level: warn
heartbeat: 3s
overflow: {patterns: [{id: ours, pattern: too much}]}
summarizers: {a: {kind: openai, model: sk-misplaced, api_key_env: TEST_KEY_OF_A}}
`)
	t.Setenv("TEST_KEY_OF_A", "sk-very-secret")
	t.Setenv("COMPACTORD_HEARTBEAT", "4s")
	r := programtest.Ran(t, "config", "print", path, "--drain-timeout", "5s", "--store", "/x/y.db").Ends(t, terminal.ExitDone)
	for _, line := range []string{
		"log_level: warn # file " + path, "heartbeat: 4s # environment COMPACTORD_HEARTBEAT", "drain_timeout: 5s # flag --drain-timeout",
		"log_format: text # default", "max_inflight_bytes: 536870912 # default", "reflection: true # default", "# tls_cert: not set",
		"# file " + path,
	} {
		require.Contains(t, r.Out, line+"\n")
	}
	require.NotContains(t, r.Out, "sk-")
	require.Contains(t, r.Out, "[redacted]")

	require.NoError(t, os.Unsetenv("COMPACTORD_HEARTBEAT"))
	again := programtest.Ran(t, "config", "print", sample.File(t, "again.yaml", r.Out)).Ends(t, terminal.ExitDone)
	require.Equal(t, document(t, r.Out), document(t, again.Out))
	require.Contains(t, document(t, again.Out), "overflow")

	r = programtest.Ran(t, "config", "print", path, "--json").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "sk-")
	var printed struct {
		Settings    []config.Setting
		Summarizers map[string]map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(r.Out), &printed))
	require.Len(t, printed.Settings, len(config.SettingKeys()))
	require.Contains(t, printed.Settings, config.Setting{Key: "log_level", Value: "warn", Source: config.FromFile, From: path})
	require.Contains(t, printed.Settings, config.Setting{Key: "tokens", Source: config.FromDefault})
	require.Equal(t, "TEST_KEY_OF_A", printed.Summarizers["a"]["api_key_env"])
}

func document(t *testing.T, text string) map[string]any {
	t.Helper()
	settings := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &settings))
	return settings
}

// The sample has every setting as a comment, with the default of the program.
func TestSampleConfiguration(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "packaging", "compactord.yaml"))
	require.NoError(t, err)
	require.Empty(t, document(t, string(text)), "every setting is a comment")
	var keys, lines []string
	for line := range strings.Lines(string(text)) {
		setting, commented := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !commented || strings.HasPrefix(setting, " ") {
			continue
		}
		key, value, is := strings.Cut(setting, ":")
		require.True(t, is, line)
		keys = append(keys, key)
		if value != "" {
			lines = append(lines, setting)
		}
	}
	require.Equal(t, append(config.SettingKeys(), "jwt", "policies", "tenant_policies", "summarizers", "quotas", "overflow", "retention"), keys)

	t.Setenv("XDG_STATE_HOME", "")
	// Only the sample sets the file, and each value must be that of the program without a file.
	path := sample.File(t, "sample.yaml", strings.Join(lines, "\n")+"\n")
	programtest.Ran(t, "config", "check", path).Ends(t, terminal.ExitDone)
	sampled := values(t, path)
	for key, want := range values(t) {
		if runtime.GOOS != "linux" && (key == "store" || key == "token_file") {
			continue
		}
		require.Equal(t, want, sampled[key], key)
	}
	require.Equal(t, "info", sampled["log_level"].Value)
	for _, line := range lines {
		sections := []string{"jwt", "policies", "tenant_policies", "summarizers", "quotas", "overflow", "retention"}
		if key, _, _ := strings.Cut(line, ":"); !slices.Contains(sections, key) {
			require.Contains(t, document(t, strings.Join(lines, "\n")), key)
		}
	}
	for key, setting := range values(t) {
		written := strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+key+": ")
		if key != "reflection" && key != "max_inflight_bytes" {
			require.Equal(t, setting.Value != nil, written, "%s is written with its default, if it has one", key)
		}
	}
}

// values returns the settings of a command line without their sources.
func values(t *testing.T, args ...string) map[string]config.Setting {
	t.Helper()
	r := programtest.Ran(t, append([]string{"config", "print", "--json"}, args...)...).Ends(t, terminal.ExitDone)
	var printed struct{ Settings []config.Setting }
	require.NoError(t, json.Unmarshal([]byte(r.Out), &printed))
	all := map[string]config.Setting{}
	for _, setting := range printed.Settings {
		all[setting.Key] = config.Setting{Key: setting.Key, Value: setting.Value}
	}
	return all
}
