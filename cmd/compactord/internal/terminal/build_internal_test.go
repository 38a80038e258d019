package terminal

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a version of the module, the commit names the build.
func TestVersionsOfBuilds(t *testing.T) {
	const revision = "6ab883c03b98c7952d9d5615000c3d76956f14d1"
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	for name, test := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		"released":   {"v1.2.3", commit, "v1.2.3"},
		"of commit":  {"(devel)", commit, "development-6ab883c03b98"},
		"changed":    {"(devel)", append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "development-6ab883c03b98+dirty"},
		"of nothing": {"(devel)", nil, "development"},
		"of no info": {"", nil, "development"},
	} {
		t.Run(name, func(t *testing.T) {
			b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: test.version}, Settings: test.settings})
			require.Equal(t, test.want, b.Version)
			if test.settings != nil {
				require.Equal(t, revision, b.Revision)
				require.Equal(t, "2026-01-02T03:04:05Z", b.Time)
			}
		})
	}
}
