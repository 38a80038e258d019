package program

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// versionCommand is `compactord version`.
type versionCommand struct {
	JSON bool `help:"Print one JSON document." name:"json"`
}

// build describes how this program was built.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Run prints the version.
func (c *versionCommand) Run(a *api.App) error {
	b := thisBuild()
	if c.JSON {
		return terminal.PrintJSON(a.Out, b)
	}
	fmt.Fprintf(a.Out, "compactord %s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with changes that are not committed"
		}
		fmt.Fprintf(a.Out, "revision   %s (%s)%s\n", b.Revision, b.Time, changed)
	}
	fmt.Fprintf(a.Out, "built with %s for %s\n", b.Go, b.Platform)
	return nil
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
