// Package program is the command line: the commands under their names, and how a run begins and ends.
package program

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/catalog"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/evaluation"
	"github.com/compactord/compactord/cmd/compactord/internal/inspect"
	"github.com/compactord/compactord/cmd/compactord/internal/mcp"
	"github.com/compactord/compactord/cmd/compactord/internal/rules"
	"github.com/compactord/compactord/cmd/compactord/internal/serve"
	"github.com/compactord/compactord/cmd/compactord/internal/sessions"
	"github.com/compactord/compactord/cmd/compactord/internal/settings"
	"github.com/compactord/compactord/cmd/compactord/internal/stores"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/tokens"
	"github.com/compactord/compactord/cmd/compactord/internal/transcripts"
	"github.com/compactord/compactord/service/access"
)

// Commands are the commands of the program.
type Commands struct {
	Serve       serve.Command       `cmd:"" help:"Run the daemon."`
	HealthCheck serve.HealthCheck   `cmd:"" name:"healthcheck" help:"Say whether a daemon serves, by the exit code."`
	Compact     transcripts.Compact `cmd:"" help:"Compact a transcript or a session: summarize its older part."`
	View        transcripts.View    `cmd:"" help:"Show what fills the context window."`
	Inspect     inspect.Command     `cmd:"" help:"Show log and view in a browser, or write them to an HTML file."`
	Prune       transcripts.Prune   `cmd:"" help:"Hide old tool results, without a summary."`
	Strategies  catalog.Strategies  `cmd:"" help:"List the strategies and presets."`
	Summarizers catalog.Summarizers `cmd:"" help:"List the summarizers: extractive, and the models of the configuration."`
	Compare     transcripts.Compare `cmd:"" help:"Compare the presets on a transcript, side by side."`
	Evaluate    evaluation.Command  `cmd:"" help:"Measure on transcripts what presets and summaries cost and lose."`
	Recall      sessions.Recall     `cmd:"" help:"Print content of the log word for word, also if views hide it."`
	Search      sessions.Search     `cmd:"" help:"Find messages, also those that views no longer show."`
	Tokens      transcripts.Tokens  `cmd:"" help:"Count tokens."`
	Checkpoint  sessions.Checkpoint `cmd:"" help:"Mark the end of a session, to go back there later."`
	Revert      sessions.Revert     `cmd:"" help:"Go back to a checkpoint or point of a session, or before its last turns."`
	Undo        sessions.Undo       `cmd:"" help:"Undo the last change of a session's view."`
	Clear       sessions.Clear      `cmd:"" help:"Put aside all messages of a session but its instructions."`
	Delete      sessions.Delete     `cmd:"" help:"Delete a session and its log for ever."`
	Fork        sessions.Fork       `cmd:"" help:"Copy a session's log into a new session."`
	Pin         sessions.Pin        `cmd:"" help:"Keep messages of a session word for word in every view."`
	Update      sessions.Update     `cmd:"" help:"Change the limits of the model in a session's policy."`
	Block       sessions.Block      `cmd:"" help:"Read, set and remove context blocks of a session, such as a plan."`
	Child       sessions.Child      `cmd:"" help:"Begin a session apart for a sub-agent."`
	End         sessions.End        `cmd:"" help:"End a child with its result, which its parent gets."`
	MCP         mcp.Command         `cmd:"" name:"mcp" help:"Serve tools for one session to an agent's model, by the Model Context Protocol."`
	Watch       sessions.Watch      `cmd:"" help:"Show new messages and records of a session as they come."`
	Records     sessions.Records    `cmd:"" help:"List the records of a conversation: compactions, prunes, reverts and others."`
	Import      sessions.Import     `cmd:"" help:"Put a transcript into a session."`
	Export      sessions.Export     `cmd:"" help:"Write a session as JSON Lines of a provider's messages, or as Markdown."`
	Convert     transcripts.Convert `cmd:"" help:"Write a transcript in another format."`
	Validate    rules.Validate      `cmd:"" help:"Check a message list against a provider's rules."`
	Classify    rules.Classify      `cmd:"" help:"Say whether a provider's error is a context overflow."`
	Sessions    sessions.List       `cmd:"" help:"List the sessions."`
	Check       sessions.Check      `cmd:"" help:"Check a store for damage."`
	Salvage     sessions.Salvage    `cmd:"" help:"Copy what can be read of a damaged store into a new one."`
	Config      settings.Command    `cmd:"" help:"Check and print the settings of a daemon."`
	Backup      stores.Backup       `cmd:"" help:"Copy a store, with a checksum."`
	Restore     stores.Restore      `cmd:"" help:"Make a store of a backup."`
	Defrag      stores.Defrag       `cmd:"" help:"Write a store anew, without what is deleted and free."`
	Encrypt     stores.Encrypt      `cmd:"" help:"Encrypt what a store holds, or seal it with another key."`
	Decrypt     stores.Decrypt      `cmd:"" help:"Make an encrypted store a plain one."`
	Store       stores.Group        `cmd:"" help:"Copy all sessions from one store to another."`
	Migrate     stores.Migrate      `cmd:"" help:"Make the tables of a store in PostgreSQL, or bring them to this version."`
	Token       tokens.Command      `cmd:"" help:"Make a token for a client of a daemon."`
	Completion  completionCommand   `cmd:"" help:"Print the script that completes commands and flags in a shell."`
	Man         manCommand          `cmd:"" help:"Print the manual page."`
	Help        helpCommand         `cmd:"" help:"Print a document by its topic: formats, settings, errors and more."`
	Version     versionCommand      `cmd:"" help:"Print the version."`
}

