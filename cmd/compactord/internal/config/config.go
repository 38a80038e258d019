// Package config reads the settings of the daemon from flags, the environment and a YAML file. The file also names the
// models that write summaries.
package config

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
)

// Config holds the settings of the daemon. Each is a flag, a variable of the environment, and a key of the YAML file:
// the flag's name with underscores. Only the tags declare them. A setting with the tag `secret` is hidden where settings are
// printed; one that only sounds like that has the tag `public`, with the reason.
type Config struct {
	Listen                 string        `default:"${default_addr}" env:"COMPACTORD_LISTEN" help:"Address to listen on (default: ${default})." placeholder:"HOST:PORT|unix:PATH"`
	Store                  string        `default:"${default_store}" env:"COMPACTORD_STORE" help:"What holds the sessions: a file, created if it does not exist, or a PostgreSQL database (default: ${default})." placeholder:"PATH|URL" type:"store"`
	Migrate                bool          `env:"COMPACTORD_MIGRATE" help:"Bring the schema of the database of --store to the version of this program at the start."`
	StoreKeys              string        `name:"store-keys" env:"COMPACTORD_STORE_KEYS" help:"File with the keys of an encrypted store; a new store is encrypted then (default: none, plain)." placeholder:"PATH" public:"a path" type:"path"`
	StoreKeysEnv           string        `name:"store-keys-env" env:"COMPACTORD_STORE_KEYS_ENV" help:"Variable of the environment with the keys of an encrypted store, in place of --store-keys (default: none)." placeholder:"NAME" public:"the name of a variable"`
	TokenFile              string        `default:"${default_token}" env:"COMPACTORD_TOKEN_FILE" help:"File of the token of who runs the daemon, for all calls; made if it does not exist (default: ${default})." placeholder:"PATH" public:"a path" type:"path"`
	Tokens                 string        `env:"COMPACTORD_TOKENS" help:"File of the hashed tokens of other clients (default: none). compactord token makes its lines." placeholder:"PATH" public:"a path" type:"path"`
	NoAuth                 bool          `env:"COMPACTORD_NO_AUTH" help:"Ask for no token: whoever can connect may do everything. It needs a Unix socket, or else --insecure."`
	DefaultPreset          string        `default:"default" env:"COMPACTORD_DEFAULT_PRESET" help:"Preset of sessions whose policy names none: ${presets} (default: ${default})." placeholder:"NAME"`
	DefaultPolicy          string        `env:"COMPACTORD_DEFAULT_POLICY" help:"Policy of the configuration file, or preset, of sessions whose policy names none (default: --default-preset)." placeholder:"NAME"`
	DefaultSummarizer      string        `default:"extractive" env:"COMPACTORD_DEFAULT_SUMMARIZER" help:"Summarizer of sessions whose policy names none: extractive, or a model of the configuration file (default: ${default})." placeholder:"NAME"`
	TLSCert                string        `name:"tls-cert" env:"COMPACTORD_TLS_CERT" help:"Speak TLS with this certificate, in PEM, with intermediate ones after it (default: none, plaintext). Read again when it changes." placeholder:"PATH" type:"path"`
	TLSKey                 string        `name:"tls-key" env:"COMPACTORD_TLS_KEY" help:"Private key of --tls-cert, in PEM." placeholder:"PATH" public:"a path" type:"path"`
	TLSClientCA            string        `name:"tls-client-ca" env:"COMPACTORD_TLS_CLIENT_CA" help:"Take only clients whose certificate one of these authorities has signed, in PEM (default: any client). Read again when it changes." placeholder:"PATH" type:"path"`
	Insecure               bool          `env:"COMPACTORD_INSECURE" help:"Listen without TLS on an address that other machines can reach, and take --no-auth on any address."`
	Reflection             *bool         `env:"COMPACTORD_REFLECTION" help:"Describe the API to tools such as grpcurl (default: yes, unless other machines can reach the address)." negatable:""`
	MaxMessageBytes        int           `default:"67108864" env:"COMPACTORD_MAX_MESSAGE_BYTES" help:"Size of the largest request (default: ${default})." placeholder:"N"`
	MaxInflightBytes       int64         `env:"COMPACTORD_MAX_INFLIGHT_BYTES" help:"Memory that the requests that run at once may take (default: 8 times --max-message-bytes)." placeholder:"N"`
	MaxConnections         int           `default:"4096" env:"COMPACTORD_MAX_CONNECTIONS" help:"How many connections may be open at once (default: ${default})." placeholder:"N"`
	MaxConnectionsOfClient int           `default:"1024" env:"COMPACTORD_MAX_CONNECTIONS_OF_CLIENT" help:"How many of them may come from one address of another machine (default: ${default})." placeholder:"N"`
	MinFreeBytes           int64         `default:"134217728" env:"COMPACTORD_MIN_FREE_BYTES" help:"Refuse writes while less is free on the disk of the store; 0 for no limit (default: ${default})." placeholder:"N"`
	OverwriteFreed         bool          `env:"COMPACTORD_OVERWRITE_FREED" help:"Overwrite in the store, in the background, what deletions free."`
	DrainTimeout           time.Duration `default:"10s" env:"COMPACTORD_DRAIN_TIMEOUT" help:"How long running calls may go on when the daemon stops (default: ${default})." placeholder:"TIME"`
	Heartbeat              time.Duration `default:"15s" env:"COMPACTORD_HEARTBEAT" help:"How long a stream may be silent (default: ${default})." placeholder:"TIME"`
	LogLevel               string        `default:"info" env:"COMPACTORD_LOG_LEVEL" help:"debug, info, warn or error (default: ${default})." placeholder:"LEVEL"`
	LogFormat              string        `default:"text" env:"COMPACTORD_LOG_FORMAT" help:"text or json (default: ${default}). Logs go to stderr and quote nothing of conversations." placeholder:"FORMAT"`
	AuditLog               string        `env:"COMPACTORD_AUDIT_LOG" help:"Add a line for each call to this file: who did what to which session (default: none). Made with mode 0600." placeholder:"PATH" type:"path"`
	HTTPListen             string        `name:"http-listen" env:"COMPACTORD_HTTP_LISTEN" help:"Serve the API over HTTP, too, at this address: JSON, Connect and gRPC-Web (default: none)." placeholder:"HOST:PORT|unix:PATH"`
	HTTPAllowHost          []string      `name:"http-allow-host" env:"COMPACTORD_HTTP_ALLOW_HOST" help:"Name by which requests may ask for the daemon over HTTP, beside localhost, IP addresses and the name in --http-listen (default: none). Repeatable." placeholder:"NAME"`
	HTTPAllowOrigin        []string      `name:"http-allow-origin" env:"COMPACTORD_HTTP_ALLOW_ORIGIN" help:"Origin whose web pages may call over HTTP, such as https://example.com (default: none). Repeatable." placeholder:"ORIGIN"`
	Inspect                bool          `env:"COMPACTORD_INSPECT" help:"Serve a web page that shows the sessions, at /inspect/ of --http-listen, which is 127.0.0.1:7442 then if it is not set."`
	InspectWrite           bool          `env:"COMPACTORD_INSPECT_WRITE" help:"Let the page of --inspect change sessions: compact, prune, pin, checkpoint, revert and undo. Otherwise the daemon refuses that to the page."`
	AdminListen            string        `env:"COMPACTORD_ADMIN_LISTEN" help:"Address of the HTTP server for operators: /metrics, /livez, /readyz and /version (default: none)." placeholder:"HOST:PORT|unix:PATH"`
	MetricsListen          string        `env:"COMPACTORD_METRICS_LISTEN" help:"The older name of --admin-listen (default: none)." placeholder:"HOST:PORT"`
	Pprof                  bool          `env:"COMPACTORD_PPROF" help:"Serve profiles of the program at /debug/pprof/ of --admin-listen."`
	TracesEndpoint         string        `env:"COMPACTORD_TRACES_ENDPOINT" help:"Send traces to this OpenTelemetry collector (default: none), with TLS for https." placeholder:"URL"`
	TracesProtocol         string        `default:"grpc" env:"COMPACTORD_TRACES_PROTOCOL" help:"How the collector is spoken to: grpc or http/protobuf (default: ${default})." placeholder:"PROTOCOL"`
	TracesCA               string        `name:"traces-ca" env:"COMPACTORD_TRACES_CA" help:"Authorities that sign the certificate of the collector, in PEM (default: the system's)." placeholder:"PATH" type:"path"`
	TracesHeaders          string        `env:"COMPACTORD_TRACES_HEADERS" help:"File of headers for the collector, such as keys: a line NAME: VALUE for each (default: none)." placeholder:"PATH" public:"a path" type:"path"`
	TracesSample           float64       `default:"1" env:"COMPACTORD_TRACES_SAMPLE" help:"Which part of the traces is recorded that begin at the daemon, from 0 to 1 (default: ${default})." placeholder:"X"`
	TracesService          string        `default:"compactord" env:"COMPACTORD_TRACES_SERVICE" help:"Name of the daemon in traces (default: ${default})." placeholder:"NAME"`
}

