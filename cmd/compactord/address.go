package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// defaultListen is where the daemon listens, and where its clients look for it.
const defaultListen = "127.0.0.1:7440"

// address is where a daemon listens: HOST:PORT or unix:PATH.
type address struct {
	network, where string
}

func parseAddress(text string) (address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return address{}, errors.New("unix: needs the path of a socket after it")
		}
		return address{"unix", path}, nil
	}
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return address{}, fmt.Errorf("%q is not an address: write HOST:PORT or unix:PATH", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return address{}, fmt.Errorf("%q is not a port: write a number up to 65535", port)
	}
	return address{"tcp", text}, nil
}

// String returns the address as it is given to --addr.
func (a address) String() string {
	if a.network == "unix" {
		return "unix:" + a.where
	}
	return a.where
}

// local says whether only this machine can reach the address. Names other than localhost are not looked up: what they
// mean may change.
func (a address) local() bool {
	if a.network == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(a.where)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hintServe is how a daemon is started at the address where none answers.
func hintServe(address string) hint {
	if address == defaultListen {
		return command("serve")
	}
	return command("serve", "--listen", address)
}
