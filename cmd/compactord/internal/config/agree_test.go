package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// wrongSettings are settings with a problem in each part, and the keys of all problems.
var wrongSettings = map[string]struct {
	file      string
	variables map[string]string
	flags     []string
	keys      []string
}{
	"values": {
		file:      "heartbeet: 1s\nlog_level: loud\nmax_connections: many\n",
		variables: map[string]string{"COMPACTORD_DRAIN_TIMEOUT": "5", "COMPACTORD_LOG_FORMAT": "xml"},
		flags:     []string{"--heartbeat=soon", "--max-message-bytes", "1.5", "--insecure=maybe", "--traces-sample=2", "--min-free-bytes=x"},
		keys: []string{
			"heartbeet", "log_level", "max_connections", "drain_timeout", "log_format", "heartbeat", "max_message_bytes",
			"insecure", "traces_sample", "min_free_bytes",
		},
	},
	"contradictions": {
		file:      "tls_client_ca: ca.pem\ntls_key: key.pem\npprof: true\n",
		variables: map[string]string{"COMPACTORD_STORE_KEYS": "none", "COMPACTORD_STORE_KEYS_ENV": "NONE"},
		flags:     []string{"--listen=0.0.0.0:1", "--no-auth", "--traces-headers=none"},
		keys: []string{
			"tls_client_ca", "tls_client_ca", "tls_key", "pprof", "store_keys_env", "listen", "no_auth", "traces_headers",
		},
	},
	"files": {
		file:      "tls_cert: none.pem\ntls_key: none.key\ntls_client_ca: none.ca\ntokens: none.tokens\njwt: {keys: /none/jwks.json, issuer: i, audience: a}\n",
		variables: map[string]string{"COMPACTORD_STORE_KEYS": "none.keys"},
		flags: []string{
			"--traces-endpoint=https://127.0.0.1:1", "--traces-ca=none.ca", "--traces-headers=none.headers", "--token-file", "/",
		},
		keys: []string{
			"tls_cert", "tls_key", "tls_client_ca", "tokens", "jwt.keys", "store_keys", "traces_ca", "traces_headers", "token_file",
		},
	},
	"sections": {
		file: `default_summarizer: nobody
default_policy: nothing
overflow: {patterns: [{id: A, pattern: x}, {id: a, pattern: "(", class: none}], exclusions: [{id: b, pattern: ""}]}
policies: {ours: {presett: pi}, theirs: {preset: pi, summary: {summarizer: nobody}}}
tenant_policies: {a: other}
quotas: {each: {sessions: -1}, tenants: {a: {streams: many}}}
retention: {age: soon}
jwt: {issuer: i}
summarizers:
  a: {kind: x, model: m, base_url: "http://127.0.0.1:1"}
  b: {kind: openai, model: m, api_key_env: TEST_NO_KEY}
  c: {kind: openai, model: m, api_key_file: /none}
`,
		keys: []string{
			"default_summarizer", "default_policy", "overflow.patterns[0]", "overflow.patterns[1]", "overflow.patterns[1]",
			"overflow.exclusions[0]", "policies.ours.presett", "policies.theirs.summary.summarizer", "tenant_policies.a",
			"quotas.each.sessions", "quotas.tenants.a.streams", "retention.age", "jwt.audience", "jwt.keys",
			"summarizers.a.kind", "summarizers.b.api_key_env", "summarizers.c.api_key_file",
		},
	},
	"no YAML": {file: "a: [\n", flags: []string{"--heartbeat=1ms"}, keys: []string{"config", "heartbeat"}},
}

// The daemon used to stop at the first value that could not be read, and to find files that cannot be read one by one.
func TestServeAndConfigCheckReportTheSameProblems(t *testing.T) {
	for name, c := range wrongSettings {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for variable, value := range c.variables {
				t.Setenv(variable, value)
			}
			args := append([]string{"--config", sample.File(t, "config.yaml", c.file), "--store", anystore.File(t)}, c.flags...)
			checked := programtest.Ran(t, append([]string{"config", "check"}, args...)...).Ends(t, terminal.ExitUsage)
			served := programtest.Ran(t, append([]string{"serve"}, args...)...).Ends(t, terminal.ExitUsage)
			said, _ := strings.CutSuffix(served.Err, "For help: compactord serve --help\n")
			require.Equal(t, checked.Err, said)

			r := programtest.Ran(t, append([]string{"config", "check", "--json"}, args...)...).Ends(t, terminal.ExitUsage)
			var document struct{ Problems []config.Problem }
			require.NoError(t, json.Unmarshal([]byte(r.Out), &document))
			var keys []string
			for _, p := range document.Problems {
				keys = append(keys, p.Key)
			}
			require.ElementsMatch(t, c.keys, keys, r.Out)
		})
	}
}
