package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"connectrpc.com/connect"
)

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.running.begin() {
		http.Error(w, "the daemon is shutting down", http.StatusServiceUnavailable)
		return
	}
	defer s.running.end()
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	if !s.allowsHost(r.Host) {
		s.refuse(w, r, "this daemon does not go by the name in the Host header: see --http-allow-host")
		return
	}
	if !s.allowsOrigin(w, r) {
		s.refuse(w, r, "pages of this origin may not call: see --http-allow-origin")
		return
	}
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	rpc, known := s.rpcs[r.URL.Path]
	switch {
	case r.URL.Path == OpenAPIPath:
		writeOpenAPI(w, r)
	case !known && s.hasPage(r):
		s.options.Pages.ServeHTTP(w, r)
	case !known:
		s.missing(w, r)
	case r.Method != http.MethodPost:
		header.Set("Allow", http.MethodPost)
		http.Error(w, "an RPC is called with POST", http.StatusMethodNotAllowed)
	default:
		s.call(r.Context(), w, r, rpc)
	}
}

// hasPage says whether a page answers a request.
func (s *Server) hasPage(r *http.Request) bool {
	if s.options.Pages == nil {
		return false
	}
	_, pattern := s.options.Pages.Handler(r)
	return pattern != ""
}

// call runs an RPC.
func (s *Server) call(ctx context.Context, w http.ResponseWriter, r *http.Request, rpc http.Handler) {
	f, known := formOf(r.Header.Get("Content-Type"))
	if !known {
		s.unsupported(w)
		return
	}
	c, ctx := newCall(ctx, w, r, f)
	defer c.end(ctx)
	rpc.ServeHTTP(c.writer, c.withoutBody(ctx, r))
}

// unsupported refuses a content type.
func (*Server) unsupported(w http.ResponseWriter) {
	w.Header().Set("Accept-Post", "application/json, application/proto, application/connect+json, application/connect+proto, "+
		"application/grpc-web, application/grpc")
	http.Error(w, "the request has no content type that this RPC takes: send JSON with Content-Type: application/json",
		http.StatusUnsupportedMediaType)
}

// missing answers requests for what does not exist.
func (s *Server) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !s.errors.IsSupported(r) {
		http.Error(w, "there is nothing here: RPCs are at /compactord.v1.SERVICE/RPC, and "+OpenAPIPath+" describes them", http.StatusNotFound)
		return
	}
	_ = s.errors.Write(w, r, connect.NewError(connect.CodeUnimplemented, errors.New("there is no such RPC")))
}

// refuse answers a request that a web page may have made without its user's knowledge.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, why string) {
	_ = s.errors.Write(w, r, connect.NewError(connect.CodePermissionDenied, errors.New(why)))
}

// allowsHost says whether a request may ask for this server by a name. An IP address is no name that somebody else could
// have point here.
func (s *Server) allowsHost(host string) bool {
	name := host
	if before, _, err := net.SplitHostPort(host); err == nil {
		name = before
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.Contains(s.options.Hosts, name)
}
