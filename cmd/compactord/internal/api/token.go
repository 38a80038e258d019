package api

import (
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// Security holds the flags that say how to speak with a daemon, and with which token.
type Security struct {
	Encryption
	// No flag has a token itself: others can see a command line.
	TokenFile string `env:"COMPACTORD_TOKEN_FILE" help:"File with the token for the daemon (default: the one that the daemon makes)." placeholder:"PATH" type:"path"`
}

// token returns the token for a daemon; empty where there is none.
func (a *App) token(addr Address, security Security) (string, error) {
	file := ""
	if a.Given["token-file"] {
		file = security.TokenFile
	}
	token, err := access.Find(file, addr.String(), security.used())
	if errors.Is(err, access.ErrPlaintext) {
		return "", terminal.Advise(fmt.Errorf("the token is not sent to %s: %w", addr, err),
			"Use --tls or --tls-ca if the daemon speaks TLS, or a port of this machine that ssh forwards.")
	}
	return token, err
}
