package config

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/trusted"
	"github.com/compactord/compactord/storage/keyring"
)

// checkFiles reads the files that settings name, and returns a problem for each that cannot be used.
func (s *Settled) checkFiles() []error {
	var problems []error
	check := func(flag string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", s.Of(flag), err))
		}
	}
	check("token-file", s.checkTokenFile())
	check("tokens", s.checkTokens())
	s.checkCertificates(check)
	if s.StoreKeys == "" || s.StoreKeysEnv == "" {
		if _, err := s.Keys(); err != nil {
			problems = append(problems, s.OfKeys(err))
		}
	}
	if s.TracesEndpoint != "" && s.TracesCA != "" {
		_, err := certificates.ReadAuthorities(s.TracesCA)
		check("traces-ca", err)
	}
	if s.TracesEndpoint != "" && s.TracesHeaders != "" {
		_, err := readHeaders(s.TracesHeaders)
		check("traces-headers", err)
	}
	return problems
}

// checkCertificates reads the files of TLS, unless only one of two is set.
func (s *Settled) checkCertificates(check func(flag string, err error)) {
	if s.TLSCert != "" && s.TLSKey != "" {
		ofCert, ofKey := certificates.CheckPair(s.TLSCert, s.TLSKey)
		check("tls-cert", ofCert)
		check("tls-key", ofKey)
	}
	if s.TLSClientCA != "" {
		_, err := certificates.ReadAuthorities(s.TLSClientCA)
		check("tls-client-ca", err)
	}
}

// checkTokenFile reads the token of who runs the daemon, which makes it where there is none.
func (s *Settled) checkTokenFile() error {
	if s.NoAuth || s.TokenFile == "" {
		return nil
	}
	_, err := access.OwnToken("token-file", s.TokenFile).Read(s.TokenFile)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s: %w", s.TokenFile, err)
}

// checkTokens reads the tokens of other clients.
func (s *Settled) checkTokens() error {
	if s.NoAuth || s.Tokens == "" {
		return nil
	}
	content, err := trusted.Read(s.Tokens, access.MaxTokensBytes+1)
	if err == nil {
		_, err = access.ParseTokens(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Tokens, err)
	}
	return nil
}

// OfKeys returns an error of the keys of the store that names the setting from which they come.
func (s *Settled) OfKeys(err error) error {
	flag := "store-keys"
	if s.StoreKeysEnv != "" {
		flag = "store-keys-env"
	}
	return fmt.Errorf("%s: %w", s.Of(flag), err)
}

// Keys returns the keys of the store; nil where none are named.
func (c *Config) Keys() (*keyring.Ring, error) {
	return api.StoreKeys{StoreKeys: c.StoreKeys, StoreKeysEnv: c.StoreKeysEnv}.Read()
}
