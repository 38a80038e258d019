// Package certificates reads the certificates of the daemon's TLS from files, and reads them again when the files change.
//
// Whoever renews a certificate replaces files, one after the other, and perhaps not in one step. So what cannot be used
// as it stands, such as a key beside the certificate of another one, changes nothing: the last good certificates stay in
// use, and are said to be stale until the files are good again.
package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/compactord/compactord/service/trusted"
)

// maxFileBytes is far more than a chain or a list of authorities needs.
const maxFileBytes = 1 << 20

// Files names the files of a server's TLS, all in PEM.
type Files struct {
	// Cert has the certificate with the intermediate ones after it, and Key its private key.
	Cert, Key string
	// ClientCA has the authorities of which one must have signed a client's certificate. Empty: clients need none.
	ClientCA string
}

// config reads the files. It returns the settings for new connections, and when the certificate ends.
func (f Files) config(now time.Time) (*tls.Config, time.Time, error) {
	pair, err := ReadPair(f.Cert, f.Key)
	if err != nil {
		return nil, time.Time{}, err
	}
	if ends := pair.Leaf.NotAfter; now.After(ends) {
		return nil, time.Time{}, fmt.Errorf("%s: the certificate has expired on %s", f.Cert, ends.Format(time.RFC3339))
	}
	config := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		NextProtos:   []string{"h2"},
	}
	if f.ClientCA != "" {
		if config.ClientCAs, err = readAuthorities(f.ClientCA); err != nil {
			return nil, time.Time{}, fmt.Errorf("%s: %w", f.ClientCA, err)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// A resumed session would not be checked by the authorities of today.
		config.SessionTicketsDisabled = true
	}
	return config, pair.Leaf.NotAfter, nil
}

// ReadPair reads a certificate and its private key. A key that everybody can read is refused.
func ReadPair(cert, key string) (tls.Certificate, error) {
	public, err := trusted.Read(cert, maxFileBytes)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", cert, err)
	}
	private, err := trusted.ReadSecret(key, maxFileBytes)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", key, err)
	}
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	return pair, nil
}

// CheckPair returns what is wrong with a certificate, and what is wrong with its private key.
func CheckPair(cert, key string) (ofCert, ofKey error) {
	if _, err := trusted.Read(cert, maxFileBytes); err != nil {
		ofCert = fmt.Errorf("%s: %w", cert, err)
	}
	if _, err := trusted.ReadSecret(key, maxFileBytes); err != nil {
		ofKey = fmt.Errorf("%s: %w", key, err)
	}
	if ofCert == nil && ofKey == nil {
		_, ofCert = ReadPair(cert, key)
	}
	return ofCert, ofKey
}

// ReadAuthorities reads the certificates of authorities, as a pool.
func ReadAuthorities(path string) (*x509.CertPool, error) {
	pool, err := readAuthorities(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pool, nil
}

// readAuthorities refuses a file of which only a part can be read: x509 would take that part without a word.
func readAuthorities(path string) (*x509.CertPool, error) {
	content, err := trusted.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	pool, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("there is a %s among the certificates", block.Type)
		}
		count++
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", count, err)
		}
		pool.AddCert(authority)
	}
	if count == 0 {
		return nil, errors.New("it has no certificate in PEM")
	}
	return pool, nil
}
