package terminal

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// Diagnosis is for who looks for a bug in a command that runs the service in its own process.
type Diagnosis struct {
	LogLevel string `enum:"debug,info,warn,error," default:"" help:"Log what the service in this process does on stderr: debug (with the stack of a bug), info, warn or error." placeholder:"LEVEL"`
}

// The flags that say how much a command tells on stderr.
const (
	logLevelFlag = "log-level"
	quietFlag    = "quiet"
)

// TakeVerbosity takes in how much the command that was called is to tell.
func (t *Terminal) TakeVerbosity(parsed *kong.Context) {
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

// OwnLogger is the log of a service in this process. A person sees the errors of their command anyway; what they cannot
// see is the cause of a bug, and where it was they are told where they ask.
func (t *Terminal) OwnLogger() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelError}
	switch {
	case t.logLevel != "":
		options.Level = LogLevels[t.logLevel]
	case t.quiet:
		return slog.New(slog.DiscardHandler)
	}
	if options.Level != slog.LevelDebug {
		options.ReplaceAttr = withoutStack
	}
	return slog.New(slog.NewTextHandler(t.Stderr, options))
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

// Panicked makes an error of a panic, and prints where it was to who asked for that.
func (t *Terminal) Panicked(cause any) error {
	if t.logLevel == "debug" {
		fmt.Fprintf(t.Stderr, "%s", debug.Stack())
	}
	return Advise(bugError{fmt.Sprintf("%T", cause)}, t.ReportIt())
}

// ReportIt says what a person can do about a bug in this process.
func (t *Terminal) ReportIt() string {
	todo := "Please report it, with what you did"
	if t.diagnosable && t.logLevel != "debug" {
		return todo + " and with what --" + logLevelFlag + " debug prints."
	}
	return todo + "."
}

// LogLevels are the values of --log-level.
var LogLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}
