package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/requests"
)

// Import is `compactord import`.
type Import struct {
	File    string `arg:"" help:"Transcript to read; - is standard input."`
	Session string `help:"Session to import into; created if it does not exist." placeholder:"ID" required:""`
	Title   string `help:"Title of a new session." placeholder:"TEXT"`
	api.Where
	conversation.PolicyFlags
	conversation.Reading
	terminal.Output
}

// Help is printed below the flags.
func (c *Import) Help() string {
	return `The import may be repeated: it imports only what the session lacks, such as what was added to the file since, or after an
import that was interrupted. The policy flags apply to a new session only. The JSON document holds session, report (how
full the context is), imported (the number of new messages), summary (the compaction in effect), notes and messages (the number in the session).`
}

// Run imports.
func (c *Import) Run(ctx context.Context, a *api.App) (err error) {
	if err := c.Check(a); err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	if err := c.checkTarget(ctx, a); err != nil {
		return err
	}
	if c.Store != "" {
		defer compileRules()()
	}
	t, err := conversation.ReadToImport(ctx, a, c.File, c.Reading, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if t.Count() == 0 {
		return terminal.NothingError{Why: t.Name + " has no messages"}
	}
	daemon, err := c.Open(ctx, a, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.Close()) }()
	before, err := c.ensure(ctx, daemon, p)
	if err != nil {
		return err
	}
	uploaded, err := conversation.Upload(ctx, daemon, c.Session, before.GetNextIndex(), t, p)
	if err != nil {
		return c.explain(terminal.WhenInterrupted(err, "To continue the import: %s", terminal.Again()), t, before.GetNextIndex())
	}
	t.AddFindings(uploaded, p)
	after, err := c.get(ctx, daemon)
	if err != nil {
		return err
	}
	p.Clear()
	conv := &conversation.Conversation{Client: daemon, Session: c.Session, Transcript: t}
	summary, err := conv.Entry(ctx, after.GetSession().GetCompactionId())
	if err != nil {
		return err
	}
	return c.report(a, conv, after, after.GetSession().GetNextIndex()-before.GetNextIndex(), summary)
}

// compileRules compiles the rules of the requests that an import sends to a service in this process, while the file is read.
// The function that it returns waits until that is done.
func compileRules() (wait func()) {
	var compiling sync.WaitGroup
	compiling.Go(func() {
		requests.CompileRules(&compactordv1.CreateSessionRequest{}, &compactordv1.AppendMessagesRequest{})
	})
	return compiling.Wait
}

// checkTarget reports problems with the target before the file is read: no daemon, a wrong id or a wrong policy. It
// does not create the store yet.
func (c *Import) checkTarget(ctx context.Context, a *api.App) (err error) {
	open := func() (*api.Client, error) { return c.Open(ctx, a, false) }
	if c.Store != "" && !a.Given["addr"] && !api.Exists(c.Store) {
		open = func() (*api.Client, error) { return a.EmbedInMemory(ctx) }
	}
	daemon, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.Close()) }()
	if _, err := c.get(ctx, daemon); err != nil && !api.HasReason(err, "SESSION_NOT_FOUND") {
		return api.RefusedFlags(err)
	}
	return daemon.CheckPolicy(ctx, c.Policy())
}

// ensure returns the session, and creates it if it does not exist.
func (c *Import) ensure(ctx context.Context, daemon *api.Client, p *terminal.Progress) (*compactordv1.Session, error) {
	created, err := daemon.Sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: c.Session, Policy: c.Policy(), Title: c.Title,
	})
	if api.HasReason(err, "SESSION_EXISTS") {
		if c.Policy() != nil || c.Title != "" {
			p.Say("session %s exists: its policy and title are not changed", c.Session)
		}
		existing, err := c.get(ctx, daemon)
		return existing.GetSession(), err
	}
	for _, w := range created.GetWarnings() {
		p.Say("%s: %s", w.GetField(), w.GetText())
	}
	return created.GetSession(), api.RefusedFlags(err)
}

func (c *Import) get(ctx context.Context, daemon *api.Client) (*compactordv1.GetSessionResponse, error) {
	return daemon.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
}

// explain explains the error of an upload that does not go on from the session's log.
func (c *Import) explain(err error, t *conversation.Transcript, has uint32) error {
	var differs *conversation.DiffersError
	switch {
	case errors.As(err, &differs) && differs.Incomplete:
		return terminal.Advise(fmt.Errorf("session %q cannot take what was added to %s: %w", c.Session, t.Name, differs),
			"Import the whole into another session, once the agent's answer is complete.")
	case errors.As(err, &differs):
		return terminal.Advise(fmt.Errorf("session %q has %s already, and they are not the first ones of %s: %w",
			c.Session, terminal.Count(has, "message"), t.Name, differs), "Import into another session.")
	case api.HasReason(err, "WRONG_NEXT_INDEX"):
		return terminal.Advise(fmt.Errorf("another client has written to session %q meanwhile", c.Session), "Try again: %s",
			terminal.Again())
	default:
		return err
	}
}

// importJSON is the document of `import --json`.
type importJSON struct {
	Session  *terminal.APIJSON `json:"session"`
	Report   *terminal.APIJSON `json:"report"`
	Imported uint32            `json:"imported"`
	// Summary is the compaction in effect, such as one from the file.
	Summary  *conversation.EarlierJSON `json:"summary,omitempty"`
	Notes    []string                  `json:"notes"`
	Messages uint32                    `json:"messages"`
}

func (c *Import) report(
	a *api.App, conv *conversation.Conversation, now *compactordv1.GetSessionResponse, imported uint32, summary *compactordv1.CompactionEntry,
) error {
	t, session := conv.Transcript, now.GetSession()
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, importJSON{
			Session: terminal.Optional(session), Report: terminal.Optional(now.GetReport()), Imported: imported, Summary: conversation.EarlierOf(summary), Notes: append([]string{}, t.Notes...),
			Messages: session.GetNextIndex(),
		}); err != nil {
			return err
		}
	}
	switch {
	case imported == 0:
		return terminal.NothingError{Why: fmt.Sprintf("session %q has all messages of %s already", c.Session, t.Name)}
	case !c.JSON:
		fmt.Fprintf(a.Out, "Imported %s into session %s, which has %s now.\n", terminal.Count(imported, "message"), c.Session,
			terminal.Number(session.GetNextIndex()))
		if summary.GetImportedFrom() != "" {
			messages, source := conv.Coverage(summary)
			fmt.Fprintf(a.Out, "The model sees a summary %s, instead of %s.\n", source, messages)
		}
		conversation.PrintBlocked(a, c.Session, now.GetReport())
	}
	return nil
}
