package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// What pages of an allowed origin may send and read, beside what all may.
const (
	allowedHeaders = "Content-Type, Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, " +
		"X-User-Agent, X-Request-Id, Traceparent"
	exposedHeaders = "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, X-Request-Id, Retry-After"
	// preflightSeconds is how long a browser may remember what is allowed: the longest time that all browsers keep it.
	preflightSeconds = "7200"
)

// allowsOrigin says whether the web page that makes a request may do so, and tells its browser. Other programs name no
// origin. A page that this server serves itself has its own.
func (s *Server) allowsOrigin(w http.ResponseWriter, r *http.Request) bool {
	header := w.Header()
	header.Add("Vary", "Origin")
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	origin := origins[0]
	if origin == ownOrigin(r) {
		return true
	}
	if !slices.Contains(s.options.Origins, strings.ToLower(origin)) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", "GET, POST")
		header.Set("Access-Control-Allow-Headers", allowedHeaders)
		header.Set("Access-Control-Max-Age", preflightSeconds)
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			header.Set("Access-Control-Allow-Private-Network", "true")
		}
	}
	return true
}

// ownOrigin is the origin of the pages that this server itself serves, by the name that the request has for it.
func ownOrigin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
