// Package config reads the settings of the daemon: flags, environment, and the YAML file that also names the models which
// write summaries.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/strategies"
)

// Config is what an operator sets of the daemon: by flag, by environment, or in a YAML file under the flag's name with
// underscores. The tags are the one place where a setting is declared.
type Config struct {
	Listen            string        `default:"${default_addr}" env:"COMPACTORD_LISTEN" help:"Address to listen on (default: ${default})." placeholder:"HOST:PORT|unix:PATH"`
	Store             string        `default:"${default_store}" env:"COMPACTORD_STORE" help:"File that keeps the sessions; made where there is none (default: ${default})." placeholder:"PATH" type:"path"`
	DefaultPreset     string        `default:"default" env:"COMPACTORD_DEFAULT_PRESET" help:"Preset of sessions that name none: ${presets} (default: ${default})." placeholder:"NAME"`
	DefaultSummarizer string        `default:"extractive" env:"COMPACTORD_DEFAULT_SUMMARIZER" help:"Who writes the summaries of sessions that do not say: extractive, or a model of the configuration file (default: ${default})." placeholder:"NAME"`
	Insecure          bool          `env:"COMPACTORD_INSECURE" help:"Listen on an address that other machines can reach, though there is neither encryption nor authentication yet."`
	Reflection        *bool         `env:"COMPACTORD_REFLECTION" help:"Describe the API to tools such as grpcurl (default: yes, unless other machines can reach the address)." negatable:""`
	MaxMessageBytes   int           `default:"67108864" env:"COMPACTORD_MAX_MESSAGE_BYTES" help:"Size of the largest request or answer (default: ${default})." placeholder:"N"`
	DrainTimeout      time.Duration `default:"10s" env:"COMPACTORD_DRAIN_TIMEOUT" help:"How long calls may take to finish when the daemon stops (default: ${default})." placeholder:"TIME"`
	Heartbeat         time.Duration `default:"15s" env:"COMPACTORD_HEARTBEAT" help:"How long a stream may be silent (default: ${default})." placeholder:"TIME"`
	LogLevel          string        `default:"info" env:"COMPACTORD_LOG_LEVEL" help:"debug, info, warn or error (default: ${default})." placeholder:"LEVEL"`
	LogFormat         string        `default:"text" env:"COMPACTORD_LOG_FORMAT" help:"text or json (default: ${default}). Logs go to stderr and hold nothing of conversations." placeholder:"FORMAT"`
	MetricsListen     string        `env:"COMPACTORD_METRICS_LISTEN" help:"Address to serve metrics on, at /metrics over HTTP (default: nowhere)." placeholder:"HOST:PORT"`
}

// Bounds of settings.
const (
	// Answers come in pages of up to 3 MiB unless a client asks for other ones.
	minMessageBytes = 4 << 20
	maxMessageBytes = 1 << 30
	minHeartbeat    = 100 * time.Millisecond
	maxSpan         = time.Hour
)

// Validate returns all that is wrong with the settings, each problem under the flag's name.
func (c *Config) Validate() error {
	var problems []error
	check := func(ok bool, flag, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("--%s: %s", flag, fmt.Sprintf(format, args...)))
		}
	}
	problems = append(problems, c.checkAddress("listen", c.Listen), c.checkMetrics())
	check(c.Store != "", "store", "name a file: there is no default without a home folder")
	check(slices.Contains(strategies.PresetNames(), c.DefaultPreset), "default-preset", "there is no preset %q; there are %s",
		c.DefaultPreset, strings.Join(strategies.PresetNames(), ", "))
	check(c.MaxMessageBytes >= minMessageBytes && c.MaxMessageBytes <= maxMessageBytes, "max-message-bytes",
		"must be from %s to %s", terminal.Number(minMessageBytes), terminal.Number(maxMessageBytes))
	check(c.DrainTimeout > 0 && c.DrainTimeout <= maxSpan, "drain-timeout", "must be above 0, up to %s", maxSpan)
	check(c.Heartbeat >= minHeartbeat && c.Heartbeat <= maxSpan, "heartbeat", "must be from %s to %s", minHeartbeat, maxSpan)
	_, known := terminal.LogLevels[c.LogLevel]
	check(known, "log-level", "%q is none of debug, info, warn, error", c.LogLevel)
	check(c.LogFormat == "text" || c.LogFormat == "json", "log-format", "%q is neither text nor json", c.LogFormat)
	return errors.Join(problems...)
}

func (c *Config) checkAddress(flag, text string) error {
	addr, err := api.ParseAddress(text)
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	if !addr.Local() && !c.Insecure {
		return fmt.Errorf("--%s: other machines can reach %s, and there is neither encryption nor authentication yet: "+
			"whoever can connect could read and change all conversations. Listen on 127.0.0.1 or unix:PATH, or take "+
			"the risk with --insecure", flag, text)
	}
	return nil
}

func (c *Config) checkMetrics() error {
	if c.MetricsListen == "" {
		return nil
	}
	if strings.HasPrefix(c.MetricsListen, "unix:") {
		return errors.New("--metrics-listen: must be HOST:PORT")
	}
	return c.checkAddress("metrics-listen", c.MetricsListen)
}

// Reflects says whether the daemon describes its API.
func (c *Config) Reflects() bool {
	if c.Reflection != nil {
		return *c.Reflection
	}
	addr, err := api.ParseAddress(c.Listen)
	return err == nil && addr.Local()
}
