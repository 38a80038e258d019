//go:build unix

package serve

import (
	"context"
	"fmt"
	"net"
	"syscall"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// listenPrivately creates a socket that only this user can connect to. It sets the mode with the umask and not
// afterwards, so that others can connect at no moment.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	const othersNothing = 0o177
	old := syscall.Umask(othersNothing)
	defer syscall.Umask(old)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if missing := api.MissingFolder(path); err != nil && missing != "" {
		return nil, terminal.Advise(fmt.Errorf("cannot listen on unix:%s: there is no folder %s", path, missing),
			"Make it with mkdir -p, or name another place with --listen.")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on unix:%s: %w", path, cause(err))
	}
	return listener, nil
}
