// Package api connects commands to the API: to a daemon, or to the same service in their own process. It explains
// errors of the API to people.
package api

import (
	"os"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/summarizers"
)

// App is one run of the program: its terminal, and the settings of a service in its own process.
type App struct {
	terminal.Terminal

	// Temporary are the temporary folders, which are removed before the process ends.
	Temporary folders

	// Models are the summarizers that the configuration names. The service has extractive besides.
	Models []summarizers.Summarizer
	// DefaultSummarizer writes for sessions whose policy names no summarizer. Empty means extractive.
	DefaultSummarizer string

	// Summarizer replaces extractive in tests, for example to hold a compaction.
	Summarizer summarizers.Summarizer

	// OnHangup returns a channel that has a value after each SIGHUP, which from then on does not end the program. It is nil
	// where nothing handles signals.
	OnHangup func() <-chan struct{}
}

// Hangups returns the channel of OnHangup; nil where there is none.
func (a *App) Hangups() <-chan struct{} {
	if a.OnHangup == nil {
		return nil
	}
	return a.OnHangup()
}

// NameOf names what sets a flag: the flag on the command line, or a variable.
func (a *App) NameOf(flag string) string {
	variable := "COMPACTORD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if _, set := os.LookupEnv(variable); set && !a.Given[flag] {
		return variable
	}
	return "--" + flag
}
