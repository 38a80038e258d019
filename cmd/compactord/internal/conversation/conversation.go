// Package conversation opens what commands work on, a transcript in a file or a session, and asks the service about it.
package conversation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Source is the conversation that a command works on: a transcript in a file, or a session of a daemon or a store.
type Source struct {
	File    string `arg:"" help:"Transcript to work on; - is standard input." name:"file" optional:""`
	Session string `help:"Session to work on, in place of a file." placeholder:"ID"`
	api.Where
	Reading
}

// Conversation is an opened source.
type Conversation struct {
	*api.Client
	Session string
	// Transcript is what was read; nil for a session.
	Transcript *Transcript
	// AsOf is the point whose view is shown; nil for now.
	AsOf *uint32
}

// FileSession is the session that a file becomes in its temporary store.
const FileSession = "file"

// Open opens the source: a transcript is read and put into a temporary store under the policy, a session is only named.
func (s *Source) Open(
	ctx context.Context, a *api.App, policy *compactordv1.Policy, p *terminal.Progress,
) (*Conversation, error) {
	switch {
	case s.File != "" && s.Session != "":
		return nil, terminal.Usagef("name a file or --session, not both")
	case s.File == "" && s.Session == "":
		return nil, terminal.Usagef("name a transcript file, - for standard input, or a session with --session ID")
	case s.File == "" && (s.Reading != (Reading{}) || a.Given["nth"]):
		return nil, terminal.Usagef("--format, --nth, --strict and --without-compactions go with a file")
	case s.File == "":
		c, err := s.Where.Open(ctx, a, false)
		if err != nil {
			return nil, err
		}
		return &Conversation{Client: c, Session: s.Session}, nil
	case a.Given["addr"] || a.Given["store"]:
		return nil, terminal.Advise(terminal.Usagef("--addr and --store go with --session: a file is worked on in a temporary store"),
			"To keep it in a session: %s", hintImport(s.File))
	}
	if err := s.Check(a); err != nil {
		return nil, err
	}
	return openFile(ctx, a, s.File, s.Reading, policy, p)
}

// openFile puts a transcript into a temporary store. The session is made first: what is wrong with the policy is told
// before a large file is read.
func openFile(
	ctx context.Context, a *api.App, path string, how Reading, policy *compactordv1.Policy, p *terminal.Progress,
) (conv *Conversation, err error) {
	c, err := a.EmbedTemporary(ctx)
	if err != nil {
		return nil, err
	}
	whole := false
	// Also where a panic ends it: the temporary store is nobody else's.
	defer func() {
		if !whole {
			err = errors.Join(err, c.Close())
		}
	}()
	conv = &Conversation{Client: c, Session: FileSession}
	if _, err := conv.Create(ctx, policy); err != nil {
		return nil, api.RefusedFlags(err)
	}
	if conv.Transcript, err = ReadTranscript(ctx, a, path, how, p); err != nil {
		return nil, err
	}
	if len(conv.Transcript.Messages) == 0 {
		return nil, terminal.NothingError{Why: conv.Transcript.Name + " holds no messages"}
	}
	if err := conv.Fill(ctx, p); err != nil {
		return nil, err
	}
	whole = true
	return conv, nil
}

// Fill puts the file into its session.
func (c *Conversation) Fill(ctx context.Context, p *terminal.Progress) error {
	told, err := Upload(ctx, c.Client, c.Session, c.Transcript, p)
	if err != nil {
		return err
	}
	c.Transcript.Tell(told, p)
	return nil
}

// Name is what people call the conversation.
func (c *Conversation) Name() string {
	if c.Transcript != nil {
		return c.Transcript.Name
	}
	if c.AsOf != nil {
		return fmt.Sprintf("session %s as of point %d", c.Session, *c.AsOf)
	}
	return "session " + c.Session
}

// Notes say what was left out on the way in.
func (c *Conversation) Notes() []string {
	if c.Transcript == nil {
		return nil
	}
	return c.Transcript.Notes
}

// MessageAt reads one message of the log.
func (c *Conversation) MessageAt(ctx context.Context, index uint32) (*compactordv1.LoggedMessage, error) {
	answer, err := c.Sessions.ListMessages(ctx, &compactordv1.ListMessagesRequest{
		SessionId: c.Session, FromIndex: index, PageSize: 1,
	})
	if err != nil {
		return nil, err
	}
	if len(answer.GetMessages()) == 0 {
		return nil, api.AsReason(errors.New("the log ends before a message that it should hold"), "STORE_CORRUPT")
	}
	return answer.GetMessages()[0], nil
}

// hintImport puts a file into a session that is called after it.
func hintImport(file string) terminal.Hint {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '-'
		}
		return r
	}, name)
	// What begins like a flag would be taken for one.
	name = strings.TrimLeft(name, "-")
	if name == "" || file == terminal.StandardInput {
		name = "new"
	}
	if strings.HasPrefix(file, "-") && file != terminal.StandardInput {
		file = "." + string(filepath.Separator) + file
	}
	return terminal.Command("import", file, "--session", name[:min(len(name), maxSessionName)])
}

// maxSessionName is how long a session's id may be.
const maxSessionName = 128

// Create makes the session, and returns its policy.
func (c *Conversation) Create(ctx context.Context, policy *compactordv1.Policy) (*compactordv1.Policy, error) {
	answer, err := c.Sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: c.Session, Policy: policy})
	return answer.GetSession().GetResolvedPolicy(), err
}
