package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCommand is `compactord version`.
type versionCommand struct {
	JSON bool `help:"Print one JSON document." name:"json"`
}

// build says what this program was made from.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Run prints the version.
func (c *versionCommand) Run(a *app) error {
	b := thisBuild()
	if c.JSON {
		return printJSON(a.out, b)
	}
	fmt.Fprintf(a.out, "compactord %s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with changes that are not committed"
		}
		fmt.Fprintf(a.out, "revision   %s (%s)%s\n", b.Revision, b.Time, changed)
	}
	fmt.Fprintf(a.out, "built with %s for %s\n", b.Go, b.Platform)
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
