package certificates_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
)

// served is a server of which handshakes show the certificate. Its clock stands still.
type served struct {
	*certificates.Server
	t       *testing.T
	log     bytes.Buffer
	metrics *prometheus.Registry
	now     time.Time
}

func serve(t *testing.T, files certificates.Files) *served {
	t.Helper()
	s := &served{t: t, metrics: prometheus.NewRegistry(), now: time.Now()}
	var err error
	s.Server, err = certificates.NewServer(files, slog.New(slog.NewTextHandler(&s.log, nil)),
		func() time.Time { return s.now }, s.metrics)
	require.NoError(t, err)
	return s
}

// serial returns the serial number of the certificate that a client gets which trusts an authority and may have its own
// certificate.
func (s *served) serial(trusts *certificatestest.Authority, own ...certificatestest.Pair) (*big.Int, error) {
	s.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	defer func() { _ = listener.Close() }()
	near, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", listener.Addr().String())
	require.NoError(s.t, err)
	defer func() { _ = near.Close() }()
	far, err := listener.Accept()
	require.NoError(s.t, err)
	defer func() { _ = far.Close() }()
	done := make(chan error, 1)
	go func() {
		_, _, err := s.Credentials().ServerHandshake(far)
		if err != nil {
			_ = far.Close()
		}
		done <- err
	}()
	config := trusts.ClientConfig(own...)
	// A client of 1.3 has ended its handshake before the server looks at its certificate.
	config.MaxVersion = tls.VersionTLS12
	client := tls.Client(near, config)
	if err := client.HandshakeContext(s.t.Context()); err != nil {
		_ = near.Close()
		require.Error(s.t, <-done)
		return nil, err
	}
	require.NoError(s.t, <-done)
	return client.ConnectionState().PeerCertificates[0].SerialNumber, nil
}

func (s *served) requireSerial(trusts *certificatestest.Authority, want int64) {
	s.t.Helper()
	got, err := s.serial(trusts)
	require.NoError(s.t, err)
	require.Equal(s.t, want, got.Int64())
}

func (s *served) metric(name string) float64 {
	s.t.Helper()
	families, err := s.metrics.Gather()
	require.NoError(s.t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.FailNow(s.t, "there is no metric "+name)
	return 0
}

// Between the two files that a renewal replaces, and when it fails, the last good certificate is in use.
func TestCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	a := certificatestest.NewAuthority(t)
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	first, second := a.Sign(11, ends), a.Sign(12, ends.Add(time.Minute))
	s := serve(t, certificates.Files{Cert: first.Cert, Key: first.Key})
	s.requireSerial(a, 11)
	require.InDelta(t, ends.Unix(), s.metric("compactord_tls_certificate_expiry_timestamp_seconds"), 0)
	require.Empty(t, s.log.String())

	certificatestest.Replace(t, first.Cert, second.Cert)
	s.requireSerial(a, 11)
	s.requireSerial(a, 11)
	require.InDelta(t, 1, s.metric("compactord_tls_stale"), 0)
	require.Equal(t, 1, strings.Count(s.log.String(), "the last good ones stay in use"), s.log.String())
	require.Contains(t, s.log.String(), "private key does not match public key")

	certificatestest.Replace(t, first.Key, second.Key)
	s.requireSerial(a, 12)
	require.InDelta(t, 0, s.metric("compactord_tls_stale"), 0)
	require.InDelta(t, ends.Add(time.Minute).Unix(), s.metric("compactord_tls_certificate_expiry_timestamp_seconds"), 0)
	require.Contains(t, s.log.String(), "certificates read again")
}

// A file that is written in place can be read by half, and be whole at the same time of a coarse clock.
func TestFilesThatWereReadByHalfAreTriedAgain(t *testing.T) {
	t.Parallel()
	a := certificatestest.NewAuthority(t)
	pair := a.Sign(11, time.Now().Add(time.Hour))
	s := serve(t, certificates.Files{Cert: pair.Cert, Key: pair.Key})
	whole, err := os.ReadFile(pair.Cert)
	require.NoError(t, err)
	half := append(bytes.Clone(whole[:len(whole)/2]), bytes.Repeat([]byte{'\n'}, len(whole)-len(whole)/2)...)
	stamp := time.Now().Add(-time.Minute)
	put := func(content []byte) {
		require.NoError(t, os.WriteFile(pair.Cert, content, 0o600))
		require.NoError(t, os.Chtimes(pair.Cert, stamp, stamp))
	}
	put(half)
	s.requireSerial(a, 11)
	require.InDelta(t, 1, s.metric("compactord_tls_stale"), 0)
	put(whole)
	require.InDelta(t, 1, s.metric("compactord_tls_stale"), 0, "tried again before a second has passed")
	s.now = s.now.Add(time.Second)
	require.InDelta(t, 0, s.metric("compactord_tls_stale"), 0)
}

