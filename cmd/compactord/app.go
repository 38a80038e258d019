package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/alecthomas/kong"
)

// commands are what the program can be told to do.
type commands struct {
	Serve       serveCommand       `cmd:"" help:"Run the daemon."`
	Compact     compactCommand     `cmd:"" help:"Compact a transcript or a session: summarize its older part."`
	View        viewCommand        `cmd:"" help:"Show what fills the context window."`
	Prune       pruneCommand       `cmd:"" help:"Hide old tool results, without a summary."`
	Strategies  strategiesCommand  `cmd:"" help:"List the strategies and presets that there are."`
	Summarizers summarizersCommand `cmd:"" help:"List who can write summaries: the models of the configuration."`
	Compare     compareCommand     `cmd:"" help:"Compare the presets on a transcript, side by side."`
	Recall      recallCommand      `cmd:"" help:"Print content of the log word for word, whatever views show of it."`
	Search      searchCommand      `cmd:"" help:"Find messages, also those that views no longer show."`
	Tokens      tokensCommand      `cmd:"" help:"Count tokens."`
	Checkpoint  checkpointCommand  `cmd:"" help:"Name the end of a session, to go back there later."`
	Revert      revertCommand      `cmd:"" help:"Go back to a checkpoint or point of a session, or take back turns."`
	Undo        undoCommand        `cmd:"" help:"Undo what last changed the view of a session."`
	Clear       clearCommand       `cmd:"" help:"Put all of a session aside but its instructions."`
	Delete      deleteCommand      `cmd:"" help:"Remove a session and its log for good."`
	Fork        forkCommand        `cmd:"" help:"Make a new session of another one's log."`
	Pin         pinCommand         `cmd:"" help:"Keep messages of a session word for word in every view."`
	Watch       watchCommand       `cmd:"" help:"Show what is written to a session as it comes."`
	Records     recordsCommand     `cmd:"" help:"List what was done to a conversation."`
	Import      importCommand      `cmd:"" help:"Put a transcript into a session."`
	Export      exportCommand      `cmd:"" help:"Write a session as JSON Lines of a provider's messages, or as Markdown."`
	Convert     convertCommand     `cmd:"" help:"Write a transcript in another shape."`
	Validate    validateCommand    `cmd:"" help:"Check a message list by a provider's rules."`
	Classify    classifyCommand    `cmd:"" help:"Say whether a provider's error is a context overflow."`
	Sessions    sessionsCommand    `cmd:"" help:"List the sessions."`
	Check       checkCommand       `cmd:"" help:"Check a store for damage."`
	Help        helpCommand        `cmd:"" help:"Print a document: formats, settings, errors and all else, by topic."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

const description = `Keeps the conversations of language model agents within their context window.

FILE is a transcript: messages as OpenAI, Anthropic or Gemini have them (JSON Lines, or one JSON document), or a session
file of a coding agent, such as Claude Code, Codex or Pi; - is standard input. It is recognized by its content and never
changed.

'compactord help' lists the topics of the documents.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do.`

// run carries out one command line and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	a.buffer()
	err := dispatch(ctx, a, args)
	if flushErr := a.out.Flush(); flushErr != nil && exitCode(err) != exitFailed {
		err = asOutput(flushErr)
	}
	complain(a, err)
	return exitCode(err)
}

// variables are what texts of help and defaults of flags refer to.
func variables() kong.Vars {
	return kong.Vars{
		"default_store": defaultStore(), "default_addr": defaultListen,
		"formats": formatNames(), "dialects": dialectNames(), "presets": presetNames(),
	}
}

// neverBlank are the flags that name something. Where a script's variable is empty, what it was to name must not be
// passed over.
var neverBlank = []string{
	"preset", "summarizer", "format", "dialect", "to", "session", "store", "config", "estimator", "as", "bytes", "lines", "match",
}

// kongExit is the panic by which kong, which wants to end the process after --help, ends the parsing only.
type kongExit int

func dispatch(ctx context.Context, a *app, args []string) (err error) {
	defer func() {
		switch panicked := recover().(type) {
		case nil:
		case kongExit:
			// The help was asked for and given.
		default:
			err = a.panicked(panicked)
		}
	}()
	parser, err := kong.New(&commands{},
		kong.Name(programName),
		kong.Description(description),
		variables(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Writers(a.out, a.stderr),
		kong.Exit(func(code int) { panic(kongExit(code)) }),
	)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
		defer func() { err = usagef("say what to do: name one of these commands") }()
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return asUsage(err)
	}
	a.line = newCommandLine(cmp.Or(a.name, programName), parsed)
	a.given = make(map[string]bool)
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved {
			a.given[p.Flag.Name] = true
		}
	}
	for _, g := range a.line.given {
		if slices.Contains(neverBlank, g.flag) && g.blank() {
			return usagef("--%s: is blank", g.flag)
		}
	}
	a.takeVerbosity(parsed)
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(a)
}