const description = `Keeps the conversations of language model agents within their context window.

FILE is a transcript: messages of OpenAI, Anthropic or Gemini (JSON Lines, or one JSON document), or a session file of a
coding agent, such as Claude Code, Codex or Pi. - is standard input. The format is recognized by the content. The file
is never changed.

'compactord help' lists the topics of the documents.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do. salvage has 4 too, for a part of a store, and serve 5, for a
store that is lost.`

// Run executes a command line and returns the exit code.
func Run(ctx context.Context, a *api.App, args []string) int {
	a.Buffer()
	err := dispatch(ctx, a, args)
	if flushErr := a.Out.Flush(); flushErr != nil && terminal.ExitCode(err) != terminal.ExitFailed {
		err = terminal.AsOutput(flushErr)
	}
	complain(a, err)
	return terminal.ExitCode(err)
}

// Variables are the variables of help texts and default values, and the types of flags that are ours.
func Variables() kong.Option {
	values := kong.Vars{
		"default_store": api.DefaultStore(), "default_token": access.DefaultTokenFile(), "default_addr": api.DefaultListen,
		"formats": conversation.FormatNames(), "dialects": conversation.DialectNames(), "presets": conversation.PresetNames(),
		"cpus": evaluation.CPUs(),
	}
	return kong.OptionFunc(func(k *kong.Kong) error { return errors.Join(values.Apply(k), api.Stores().Apply(k)) })
}

// neverBlank are the flags whose value must not be empty. An empty variable in a script must not mean that the flag is
// left out.
var neverBlank = []string{
	"preset", "policy", "summarizer", "format", "dialect", "to", "session", "store", "config", "estimator", "as", "bytes", "lines", "match",
	"kind", "role", "token-file", "tokens", "audit-log", "state", "parent", "forked-from", "call-id", "block",
	"store-keys", "store-keys-env",
}

// kongExit is a panic that ends the parsing after --help, where kong would end the process.
type kongExit int

func dispatch(ctx context.Context, a *api.App, args []string) (err error) {
	defer func() {
		switch panicked := recover().(type) {
		case nil:
		case kongExit:
			// The user asked for help, which kong has printed.
		default:
			err = a.Panicked(panicked)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
		defer func() { err = terminal.Usagef("name one of these commands") }()
	}
	if args[0] == "--version" {
		// It is no flag, since each command would list it.
		args = append([]string{"version"}, args[1:]...)
	}
	parser, err := newParser(a, grammar(args[0]))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return terminal.AsUsage(err)
	}
	a.Line = terminal.NewCommandLine(cmp.Or(a.Name, terminal.ProgramName), parsed, func(name string) *kong.Node { return commandNode(a, name) })
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
	a.SetVerbosity(parsed)
	parsed.BindTo(ctx, (*context.Context)(nil))
	return api.NamingFlags(parsed.Run(a), a.Given)
}
