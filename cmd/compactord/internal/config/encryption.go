package config

import (
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
)

// Certificates returns the files of TLS, and whether the daemon speaks it.
func (c *Config) Certificates() (files certificates.Files, used bool) {
	return certificates.Files{Cert: c.TLSCert, Key: c.TLSKey, ClientCA: c.TLSClientCA}, c.TLSCert != ""
}

// checkTLS refuses TLS that is set by half: who meant to encrypt would not notice that nothing is.
func (c *Config) checkTLS(from Sources) []error {
	var problems []error
	needs := func(set, needed, missing string) {
		if set != "" && needed == "" {
			problems = append(problems, fmt.Errorf("%s", missing))
		}
	}
	needs(c.TLSCert, c.TLSKey, from.Of("tls-cert")+": needs --tls-key, its private key")
	needs(c.TLSKey, c.TLSCert, from.Of("tls-key")+": needs --tls-cert, the certificate of this key")
	needs(c.TLSClientCA, c.TLSCert, from.Of("tls-client-ca")+": needs --tls-cert and --tls-key: without TLS clients show no certificate")
	return problems
}
