package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/traces"
	"github.com/compactord/compactord/service/trusted"
)

// maxServiceName is longer than any name of a service.
const maxServiceName = 128

// checkTraces returns every problem with the settings of traces. Those of a collector that is not named are checked too, but
// their files are not read.
func (c *Config) checkTraces(from Sources) []error {
	var problems []error
	problem := func(flag, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", from.Of(flag), fmt.Sprintf(format, args...)))
	}
	if c.TracesProtocol != traces.GRPC && c.TracesProtocol != traces.HTTP {
		problem("traces-protocol", "%q is neither %s nor %s", c.TracesProtocol, traces.GRPC, traces.HTTP)
	}
	if !(c.TracesSample >= 0 && c.TracesSample <= 1) {
		problem("traces-sample", "must be from 0 to 1")
	}
	if c.TracesService == "" || len(c.TracesService) > maxServiceName {
		problem("traces-service", "must have from 1 to %d bytes", maxServiceName)
	}
	if c.TracesEndpoint == "" {
		for flag, value := range map[string]string{"traces-ca": c.TracesCA, "traces-headers": c.TracesHeaders} {
			if value != "" {
				problem(flag, "needs --traces-endpoint")
			}
		}
		return problems
	}
	endpoint, err := collector(c.TracesEndpoint)
	if err != nil {
		problem("traces-endpoint", "%v", err)
		return problems
	}
	if path := strings.TrimPrefix(endpoint.Path, "/"); path != "" && c.TracesProtocol == traces.GRPC {
		problem("traces-endpoint", "an address of the protocol grpc has no path")
	}
	plain := endpoint.Scheme == "http"
	if plain && c.TracesCA != "" {
		problem("traces-ca", "goes with an https address")
	}
	if host := (api.Address{Network: "tcp", Where: endpoint.Host}); plain && c.TracesHeaders != "" && !host.Local() && !c.Insecure {
		problem("traces-headers", "others could read them on their way to %s. Use https, or take the risk with --insecure", endpoint.Host)
	}
	return problems
}

// collector reads the address of a collector. The error quotes nothing of it, since it may hold a password.
func collector(text string) (*url.URL, error) {
	endpoint, err := url.Parse(text)
	switch {
	case err != nil, endpoint.Host == "", endpoint.Scheme != "http" && endpoint.Scheme != "https":
		return nil, errors.New("must begin with http:// or https:// and name a host")
	case endpoint.User != nil, endpoint.RawQuery != "", endpoint.Fragment != "":
		return nil, errors.New("must only have a host, a port and a path; put keys into the file of --traces-headers")
	}
	if endpoint.Port() == "" {
		return nil, errors.New("must name a port: collectors use 4317 for grpc and 4318 for http/protobuf")
	}
	return endpoint, nil
}

// Traces returns where traces are sent; nil without a collector. It reads the files.
func (c *Config) Traces() (*traces.Options, error) {
	if c.TracesEndpoint == "" {
		return nil, nil
	}
	endpoint, err := collector(c.TracesEndpoint)
	if err != nil {
		return nil, fmt.Errorf("--traces-endpoint: %w", err)
	}
	o := &traces.Options{Endpoint: endpoint, Protocol: c.TracesProtocol, Sample: c.TracesSample, Service: c.TracesService}
	if c.TracesCA != "" {
		if o.Authorities, err = certificates.ReadAuthorities(c.TracesCA); err != nil {
			return nil, fmt.Errorf("--traces-ca: %w", err)
		}
	}
	if c.TracesHeaders != "" {
		if o.Headers, err = readHeaders(c.TracesHeaders); err != nil {
			return nil, fmt.Errorf("--traces-headers: %w", err)
		}
	}
	return o, nil
}

// readHeaders reads a file of headers. Its errors quote no value.
func readHeaders(path string) (map[string]string, error) {
	content, err := trusted.ReadSecret(path, maxSecretBytes+1)
	if err != nil {
		return nil, terminal.Unreadable(path, err)
	}
	if len(content) > maxSecretBytes {
		return nil, fmt.Errorf("%s has more than %s bytes", path, terminal.Number(maxSecretBytes))
	}
	headers, number := make(map[string]string), 0
	for line := range strings.Lines(string(content)) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("%s, line %d: must be NAME: VALUE", path, number)
		}
		if _, twice := headers[name]; twice {
			return nil, fmt.Errorf("%s, line %d: names %s a second time", path, number, name)
		}
		headers[name] = value
	}
	return headers, nil
}
