package config

import (
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// AdminAddress returns where operators ask over HTTP, and the flag that says it. It is empty where they cannot.
func (c *Config) AdminAddress() (flag, where string) {
	if c.AdminListen == "" {
		return "metrics-listen", c.MetricsListen
	}
	return "admin-listen", c.AdminListen
}

// checkAdmin takes an address that other machines can reach where the daemon asks for tokens, and TLS hides them.
func (c *Config) checkAdmin(from Sources) error {
	flag, where := c.AdminAddress()
	if where == "" {
		if c.Pprof {
			return fmt.Errorf("%s: name the address with --admin-listen", from.Of("pprof"))
		}
		return nil
	}
	var problems []error
	if c.AdminListen != "" && c.MetricsListen != "" {
		problems = append(problems, fmt.Errorf("%s: --admin-listen serves the metrics, too; leave one out", from.Of("metrics-listen")))
	}
	addr, err := api.ParseAddress(where)
	switch guarded := c.TLSCert != "" && !c.NoAuth; {
	case err != nil:
		problems = append(problems, fmt.Errorf("%s: %w", from.Of(flag), err))
	case flag == "metrics-listen" && addr.Network == "unix":
		problems = append(problems, fmt.Errorf("%s: must be HOST:PORT; --admin-listen takes a Unix socket", from.Of(flag)))
	case addr.Local() || guarded:
	case !c.Insecure:
		problems = append(problems, fmt.Errorf("%s: other machines can reach %s, and whoever can connect could read the metrics. "+
			"Listen on 127.0.0.1, set --tls-cert and --tls-key, or take the risk with --insecure", from.Of(flag), where))
	case c.Pprof:
		problems = append(problems, fmt.Errorf("%s: other machines can reach %s, and profiles need TLS and tokens there",
			from.Of("pprof"), where))
	}
	return errors.Join(problems...)
}
