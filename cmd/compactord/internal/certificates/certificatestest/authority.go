// Package certificatestest makes certificates for tests.
package certificatestest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority signs certificates.
type Authority struct {
	// Path is its own certificate's file.
	Path string

	t    testing.TB
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority returns an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.Path = filepath.Join(t.TempDir(), "ca.pem")
	write(t, a.Path, "CERTIFICATE", der, 0o644)
	return a
}

// Pair is a certificate and its key, as files.
type Pair struct{ Cert, Key string }

// Sign returns a new certificate of localhost, which is good until then.
func (a *Authority) Sign(serial int64, until time.Time) Pair {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	folder := a.t.TempDir()
	p := Pair{Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem")}
	write(a.t, p.Cert, "CERTIFICATE", der, 0o644)
	write(a.t, p.Key, "PRIVATE KEY", private, 0o600)
	return p
}

// ClientConfig returns the settings of a client that trusts the authority, and shows these certificates.
func (a *Authority) ClientConfig(own ...Pair) *tls.Config {
	a.t.Helper()
	config := &tls.Config{
		RootCAs: x509.NewCertPool(), ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	}
	config.RootCAs.AddCert(a.cert)
	for _, p := range own {
		pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		require.NoError(a.t, err)
		config.Certificates = append(config.Certificates, pair)
	}
	return config
}

// Replace puts a copy of a file in the place of another one, in one step.
func Replace(t testing.TB, place, by string) {
	t.Helper()
	content, err := os.ReadFile(by)
	require.NoError(t, err)
	info, err := os.Stat(by)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(place+".new", content, info.Mode()))
	require.NoError(t, os.Rename(place+".new", place))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func write(t testing.TB, path, kind string, der []byte, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode))
}
