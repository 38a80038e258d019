// Package api connects commands to the API: to a daemon, or to the same service in their own process. It says in a person's
// words what went wrong with a call.
package api

import (
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/summarizers"
)

// App is one run of the program: its terminal, and what a service in its process is made of.
type App struct {
	terminal.Terminal

	// Temporary are the folders to remove before the process ends.
	Temporary folders

	// Models write summaries beside extractive, as the configuration names them.
	Models []summarizers.Summarizer
	// DefaultSummarizer writes for sessions that name none; empty is extractive.
	DefaultSummarizer string

	// Summarizer lets tests hold a compaction: it writes in place of extractive.
	Summarizer summarizers.Summarizer
}
