package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Import is `compactord import`.
type Import struct {
	File    string `arg:"" help:"Transcript to read; - is standard input."`
	Session string `help:"Session to put it into; it is made where there is none." placeholder:"ID" required:""`
	Title   string `help:"Title of a new session." placeholder:"TEXT"`
	api.Where
	conversation.PolicyFlags
	conversation.Reading
	terminal.Output
}

// Help is printed below the flags.
func (c *Import) Help() string {
	return `It may be run again: what was imported before is not imported twice, and an import that broke off goes on where it
was. The policy flags are for a new session. The JSON document holds session, imported (how many messages are new),
summary (the compaction in effect), notes and messages
(how many the session holds).`
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
	t, err := conversation.ReadTranscript(ctx, a, c.File, c.Reading, p)
	if err != nil {
		return err
	}
	if len(t.Messages) == 0 {
		return terminal.NothingError{Why: t.Name + " holds no messages"}
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
	told, err := conversation.Upload(ctx, daemon, c.Session, t, p)
	if err != nil {
		return c.explain(terminal.WhenInterrupted(err, "To go on where it was: %s", terminal.Again()), t)
	}
	t.Tell(told, p)
	after, err := c.get(ctx, daemon)
	if err != nil {
		return err
	}
	p.Clear()
	conv := &conversation.Conversation{Client: daemon, Session: c.Session, Transcript: t}
	summary, err := conv.Entry(ctx, after.GetCompactionId())
	if err != nil {
		return err
	}
	return c.report(a, conv, after, after.GetNextIndex()-before.GetNextIndex(), summary)
}

// checkTarget says what is wrong with where the file is to go, before it is read: no daemon, no such id, no such policy.
// A store that is to be made is made when there is something to put into it.
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

// ensure returns the session, and makes it where there is none.
func (c *Import) ensure(ctx context.Context, daemon *api.Client, p *terminal.Progress) (*compactordv1.Session, error) {
	created, err := daemon.Sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: c.Session, Policy: c.Policy(), Title: c.Title,
	})
	if api.HasReason(err, "SESSION_EXISTS") {
		if c.Policy() != nil || c.Title != "" {
			p.Say("session %s exists: its policy and title stay as they are", c.Session)
		}
		return c.get(ctx, daemon)
	}
	return created.GetSession(), api.RefusedFlags(err)
}

func (c *Import) get(ctx context.Context, daemon *api.Client) (*compactordv1.Session, error) {
	answer, err := daemon.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	return answer.GetSession(), err
}

// explain says what it means that a batch does not fit onto the session's log.
func (c *Import) explain(err error, t *conversation.Transcript) error {
	if !api.HasReason(err, "WRONG_NEXT_INDEX") {
		return err
	}
	return terminal.Advise(fmt.Errorf("session %q holds %s messages already, and they are not the first ones of %s",
		c.Session, api.MetadataOf(err)["next_index"], t.Name), "Import into a session of its own.")
}

// importJSON is the document of `import --json`.
type importJSON struct {
	Session  *terminal.APIJSON `json:"session"`
	Imported uint32            `json:"imported"`
	// Summary is the compaction in effect, such as one that the file brought.
	Summary  *conversation.EarlierJSON `json:"summary,omitempty"`
	Notes    []string                  `json:"notes"`
	Messages uint32                    `json:"messages"`
}

func (c *Import) report(
	a *api.App, conv *conversation.Conversation, session *compactordv1.Session, imported uint32, summary *compactordv1.CompactionEntry,
) error {
	t := conv.Transcript
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, importJSON{
			Session: terminal.Optional(session), Imported: imported, Summary: conversation.EarlierOf(summary), Notes: append([]string{}, t.Notes...),
			Messages: session.GetNextIndex(),
		}); err != nil {
			return err
		}
	}
	switch {
	case imported == 0:
		return terminal.NothingError{Why: fmt.Sprintf("session %q holds all of %s already", c.Session, t.Name)}
	case !c.JSON:
		fmt.Fprintf(a.Out, "Imported %s into session %s, which holds %s now.\n", terminal.Count(imported, "message"), c.Session,
			terminal.Number(session.GetNextIndex()))
		if summary.GetImportedFrom() != "" {
			messages, whose := conv.StandsFor(summary)
			fmt.Fprintf(a.Out, "The model sees a summary %s, in place of %s.\n", whose, messages)
		}
	}
	return nil
}
