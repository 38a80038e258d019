//go:build !unix

package serve

import (
	"context"
	"fmt"
	"net"
)

// listenPrivately creates a socket. The permissions of its folder decide who can connect.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on unix:%s: %w", path, cause(err))
	}
	return listener, nil
}
