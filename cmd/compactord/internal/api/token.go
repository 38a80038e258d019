package api

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// Security holds the flags that say how to speak with a daemon, and with which token.
type Security struct {
	Encryption
	// No flag has a token itself: others can see a command line.
	TokenFile string `env:"COMPACTORD_TOKEN_FILE" help:"File with the token for the daemon (default: the one that the daemon makes)." placeholder:"PATH" type:"path"`
}

// token returns the token for a daemon, and where it is from.
func (a *App) token(addr Address, security Security) (access.Found, error) {
	file := ""
	if a.Given["token-file"] {
		file = security.TokenFile
	}
	found, err := access.Look(file, addr.String(), security.used())
	if errors.Is(err, access.ErrPlaintext) {
		return found, terminal.Advise(fmt.Errorf("the token is not sent to %s: %w", addr, err),
			"Use --tls or --tls-ca if the daemon speaks TLS, or a port of this machine that ssh forwards.")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return found, terminal.Advise(err, "Name the file of a token with --token-file or COMPACTORD_TOKEN_FILE, or leave both out: the token that a daemon of "+
			"yours has made is then taken.")
	}
	return found, err
}

// refusedToken says which token a daemon has refused, and what to do.
func refusedToken(sent access.Found) string {
	switch {
	case sent.Token != "":
		return "The token is that of " + sent.Place + ". Name the file of one that the daemon accepts with --token-file, or set " +
			access.TokenVariable + "; the token that a daemon makes is for its own user."
	case sent.Place != "":
		return "No token was sent: " + sent.Place + " does not exist. The daemon runs as another user, or with another folder of state: " +
			"name the file of a token with --token-file, or set " + access.TokenVariable + "."
	default:
		return "No token was sent: name the file of one with --token-file, or set " + access.TokenVariable + "."
	}
}
