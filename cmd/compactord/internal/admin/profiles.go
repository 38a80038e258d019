package admin

import (
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/compactord/compactord/service/access"
)

// maxProfileSeconds is how long a profile may be taken.
const maxProfileSeconds = 120

// handleProfiles serves the profiles of the Go runtime. The command line is not among them, since it may have secrets.
func handleProfiles(mux *http.ServeMux, guarded func(access.Role, http.Handler) http.Handler) {
	handle := func(pattern string, handler http.HandlerFunc) {
		mux.Handle(pattern, guarded(access.Admin, bounded(handler)))
	}
	handle("GET /debug/pprof/{$}", pprof.Index)
	handle("GET /debug/pprof/profile", pprof.Profile)
	handle("GET /debug/pprof/trace", pprof.Trace)
	handle("GET /debug/pprof/symbol", pprof.Symbol)
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		handle("GET /debug/pprof/"+name, pprof.Handler(name).ServeHTTP)
	}
}

// bounded refuses profiles that would take too long.
func bounded(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := r.FormValue("seconds"); text != "" {
			seconds, err := strconv.ParseFloat(text, 64)
			// Not a number is no less than the limit.
			if err != nil || !(seconds >= 0 && seconds <= maxProfileSeconds) {
				http.Error(w, "seconds must be from 0 to "+strconv.Itoa(maxProfileSeconds), http.StatusBadRequest)
				return
			}
		}
		handler.ServeHTTP(w, r)
	})
}
