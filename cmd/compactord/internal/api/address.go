package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// DefaultListen is where the daemon listens, and where its clients look for it.
const DefaultListen = "127.0.0.1:7440"

// Address is where a daemon listens: HOST:PORT or unix:PATH.
type Address struct {
	Network, Where string
}

// ParseAddress parses HOST:PORT or unix:PATH.
func ParseAddress(text string) (Address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return Address{}, errors.New("unix: needs the path of a socket after it")
		}
		return Address{"unix", path}, nil
	}
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not an address: write HOST:PORT or unix:PATH", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return Address{}, fmt.Errorf("%q is not a port: write a number up to 65535", port)
	}
	return Address{"tcp", text}, nil
}

// String returns the address as it is given to --addr.
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix:" + a.Where
	}
	return a.Where
}

// Local says whether only this machine can reach the address.
func (a Address) Local() bool { return access.Local(a.String()) }

// probeTimeout is how long a listener may take to say whether it speaks TLS.
const probeTimeout = 2 * time.Second

// speaksTLS says whether the listener speaks TLS. Nothing is sent to it but the beginning of a handshake, whose end may well be
// that its certificate is not one that this machine trusts.
func (a Address) speaksTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(a.Where)
	if err != nil {
		host = "localhost"
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: host, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, a.Network, a.Where)
	if err == nil {
		return conn.Close() == nil
	}
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// HintServe is the command that starts a daemon at an address where none answers.
func HintServe(address string) terminal.Hint {
	if address == DefaultListen {
		return terminal.Command("serve")
	}
	return terminal.Command("serve", "--listen", address)
}