// Bounds of settings.
const (
	// Answers have pages of up to 3 MiB unless a client asks for another size.
	minMessageBytes = 4 << 20
	maxMessageBytes = 1 << 30
	maxInflight     = 1 << 40
	maxConnections  = 1_000_000
	maxFree         = 1 << 50
	minHeartbeat    = 100 * time.Millisecond
	maxSpan         = time.Hour
)

// Check returns every problem with the settings, under the name of what sets it.
func (c *Config) Check(from Sources) error {
	var problems []error
	check := func(ok bool, flag, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("%s: %s", from.Of(flag), fmt.Sprintf(format, args...)))
		}
	}
	problems = append(problems, c.checkListen(from), c.checkAccess(from), c.checkAdmin(from))
	problems = append(problems, c.checkHTTP(from)...)
	problems = append(problems, c.checkTLS(from)...)
	problems = append(problems, c.checkDatabase(from)...)
	check(c.StoreKeys == "" || c.StoreKeysEnv == "", "store-keys-env", "--store-keys names the keys already: all of them stand in one place")
	problems = append(problems, c.checkTraces(from)...)
	check(c.Store != "", "store", "name a file: there is no default without a home folder")
	check(slices.Contains(strategies.PresetNames(), c.DefaultPreset), "default-preset", "there is no preset %q%s; there are %s",
		c.DefaultPreset, misspelt.Of(c.DefaultPreset, strategies.PresetNames()), strings.Join(strategies.PresetNames(), ", "))
	check(c.MaxMessageBytes >= minMessageBytes && c.MaxMessageBytes <= maxMessageBytes, "max-message-bytes",
		"must be from %s to %s", terminal.Number(minMessageBytes), terminal.Number(maxMessageBytes))
	least := service.LeastInflightBytes(max(c.MaxMessageBytes, minMessageBytes))
	check(c.MaxInflightBytes == 0 || c.MaxInflightBytes >= least && c.MaxInflightBytes <= maxInflight, "max-inflight-bytes",
		"must be from %s, which one request of --max-message-bytes needs, to %s", terminal.Number(least), terminal.Number(maxInflight))
	check(c.MaxConnections >= 1 && c.MaxConnections <= maxConnections, "max-connections", "must be from 1 to %s",
		terminal.Number(maxConnections))
	check(c.MaxConnectionsOfClient >= 1 && c.MaxConnectionsOfClient <= maxConnections, "max-connections-of-client",
		"must be from 1 to %s", terminal.Number(maxConnections))
	check(c.MinFreeBytes >= 0 && c.MinFreeBytes <= maxFree, "min-free-bytes", "must be from 0, which is no limit, to %s", terminal.Number(maxFree))
	check(c.DrainTimeout > 0 && c.DrainTimeout <= maxSpan, "drain-timeout", "must be above 0, up to %s", maxSpan)
	check(c.Heartbeat >= minHeartbeat && c.Heartbeat <= maxSpan, "heartbeat", "must be from %s to %s", minHeartbeat, maxSpan)
	check(c.AuditLog == "" || c.AuditLog != c.Store, "audit-log", "it is the file of the store")
	_, known := terminal.LogLevels[c.LogLevel]
	check(known, "log-level", "%q is none of debug, info, warn, error", c.LogLevel)
	check(c.LogFormat == "text" || c.LogFormat == "json", "log-format", "%q is neither text nor json", c.LogFormat)
	return errors.Join(problems...)
}

