package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// hostName is a name of a host without a port.
var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)
})

// checkHTTP returns every problem with how the API is served over HTTP. The address is held to what that of gRPC is.
func (c *Config) checkHTTP(from Sources) []error {
	var problems []error
	if c.HTTPAddress() != "" {
		problems = append(problems, c.checkHTTPAddress(from))
	}
	if c.InspectWrite && !c.Inspect {
		problems = append(problems, fmt.Errorf("%s: it needs --inspect", from.Of("inspect-write")))
	}
	for flag, values := range map[string][]string{"http-allow-host": c.HTTPAllowHost, "http-allow-origin": c.HTTPAllowOrigin} {
		if c.HTTPAddress() == "" && len(values) > 0 {
			problems = append(problems, fmt.Errorf("%s: name the address with --http-listen", from.Of(flag)))
		}
	}
	for _, name := range c.HTTPAllowHost {
		if !hostName().MatchString(name) {
			problems = append(problems, fmt.Errorf("%s: %q is no name of a host, without a port", from.Of("http-allow-host"), name))
		}
	}
	for _, text := range c.HTTPAllowOrigin {
		if _, err := originOf(text); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", from.Of("http-allow-origin"), err))
		}
	}
	return problems
}

func (c *Config) checkHTTPAddress(from Sources) error {
	address := c.HTTPAddress()
	addr, err := api.ParseAddress(address)
	guarded := c.TLSCert != "" && !c.NoAuth
	switch private := addr.Network == "unix" && runtime.GOOS != "windows"; {
	case err != nil:
		return fmt.Errorf("%s: %w", from.Of("http-listen"), err)
	case c.Inspect && addr.Network == "unix":
		return fmt.Errorf("%s: a browser reaches no Unix socket: set --http-listen to HOST:PORT", from.Of("inspect"))
	case address == c.Listen && !strings.HasSuffix(c.Listen, ":0"):
		return fmt.Errorf("%s: it is the address of --listen", from.Of("http-listen"))
	case c.NoAuth && !private && !c.Insecure:
		return fmt.Errorf("%s: all who can connect to %s could do everything without tokens, also web pages. Listen on unix:PATH, "+
			"or take the risk with --insecure", from.Of("http-listen"), address)
	case guarded:
		return nil
	default:
		return c.checkSecrecy(from.Of("http-listen"), address)
	}
}

// inspectAddress is where the inspector is served where no address is set.
const inspectAddress = "127.0.0.1:7442"

// HTTPAddress returns the address at which the API is served over HTTP, too; empty for none.
func (c *Config) HTTPAddress() string {
	if c.HTTPListen == "" && c.Inspect {
		return inspectAddress
	}
	return c.HTTPListen
}

// HTTPHosts returns the names by which requests over HTTP may ask for the daemon, in lower case.
func (c *Config) HTTPHosts() []string {
	names := make([]string, 0, 1+len(c.HTTPAllowHost))
	if host, _, err := net.SplitHostPort(c.HTTPAddress()); err == nil && host != "" {
		names = append(names, strings.ToLower(host))
	}
	for _, name := range c.HTTPAllowHost {
		names = append(names, strings.ToLower(name))
	}
	return names
}

// HTTPOrigins returns the origins whose pages may call, as browsers write them. All of them have passed Check.
func (c *Config) HTTPOrigins() []string {
	origins := make([]string, 0, len(c.HTTPAllowOrigin))
	for _, text := range c.HTTPAllowOrigin {
		if origin, err := originOf(text); err == nil {
			origins = append(origins, origin)
		}
	}
	return origins
}

// defaultPorts are the ports that browsers leave out.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// originOf returns an origin as browsers write it: in lower case, without the usual port.
func originOf(text string) (string, error) {
	wrong := errors.New("an origin is https://HOST or https://HOST:PORT, or the same with http")
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", wrong
	}
	port, known := defaultPorts[u.Scheme]
	_, noAddress := netip.ParseAddr(strings.Trim(u.Hostname(), "[]"))
	if !known || noAddress != nil && !hostName().MatchString(u.Hostname()) {
		return "", wrong
	}
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, port), nil
}
