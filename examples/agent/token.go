package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// bearer sends the daemon's token with each call; none where it is empty.
type bearer string

// errPlaintext says that the token would be sent where others on the way could read it.
var errPlaintext = errors.New("this example has no TLS, so it sends its token only to this machine: 127.0.0.1, [::1], localhost or unix:PATH")

// ownToken returns the token of the environment, or the one that a daemon of the same user on this machine has made. A
// daemon that was started with --no-auth has made none.
func ownToken(addr string) (bearer, error) {
	if !ofThisMachine(addr) {
		return "", errPlaintext
	}
	if token := os.Getenv("COMPACTORD_TOKEN"); token != "" {
		return bearer(token), nil
	}
	state := cmp.Or(os.Getenv("XDG_STATE_HOME"), filepath.Join(os.Getenv("HOME"), ".local", "state"))
	text, err := os.ReadFile(cmp.Or(os.Getenv("COMPACTORD_TOKEN_FILE"), filepath.Join(state, "compactord", "token")))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return bearer(strings.TrimSpace(string(text))), nil
}

func ofThisMachine(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return strings.HasPrefix(addr, "unix:") || err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity lets the token be sent without TLS, since the daemon is on this machine.
func (bearer) RequireTransportSecurity() bool { return false }
