package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// A preset that fails does not hide the results of the others.
func TestCompareWithAFailure(t *testing.T) {
	c := &comparison{file: &conversation.Transcript{Name: "x"}, results: []*presetResult{
		{preset: "a", once: &onceFigures{}, replay: &replay.Figures{Rewrites: 1}},
		{preset: "b", failed: fmt.Errorf("out of luck")},
	}}
	window := uint32(8000)
	c.limits.ContextWindow = &window
	var out strings.Builder
	c.print(&out)
	sample.Contains(t, out.String(), "\nb       failed\n")
	sample.Contains(t, out.String(), "\nFailed:\n\n  b            out of luck\n")
	err := c.ending()
	require.EqualError(t, err, "1 of 2 presets failed: b")
	require.Equal(t, terminal.ExitFailed, terminal.ExitCode(err))
}

// The result of one run is shown if the other fails.
func TestCompareShowsTheRunThatEnds(t *testing.T) {
	c := &comparison{file: &conversation.Transcript{Name: "x"}, results: []*presetResult{{preset: "a", replay: &replay.Figures{PeakTokens: 4711}, failed: fmt.Errorf("no luck")}}}
	window := uint32(8000)
	c.limits.ContextWindow = &window
	var out strings.Builder
	c.print(&out)
	sample.Contains(t, out.String(), "\na       failed\n")
	sample.Contains(t, out.String(), " 4,711 ")
}
