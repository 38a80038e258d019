package main

import (
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// app is one run of the program: its terminal, and what a service in its process is made of.
type app struct {
	terminal

	// temporary are the folders to remove before the process ends.
	temporary folders

	// models write summaries beside extractive, as the configuration names them.
	models []summarizers.Summarizer
	// defaultSummarizer writes for sessions that name none; empty is extractive.
	defaultSummarizer string

	// hooks and summarizer let tests hold a compaction.
	hooks      service.Hooks
	summarizer summarizers.Summarizer
}