func TestBrokenFilesChangeNothing(t *testing.T) {
	t.Parallel()
	a := certificatestest.NewAuthority(t)
	other := certificatestest.NewAuthority(t)
	good := a.Sign(11, time.Now().Add(time.Hour))
	expired := a.Sign(13, time.Now().Add(-time.Hour))
	replace := func(place, by string) error {
		certificatestest.Replace(t, place, by)
		return nil
	}
	for name, test := range map[string]struct {
		harm func(f certificates.Files) error
		says string
	}{
		"no certificate": {func(f certificates.Files) error { return os.Remove(f.Cert) }, "no such file"},
		"no key":         {func(f certificates.Files) error { return os.Remove(f.Key) }, "no such file"},
		"an open key": {func(f certificates.Files) error {
			later := time.Now().Add(time.Minute)
			return errors.Join(os.Chmod(f.Key, 0o644), os.Chtimes(f.Key, later, later))
		}, "can read or change it"},
		"an empty key": {func(f certificates.Files) error { return os.WriteFile(f.Key, nil, 0o600) }, "failed to find any PEM data"},
		"expired": {func(f certificates.Files) error {
			return errors.Join(replace(f.Cert, expired.Cert), replace(f.Key, expired.Key))
		}, "the certificate has expired on "},
		"no authorities": {
			func(f certificates.Files) error { return os.WriteFile(f.ClientCA, []byte("x"), 0o600) },
			"it has no certificate in PEM",
		},
		"half of the authorities": {func(f certificates.Files) error {
			whole, err := os.ReadFile(f.ClientCA)
			half := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
			return errors.Join(err, os.WriteFile(f.ClientCA, append(whole, half...), 0o600))
		}, "certificate 2: "},
		"a key among the authorities": {
			func(f certificates.Files) error { return replace(f.ClientCA, f.Key) },
			"there is a PRIVATE KEY among the certificates",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			files := certificates.Files{
				Cert: filepath.Join(folder, "cert"), Key: filepath.Join(folder, "key"), ClientCA: filepath.Join(folder, "ca"),
			}
			certificatestest.Replace(t, files.Cert, good.Cert)
			certificatestest.Replace(t, files.Key, good.Key)
			certificatestest.Replace(t, files.ClientCA, other.Path)
			s := serve(t, files)
			own := other.Sign(21, time.Now().Add(time.Hour))
			require.NoError(t, test.harm(files))
			got, err := s.serial(a, own)
			require.NoError(t, err)
			require.Equal(t, int64(11), got.Int64())
			require.InDelta(t, 1, s.metric("compactord_tls_stale"), 0)
			require.Contains(t, s.log.String(), test.says)
			_, err = certificates.NewServer(files, slog.New(slog.DiscardHandler), time.Now, prometheus.NewRegistry())
			require.ErrorContains(t, err, test.says, "a start with these files")
		})
	}
}

// With authorities for clients, who shows no certificate of theirs gets no connection, and after a change only those of
// the new ones do.
func TestOnlyClientsOfTheAuthoritiesConnect(t *testing.T) {
	t.Parallel()
	a, old, renewed := certificatestest.NewAuthority(t), certificatestest.NewAuthority(t), certificatestest.NewAuthority(t)
	pair := a.Sign(11, time.Now().Add(time.Hour))
	ours, theirs := old.Sign(21, time.Now().Add(time.Hour)), renewed.Sign(22, time.Now().Add(time.Hour))
	s := serve(t, certificates.Files{Cert: pair.Cert, Key: pair.Key, ClientCA: old.Path})
	_, err := s.serial(a)
	require.Error(t, err, "no certificate")
	_, err = s.serial(a, theirs)
	require.Error(t, err, "of another authority")
	_, err = s.serial(a, ours)
	require.NoError(t, err)

	certificatestest.Replace(t, old.Path, renewed.Path)
	_, err = s.serial(a, ours)
	require.Error(t, err, "of the authority of before")
	_, err = s.serial(a, theirs)
	require.NoError(t, err)
}
