package api

import (
	"crypto/tls"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Encryption holds the flags that say how to speak TLS with a daemon.
type Encryption struct {
	TLS        bool   `name:"tls" env:"COMPACTORD_TLS" help:"Speak TLS with the daemon, and trust the authorities of the system."`
	TLSCA      string `name:"tls-ca" env:"COMPACTORD_TLS_CA" help:"Speak TLS with the daemon, and trust these authorities, in PEM." placeholder:"PATH" type:"path"`
	ClientCert string `env:"COMPACTORD_CLIENT_CERT" help:"Show the daemon this certificate, in PEM. Needs --client-key." placeholder:"PATH" type:"path"`
	ClientKey  string `env:"COMPACTORD_CLIENT_KEY" help:"Private key of --client-cert, in PEM." placeholder:"PATH" type:"path"`
}

// used says whether to speak TLS.
func (e Encryption) used() bool { return e.TLS || e.TLSCA != "" }

// credentials returns those of a connection, and an error that names the flag that cannot be used.
func (e Encryption) credentials(a *App) (credentials.TransportCredentials, error) {
	switch {
	case (e.ClientCert == "") != (e.ClientKey == ""):
		return nil, terminal.Usagef("%s and %s go together", a.NameOf("client-cert"), a.NameOf("client-key"))
	case e.ClientCert != "" && !e.used():
		return nil, terminal.Usagef("%s: needs --tls or --tls-ca: a certificate is only shown with TLS", a.NameOf("client-cert"))
	case !e.used():
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.TLSCA != "" {
		authorities, err := certificates.ReadAuthorities(e.TLSCA)
		if err != nil {
			return nil, terminal.Usagef("%s: %w", a.NameOf("tls-ca"), err)
		}
		config.RootCAs = authorities
	}
	if e.ClientCert != "" {
		pair, err := certificates.ReadPair(e.ClientCert, e.ClientKey)
		if err != nil {
			return nil, terminal.Usagef("%s: %w", a.NameOf("client-cert"), err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}
