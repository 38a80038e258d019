package terminal

import (
	"runtime"
	"runtime/debug"
)

// Build describes how this program was built.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns the build of this program.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// Go's version of a module that was built from its folder without a known commit.
const noVersion = "(devel)"

// unversioned is the version of a build that was made from neither a released module nor a known commit.
const unversioned = "development"

// shortRevision is how many digits of a revision tell commits apart.
const shortRevision = 12

func buildOf(info *debug.BuildInfo) Build {
	b := Build{Version: info.Main.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
	if b.Version == "" || b.Version == noVersion {
		b.Version = unversioned
		if b.Revision != "" {
			b.Version += "-" + b.Revision[:min(len(b.Revision), shortRevision)]
		}
		if b.Modified {
			b.Version += "+dirty"
		}
	}
	return b
}
