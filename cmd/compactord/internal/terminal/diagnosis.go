package terminal

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// Diagnosis holds the flag for finding bugs in a command that runs the service in its own process.
type Diagnosis struct {
	LogLevel string `enum:"debug,info,warn,error," default:"" help:"Write the log of the service in this process to stderr: debug (with the stack of a bug), info, warn or error." placeholder:"LEVEL"`
}

// Flags that set how much a command prints on stderr.
const (
	logLevelFlag = "log-level"
	quietFlag    = "quiet"
)

// SetVerbosity reads these flags of the command.
func (t *Terminal) SetVerbosity(parsed *kong.Context) {
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

// OwnLogger returns the logger of a service in this process. By default it logs only errors, without stacks, since
// commands print their own errors.
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

// Warn prints what a user should know although the command goes on; with -q nothing.
func (t *Terminal) Warn(text string) {
	if !t.quiet {
		fmt.Fprintf(t.Stderr, "compactord: warning: %s\n", Printable(text))
	}
}

// withoutStack removes stacks from a log.
func withoutStack(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Key == "stack" {
		return slog.Attr{}
	}
	return attribute
}

// bugError is a panic in a command. Only the type of its value is printed, since the value may quote a conversation.
type bugError struct{ what string }

func (e bugError) Error() string { return "this is a bug: the program panicked with a " + e.what }

// Panicked returns an error for a panic. With --log-level debug it prints the stack.
func (t *Terminal) Panicked(cause any) error {
	if t.logLevel == "debug" {
		fmt.Fprintf(t.Stderr, "%s", debug.Stack())
	}
	return Advise(bugError{fmt.Sprintf("%T", cause)}, t.ReportIt())
}

// ReportIt asks the user to report a bug in this process.
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
