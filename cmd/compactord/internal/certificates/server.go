package certificates

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"

	"github.com/compactord/compactord/service/trusted"
)

// between is how long at least lies between two attempts to read files that are not good.
const between = time.Second

// Server holds the certificates with which a server speaks TLS. It looks at the files with each new connection, and each
// time that its metrics are read, so it needs no goroutine. Connections that are open go on with what they began with.
type Server struct {
	files  Files
	logger *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	config *tls.Config
	ends   time.Time
	// read is what the files were when they were last read. tried is when that was, and problem what was wrong with them
	// then; nil where config comes from them.
	read    versions
	tried   time.Time
	problem error
}

// NewServer reads the files. They must be good.
func NewServer(files Files, logger *slog.Logger, now func() time.Time, metrics prometheus.Registerer) (*Server, error) {
	s := &Server{files: files, logger: logger, now: now, read: files.versions()}
	var err error
	if s.config, s.ends, err = files.config(now()); err != nil {
		return nil, err
	}
	for _, c := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "compactord_tls_certificate_expiry_timestamp_seconds",
			Help: "When the certificate in use ends, in seconds since 1970.",
		}, func() float64 { return float64(s.expiry().Unix()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "compactord_tls_stale",
			Help: "1 while the files of TLS have changed to something that cannot be used, so that the last good ones are in use.",
		}, s.stale),
	} {
		if err := metrics.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return s, nil
}

// Credentials returns the credentials of a gRPC server.
func (s *Server) Credentials() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.current(), nil
		},
	})
}

// HTTP returns the settings of a server of HTTP with the same certificates, for the versions of HTTP that it speaks, such as
// h2 and http/1.1.
func (s *Server) HTTP(versions ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := s.current().Clone()
			config.NextProtos = versions
			return config, nil
		},
	}
}

// LookNow looks at the files at once.
func (s *Server) LookNow() { s.current() }

func (s *Server) expiry() time.Time {
	s.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends
}

func (s *Server) stale() float64 {
	s.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem != nil {
		return 1
	}
	return 0
}

// current returns the settings of the files as they are now or, where these are not good, the last good ones.
func (s *Server) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	// What they are before they are read: a change during the reading is seen the next time.
	as, now := s.files.versions(), s.now()
	if as.same(s.read) && (s.problem == nil || now.Sub(s.tried) < between) {
		return s.config
	}
	config, ends, err := s.files.config(now)
	said := s.problem
	s.read, s.tried, s.problem = as, now, err
	switch {
	case err == nil:
		s.config, s.ends = config, ends
		s.logger.Info("certificates read again", "cert", s.files.Cert, "expires", ends)
	case said == nil || said.Error() != err.Error():
		s.logger.Error("cannot use the changed certificates: the last good ones stay in use", "error", err)
	}
	return s.config
}

// versions are those of the files, the zero one where none is named.
type versions [3]trusted.Version

func (f Files) versions() versions {
	return versions{trusted.Look(f.Cert), trusted.Look(f.Key), trusted.Look(f.ClientCA)}
}

// same says whether no file has changed since.
func (v versions) same(as versions) bool {
	for i, version := range v {
		if !version.Same(as[i]) {
			return false
		}
	}
	return true
}
