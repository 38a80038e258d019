package service

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"slices"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/httpapi"
	"github.com/compactord/compactord/service/inspector"
	"github.com/compactord/compactord/service/interceptors"
)

// HTTPOptions say how a Server serves the API over HTTP.
type HTTPOptions struct {
	// Listener is where. Its connections count among those of MaxConnections, and Run closes it.
	Listener net.Listener
	// TLS encrypts the connections. Nil: they are plaintext.
	TLS *tls.Config
	// Hosts are the names by which requests may ask for the daemon in their Host header, beside localhost and IP addresses,
	// in lower case and without a port. Requests for others are refused.
	Hosts []string
	// Origins are the origins of the web pages that may call, in lower case. Pages of others are refused.
	Origins []string
	// Inspector serves a page that shows the sessions, see the package inspector.
	Inspector bool
	// InspectorWrites lets that page change sessions. Otherwise its calls that would are refused.
	InspectorWrites bool
}

// webServer is the server of the API over HTTP, and its listener.
type webServer struct {
	server   *httpapi.Server
	listener net.Listener
}

// AddHTTP makes Run serve the API over HTTP, too: the same services with the same interceptors and limits, see the package
// httpapi. It must be called before Run.
func (s *Server) AddHTTP(o HTTPOptions) {
	listener := s.unread.Listener(s.connections.listener(o.Listener))
	if o.TLS != nil {
		listener = tls.NewListener(listener, o.TLS)
	}
	s.web = &webServer{s.newHTTP(o), listener}
}

// newWeb returns a server with the services of the API, and health. It has no reflection, whose RPCs are no server streams.
func (s *Server) newWeb(o HTTPOptions, chain *interceptors.Chain, logger *slog.Logger) *httpapi.Server {
	unary := append(slices.Clone(chain.Unary), s.unread.Unary())
	stream := append(slices.Clone(chain.Stream), s.unread.Stream())
	var pages *http.ServeMux
	if o.Inspector {
		pages = http.NewServeMux()
		inspector.Add(pages, inspector.Writing(o.InspectorWrites))
		if !o.InspectorWrites {
			unary, stream = append(unary, inspector.ReadingUnary), append(stream, inspector.ReadingStream)
		}
	}
	web := httpapi.New(httpapi.Options{
		Unary: unary, Stream: stream, Hosts: o.Hosts, Origins: o.Origins, Pages: pages, Logger: logger,
	})
	compactordv1.RegisterSessionServiceServer(web, s.service)
	compactordv1.RegisterCompactionServiceServer(web, s.service)
	compactordv1.RegisterStoreServiceServer(web, s.service)
	healthv1.RegisterHealthServer(web, s.health)
	return web
}

func (s *Server) serveHTTP() error { return s.web.server.Serve(s.web.listener) }
