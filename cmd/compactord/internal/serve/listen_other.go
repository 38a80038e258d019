//go:build !unix

package serve

import (
	"context"
	"fmt"
	"net"
)

// listenPrivately makes a socket. Who can connect to it is said by the rights of its folder.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on unix:%s: %w", path, cause(err))
	}
	return listener, nil
}
