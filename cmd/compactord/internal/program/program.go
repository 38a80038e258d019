// Package program is the command line: all commands under their names, and how a run of one begins and ends.
package program

import (
	"cmp"
	"context"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/catalog"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/rules"
	"github.com/compactord/compactord/cmd/compactord/internal/serve"
	"github.com/compactord/compactord/cmd/compactord/internal/sessions"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/transcripts"
)

// Commands are what the program can be told to do.
type Commands struct {
	Serve       serve.Command       `cmd:"" help:"Run the daemon."`
	Compact     transcripts.Compact `cmd:"" help:"Compact a transcript or a session: summarize its older part."`
	View        transcripts.View    `cmd:"" help:"Show what fills the context window."`
	Prune       transcripts.Prune   `cmd:"" help:"Hide old tool results, without a summary."`
	Strategies  catalog.Strategies  `cmd:"" help:"List the strategies and presets that there are."`
	Summarizers catalog.Summarizers `cmd:"" help:"List who can write summaries: the models of the configuration."`
	Compare     transcripts.Compare `cmd:"" help:"Compare the presets on a transcript, side by side."`
	Recall      sessions.Recall     `cmd:"" help:"Print content of the log word for word, whatever views show of it."`
	Search      sessions.Search     `cmd:"" help:"Find messages, also those that views no longer show."`
	Tokens      transcripts.Tokens  `cmd:"" help:"Count tokens."`
	Checkpoint  sessions.Checkpoint `cmd:"" help:"Name the end of a session, to go back there later."`
	Revert      sessions.Revert     `cmd:"" help:"Go back to a checkpoint or point of a session, or take back turns."`
	Undo        sessions.Undo       `cmd:"" help:"Undo what last changed the view of a session."`
	Clear       sessions.Clear      `cmd:"" help:"Put all of a session aside but its instructions."`
	Delete      sessions.Delete     `cmd:"" help:"Remove a session and its log for good."`
	Fork        sessions.Fork       `cmd:"" help:"Make a new session of another one's log."`
	Pin         sessions.Pin        `cmd:"" help:"Keep messages of a session word for word in every view."`
	Watch       sessions.Watch      `cmd:"" help:"Show what is written to a session as it comes."`
	Records     sessions.Records    `cmd:"" help:"List what was done to a conversation."`
	Import      sessions.Import     `cmd:"" help:"Put a transcript into a session."`
	Export      sessions.Export     `cmd:"" help:"Write a session as JSON Lines of a provider's messages, or as Markdown."`
	Convert     transcripts.Convert `cmd:"" help:"Write a transcript in another shape."`
	Validate    rules.Validate      `cmd:"" help:"Check a message list by a provider's rules."`
	Classify    rules.Classify      `cmd:"" help:"Say whether a provider's error is a context overflow."`
	Sessions    sessions.List       `cmd:"" help:"List the sessions."`
	Check       sessions.Check      `cmd:"" help:"Check a store for damage."`
	Help        helpCommand         `cmd:"" help:"Print a document: formats, settings, errors and all else, by topic."`
	Version     versionCommand      `cmd:"" help:"Print the version."`
}

const description = `Keeps the conversations of language model agents within their context window.

FILE is a transcript: messages as OpenAI, Anthropic or Gemini have them (JSON Lines, or one JSON document), or a session
file of a coding agent, such as Claude Code, Codex or Pi; - is standard input. It is recognized by its content and never
changed.

'compactord help' lists the topics of the documents.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do.`

// Run carries out one command line and returns the exit code.
func Run(ctx context.Context, a *api.App, args []string) int {
	a.Buffer()
	err := dispatch(ctx, a, args)
	if flushErr := a.Out.Flush(); flushErr != nil && terminal.ExitCode(err) != terminal.ExitFailed {
		err = terminal.AsOutput(flushErr)
	}
	complain(a, err)
	return terminal.ExitCode(err)
}

// Variables are what texts of help and defaults of flags refer to.
func Variables() kong.Vars {
	return kong.Vars{
		"default_store": api.DefaultStore(), "default_addr": api.DefaultListen,
		"formats": conversation.FormatNames(), "dialects": conversation.DialectNames(), "presets": conversation.PresetNames(),
	}
}

// neverBlank are the flags that name something. Where a script's variable is empty, what it was to name must not be
// passed over.
var neverBlank = []string{
	"preset", "summarizer", "format", "dialect", "to", "session", "store", "config", "estimator", "as", "bytes", "lines", "match",
}

// kongExit is the panic by which kong, which wants to end the process after --help, ends the parsing only.
type kongExit int

func dispatch(ctx context.Context, a *api.App, args []string) (err error) {
	defer func() {
		switch panicked := recover().(type) {
		case nil:
		case kongExit:
			// The help was asked for and given.
		default:
			err = a.Panicked(panicked)
		}
	}()
	parser, err := kong.New(&Commands{},
		kong.Name(terminal.ProgramName),
		kong.Description(description),
		Variables(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Writers(a.Out, a.Stderr),
		kong.Exit(func(code int) { panic(kongExit(code)) }),
	)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
		defer func() { err = terminal.Usagef("say what to do: name one of these commands") }()
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return terminal.AsUsage(err)
	}
	a.Line = terminal.NewCommandLine(cmp.Or(a.Name, terminal.ProgramName), parsed)
	a.Given = make(map[string]bool)
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved {
			a.Given[p.Flag.Name] = true
		}
	}
	for _, g := range a.Line.Given {
		if slices.Contains(neverBlank, g.Flag) && g.Blank() {
			return terminal.Usagef("--%s: is blank", g.Flag)
		}
	}
	a.TakeVerbosity(parsed)
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(a)
}
