package main

import (
	"context"
	"errors"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// importCommand is `compactord import`.
type importCommand struct {
	File    string `arg:"" help:"Transcript to read; - is standard input."`
	Session string `help:"Session to put it into; it is made where there is none." placeholder:"ID" required:""`
	Title   string `help:"Title of a new session." placeholder:"TEXT"`
	where
	policyFlags
	reading
	output
}

// Help is printed below the flags.
func (c *importCommand) Help() string {
	return `It may be run again: what was imported before is not imported twice, and an import that broke off goes on where it
was. The policy flags are for a new session. The JSON document holds session, imported (how many messages are new),
summary (the compaction in effect), notes and messages
(how many the session holds).`
}

// Run imports.
func (c *importCommand) Run(ctx context.Context, a *app) (err error) {
	if err := c.check(a); err != nil {
		return err
	}
	p := a.progress(c.Quiet)
	defer p.clear()
	if err := c.checkTarget(ctx, a); err != nil {
		return err
	}
	t, err := readTranscript(ctx, a, c.File, c.reading, p)
	if err != nil {
		return err
	}
	if len(t.messages) == 0 {
		return nothingError{t.name + " holds no messages"}
	}
	daemon, err := c.open(ctx, a, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.close()) }()
	before, err := c.ensure(ctx, daemon, p)
	if err != nil {
		return err
	}
	told, err := upload(ctx, daemon, c.Session, t, p)
	if err != nil {
		return c.explain(whenInterrupted(err, "To go on where it was: %s", again()), t)
	}
	t.tell(told, p)
	after, err := c.get(ctx, daemon)
	if err != nil {
		return err
	}
	p.clear()
	conv := &conversation{client: daemon, session: c.Session, transcript: t}
	summary, err := conv.entry(ctx, after.GetCompactionId())
	if err != nil {
		return err
	}
	return c.report(a, conv, after, after.GetNextIndex()-before.GetNextIndex(), summary)
}

// checkTarget says what is wrong with where the file is to go, before it is read: no daemon, no such id, no such policy.
// A store that is to be made is made when there is something to put into it.
func (c *importCommand) checkTarget(ctx context.Context, a *app) (err error) {
	open := func() (*client, error) { return c.open(ctx, a, false) }
	if c.Store != "" && !a.given["addr"] && !exists(c.Store) {
		open = func() (*client, error) { return a.embedInMemory(ctx) }
	}
	daemon, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.close()) }()
	if _, err := c.get(ctx, daemon); err != nil && !hasReason(err, "SESSION_NOT_FOUND") {
		return refusedFlags(err)
	}
	return daemon.checkPolicy(ctx, c.policy())
}

// ensure returns the session, and makes it where there is none.
func (c *importCommand) ensure(ctx context.Context, daemon *client, p *progress) (*compactordv1.Session, error) {
	created, err := daemon.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: c.Session, Policy: c.policy(), Title: c.Title,
	})
	if hasReason(err, "SESSION_EXISTS") {
		if c.policy() != nil || c.Title != "" {
			p.say("session %s exists: its policy and title stay as they are", c.Session)
		}
		return c.get(ctx, daemon)
	}
	return created.GetSession(), refusedFlags(err)
}

func (c *importCommand) get(ctx context.Context, daemon *client) (*compactordv1.Session, error) {
	answer, err := daemon.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	return answer.GetSession(), err
}

// explain says what it means that a batch does not fit onto the session's log.
func (c *importCommand) explain(err error, t *readFile) error {
	if !hasReason(err, "WRONG_NEXT_INDEX") {
		return err
	}
	return advise(fmt.Errorf("session %q holds %s messages already, and they are not the first ones of %s",
		c.Session, metadataOf(err)["next_index"], t.name), "Import into a session of its own.")
}

// importJSON is the document of `import --json`.
type importJSON struct {
	Session  *apiJSON `json:"session"`
	Imported uint32   `json:"imported"`
	// Summary is the compaction in effect, such as one that the file brought.
	Summary  *earlierJSON `json:"summary,omitempty"`
	Notes    []string     `json:"notes"`
	Messages uint32       `json:"messages"`
}

func (c *importCommand) report(
	a *app, conv *conversation, session *compactordv1.Session, imported uint32, summary *compactordv1.CompactionEntry,
) error {
	t := conv.transcript
	if c.JSON {
		if err := printJSON(a.out, importJSON{
			Session: optional(session), Imported: imported, Summary: earlierOf(summary), Notes: append([]string{}, t.notes...),
			Messages: session.GetNextIndex(),
		}); err != nil {
			return err
		}
	}
	switch {
	case imported == 0:
		return nothingError{fmt.Sprintf("session %q holds all of %s already", c.Session, t.name)}
	case !c.JSON:
		fmt.Fprintf(a.out, "Imported %s into session %s, which holds %s now.\n", count(imported, "message"), c.Session,
			number(session.GetNextIndex()))
		if summary.GetImportedFrom() != "" {
			messages, whose := conv.standsFor(summary)
			fmt.Fprintf(a.out, "The model sees a summary %s, in place of %s.\n", whose, messages)
		}
	}
	return nil
}