// checkAddress returns an error for an address that other machines can reach, unless the operator takes the risk.
func (c *Config) checkAddress(from, text, danger, instead string) error {
	addr, err := api.ParseAddress(text)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if !addr.Local() && !c.Insecure {
		return fmt.Errorf("%s: other machines can reach %s, and %s. Listen on %s, or take the risk with --insecure", from, text, danger, instead)
	}
	return nil
}

// checkListen takes an address that other machines can reach where the daemon asks for tokens, and TLS hides them.
func (c *Config) checkListen(from Sources) error {
	if c.TLSCert != "" && !c.NoAuth {
		_, err := api.ParseAddress(c.Listen)
		if err != nil {
			return fmt.Errorf("%s: %w", from.Of("listen"), err)
		}
		return nil
	}
	if c.NoAuth {
		return c.checkAddress(from.Of("listen"), c.Listen, "without tokens, others could read and change all conversations",
			"127.0.0.1 or unix:PATH, leave --no-auth out, set --tls-cert and --tls-key")
	}
	return c.checkSecrecy(from.Of("listen"), c.Listen)
}

// checkSecrecy refuses an address that other machines can reach, of a daemon with tokens and without TLS.
func (c *Config) checkSecrecy(from, address string) error {
	return c.checkAddress(from, address, "without TLS, others could read the tokens and all conversations",
		"127.0.0.1 or unix:PATH, set --tls-cert and --tls-key")
}

// checkAccess returns every problem with the settings that say who may call.
func (c *Config) checkAccess(from Sources) error {
	if !c.NoAuth {
		if c.TokenFile == "" && c.Tokens == "" {
			return fmt.Errorf("%s: name a file: there is no default without a home folder", from.Of("token-file"))
		}
		return nil
	}
	var problems []error
	if c.Tokens != "" {
		problems = append(problems, fmt.Errorf("%s: no token is asked for with --no-auth", from.Of("tokens")))
	}
	// Where the socket's file has no mode, its folder decides who can connect.
	addr, err := api.ParseAddress(c.Listen)
	if private := addr.Network == "unix" && runtime.GOOS != "windows"; err == nil && !private && !c.Insecure {
		problems = append(problems, fmt.Errorf("%s: all who can connect to %s could do everything, also spend "+
			"money at the providers of models. Listen on unix:PATH, or take the risk with --insecure", from.Of("no-auth"), c.Listen))
	}
	return errors.Join(problems...)
}

// Reflects says whether the daemon describes its API.
func (c *Config) Reflects() bool {
	if c.Reflection != nil {
		return *c.Reflection
	}
	addr, err := api.ParseAddress(c.Listen)
	return err == nil && addr.Local()
}
