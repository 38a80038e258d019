package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/inspector"
)

// addHTTP makes the server serve the API over HTTP, too, where an address is set. It returns the address of the inspector,
// for a browser; empty where there is none.
func (c *Command) addHTTP(ctx context.Context, d *daemon, logger *slog.Logger) (inspected string, err error) {
	if c.HTTPAddress() == "" {
		return "", nil
	}
	addr, err := api.ParseAddress(c.HTTPAddress())
	if err != nil {
		return "", err
	}
	listener, err := bindHTTP(ctx, addr)
	if err != nil {
		return "", err
	}
	logger.InfoContext(ctx, "serving HTTP", "address", listening(addr, listener), "origins", c.HTTPOrigins(), "hosts", c.HTTPHosts())
	options := service.HTTPOptions{
		Listener: newPatientListener(listener, logger, d.refused), Hosts: c.HTTPHosts(), Origins: c.HTTPOrigins(),
		Inspector: c.Inspect, InspectorWrites: c.InspectWrite,
	}
	scheme := "http://"
	if d.encryption != nil {
		options.TLS = d.encryption.HTTP("h2", "http/1.1")
		scheme = "https://"
	}
	d.server.AddHTTP(options)
	if c.Inspect {
		inspected = scheme + listening(addr, listener) + inspector.Path
	}
	return inspected, nil
}

func bindHTTP(ctx context.Context, addr api.Address) (net.Listener, error) {
	if addr.Network == "unix" {
		return listen(ctx, addr)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, addr.Network, addr.Where)
	if err != nil {
		return nil, fmt.Errorf("cannot serve HTTP on %s, the address of --http-listen: %w", addr.Where, cause(err))
	}
	return listener, nil
}
