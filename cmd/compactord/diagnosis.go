package main

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// diagnosis is for who looks for a bug in a command that runs the service in its own process.
type diagnosis struct {
	LogLevel string `enum:"debug,info,warn,error," default:"" help:"Log what the service in this process does on stderr: debug (with the stack of a bug), info, warn or error." placeholder:"LEVEL"`
}

// The flags that say how much a command tells on stderr.
const (
	logLevelFlag = "log-level"
	quietFlag    = "quiet"
)

// takeVerbosity takes in how much the command that was called is to tell.
func (t *terminal) takeVerbosity(parsed *kong.Context) {
	for _, flag := range parsed.Flags() {
		switch flag.Name {
		case logLevelFlag:
			t.logLevel, _ = parsed.FlagValue(flag).(string)
			t.diagnosable = true
		case quietFlag:
			t.quiet, _ = parsed.FlagValue(flag).(bool)
		}
	}
}

// ownLogger is the log of a service in this process. A person sees the errors of their command anyway; what they cannot
// see is the cause of a bug, and where it was they are told where they ask.
func (t *terminal) ownLogger() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelError}
	switch {
	case t.logLevel != "":
		options.Level = logLevels[t.logLevel]
	case t.quiet:
		return slog.New(slog.DiscardHandler)
	}
	if options.Level != slog.LevelDebug {
		options.ReplaceAttr = withoutStack
	}
	return slog.New(slog.NewTextHandler(t.stderr, options))
}

// withoutStack leaves stacks out of a log.
func withoutStack(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Key == "stack" {
		return slog.Attr{}
	}
	return attribute
}

// bugError is a panic of a command. Its value may hold what is in a conversation: only its type is told.
type bugError struct{ what string }

func (e bugError) Error() string { return "this is a bug: the program panicked with a " + e.what }

// panicked makes an error of a panic, and prints where it was to who asked for that.
func (t *terminal) panicked(cause any) error {
	if t.logLevel == "debug" {
		fmt.Fprintf(t.stderr, "%s", debug.Stack())
	}
	return advise(bugError{fmt.Sprintf("%T", cause)}, t.reportIt())
}

// reportIt says what a person can do about a bug in this process.
func (t *terminal) reportIt() string {
	todo := "Please report it, with what you did"
	if t.diagnosable && t.logLevel != "debug" {
		return todo + " and with what --" + logLevelFlag + " debug prints."
	}
	return todo + "."
}

// logLevels are the values of --log-level.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}
