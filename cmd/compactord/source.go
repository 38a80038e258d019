package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// source is the conversation that a command works on: a transcript in a file, or a session of a daemon or a store.
type source struct {
	File    string `arg:"" help:"Transcript to work on; - is standard input." name:"file" optional:""`
	Session string `help:"Session to work on, in place of a file." placeholder:"ID"`
	where
	reading
}

// conversation is an opened source.
type conversation struct {
	*client
	session string
	// transcript is what was read; nil for a session.
	transcript *readFile
	// asOf is the point whose view is shown; nil for now.
	asOf *uint32
}

// fileSession is the session that a file becomes in its temporary store.
const fileSession = "file"

// open opens the source: a transcript is read and put into a temporary store under the policy, a session is only named.
func (s *source) open(
	ctx context.Context, a *app, policy *compactordv1.Policy, p *progress,
) (*conversation, error) {
	switch {
	case s.File != "" && s.Session != "":
		return nil, usagef("name a file or --session, not both")
	case s.File == "" && s.Session == "":
		return nil, usagef("name a transcript file, - for standard input, or a session with --session ID")
	case s.File == "" && (s.reading != (reading{}) || a.given["nth"]):
		return nil, usagef("--format, --nth, --strict and --without-compactions go with a file")
	case s.File == "":
		c, err := s.where.open(ctx, a, false)
		if err != nil {
			return nil, err
		}
		return &conversation{client: c, session: s.Session}, nil
	case a.given["addr"] || a.given["store"]:
		return nil, advise(usagef("--addr and --store go with --session: a file is worked on in a temporary store"),
			"To keep it in a session: %s", hintImport(s.File))
	}
	if err := s.check(a); err != nil {
		return nil, err
	}
	return openFile(ctx, a, s.File, s.reading, policy, p)
}

// openFile puts a transcript into a temporary store. The session is made first: what is wrong with the policy is told
// before a large file is read.
func openFile(
	ctx context.Context, a *app, path string, how reading, policy *compactordv1.Policy, p *progress,
) (conv *conversation, err error) {
	c, err := a.embedTemporary(ctx)
	if err != nil {
		return nil, err
	}
	whole := false
	// Also where a panic ends it: the temporary store is nobody else's.
	defer func() {
		if !whole {
			err = errors.Join(err, c.close())
		}
	}()
	conv = &conversation{client: c, session: fileSession}
	if _, err := conv.create(ctx, policy); err != nil {
		return nil, refusedFlags(err)
	}
	if conv.transcript, err = readTranscript(ctx, a, path, how, p); err != nil {
		return nil, err
	}
	if len(conv.transcript.messages) == 0 {
		return nil, nothingError{conv.transcript.name + " holds no messages"}
	}
	if err := conv.fill(ctx, p); err != nil {
		return nil, err
	}
	whole = true
	return conv, nil
}

// fill puts the file into its session.
func (c *conversation) fill(ctx context.Context, p *progress) error {
	told, err := upload(ctx, c.client, c.session, c.transcript, p)
	if err != nil {
		return err
	}
	c.transcript.tell(told, p)
	return nil
}

// name is what people call the conversation.
func (c *conversation) name() string {
	if c.transcript != nil {
		return c.transcript.name
	}
	if c.asOf != nil {
		return fmt.Sprintf("session %s as of point %d", c.session, *c.asOf)
	}
	return "session " + c.session
}

// notes say what was left out on the way in.
func (c *conversation) notes() []string {
	if c.transcript == nil {
		return nil
	}
	return c.transcript.notes
}

// messageAt reads one message of the log.
func (c *conversation) messageAt(ctx context.Context, index uint32) (*compactordv1.LoggedMessage, error) {
	answer, err := c.sessions.ListMessages(ctx, &compactordv1.ListMessagesRequest{
		SessionId: c.session, FromIndex: index, PageSize: 1,
	})
	if err != nil {
		return nil, err
	}
	if len(answer.GetMessages()) == 0 {
		return nil, asReason(errors.New("the log ends before a message that it should hold"), "STORE_CORRUPT")
	}
	return answer.GetMessages()[0], nil
}

// hintImport puts a file into a session that is called after it.
func hintImport(file string) hint {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '-'
		}
		return r
	}, name)
	// What begins like a flag would be taken for one.
	name = strings.TrimLeft(name, "-")
	if name == "" || file == standardInput {
		name = "new"
	}
	if strings.HasPrefix(file, "-") && file != standardInput {
		file = "." + string(filepath.Separator) + file
	}
	return command("import", file, "--session", name[:min(len(name), maxSessionName)])
}

// maxSessionName is how long a session's id may be.
const maxSessionName = 128

// create makes the session, and returns its policy.
func (c *conversation) create(ctx context.Context, policy *compactordv1.Policy) (*compactordv1.Policy, error) {
	answer, err := c.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: c.session, Policy: policy})
	return answer.GetSession().GetResolvedPolicy(), err
}
