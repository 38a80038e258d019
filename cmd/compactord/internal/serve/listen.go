package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// listen listens on an address. It replaces a Unix socket that a dead daemon left behind, but not one in use.
func listen(ctx context.Context, addr api.Address) (net.Listener, error) {
	if addr.Network == "unix" {
		if err := clearSocket(ctx, addr.Where); err != nil {
			return nil, err
		}
		return listenPrivately(ctx, addr.Where)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, addr.Network, addr.Where)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, terminal.Advise(fmt.Errorf("cannot listen on %s: another program does", addr.Where),
			"If that is a daemon, use it; else choose another port with --listen.")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr.Where, cause(err))
	}
	return listener, nil
}

// dialTimeout is the timeout of a connection attempt that shows whether a socket is in use. A running daemon accepts at
// once.
const dialTimeout = time.Second

// clearSocket removes a socket on which nobody listens.
func clearSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot listen on unix:%s: %w", path, cause(err))
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("cannot listen on unix:%s: there is a file with this name, and it is not a socket", path)
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(fmt.Errorf("cannot listen on unix:%s: another program does", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot listen on unix:%s: there is a socket, and it is not clear whether it is in use: %w",
			path, cause(err))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the socket that an earlier daemon left behind: %w", err)
	}
	return nil
}

// cause returns the system's error without the operation, which our own message names.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}
