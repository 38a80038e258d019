package inspect

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// opener returns the system's command that opens a file in the program for its kind.
func opener(ctx context.Context, path string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", path)
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", path)
	default:
		return exec.CommandContext(ctx, "xdg-open", path)
	}
}

// openBrowser opens an address in the user's browser, as far as that works: the address is printed, too. Other users see
// the command line of a process, and the address has the token. So the browser is given a file that leads to the address
// and that only this user can read. The caller must call closed at the end.
func openBrowser(ctx context.Context, a *api.App, address string) (closed func() error) {
	folder, remove, err := a.Temporary.Make("")
	if err != nil {
		return func() error { return nil }
	}
	file := filepath.Join(folder, "open.html")
	page := fmt.Sprintf("<!doctype html>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"0;url=%[1]s\">\n"+
		"<title>compactord</title>\n<a href=\"%[1]s\">The inspector</a>\n", html.EscapeString(address))
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return remove
	}
	// It may run as long as the browser, which outlives this program.
	opening := opener(context.WithoutCancel(ctx), file)
	if opening.Start() == nil {
		_ = opening.Process.Release()
	}
	return remove
}
