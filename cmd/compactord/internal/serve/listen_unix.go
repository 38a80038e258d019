//go:build unix

package serve

import (
	"context"
	"fmt"
	"net"
	"syscall"
)

// listenPrivately creates a socket that only this user can connect to. It sets the mode with the umask and not
// afterwards, so that others can connect at no moment.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	const othersNothing = 0o177
	old := syscall.Umask(othersNothing)
	defer syscall.Umask(old)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on unix:%s: %w", path, cause(err))
	}
	return listener, nil
}
