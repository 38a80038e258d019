package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
)

// bearer sends the daemon's token with each call; none where it is empty.
type bearer string

// ownToken returns the token of the environment, or the one that a daemon of the same user on this machine has made. A
// daemon that was started with --no-auth has made none.
func ownToken() bearer {
	if token := os.Getenv("COMPACTORD_TOKEN"); token != "" {
		return bearer(token)
	}
	state := cmp.Or(os.Getenv("XDG_STATE_HOME"), filepath.Join(os.Getenv("HOME"), ".local", "state"))
	text, err := os.ReadFile(cmp.Or(os.Getenv("COMPACTORD_TOKEN_FILE"), filepath.Join(state, "compactord", "token")))
	if err != nil {
		return ""
	}
	return bearer(strings.TrimSpace(string(text)))
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity lets the token be sent without TLS, since the daemon is on this machine.
func (bearer) RequireTransportSecurity() bool { return false }
