// Package conversation opens the conversation that a command works on, a transcript in a file or a session, and reads
// it through the service.
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
	Session string `help:"Session to work on, instead of a file." placeholder:"ID"`
	api.Where
	Reading
}

// Conversation is an opened source.
type Conversation struct {
	*api.Client
	Session string
	// Transcript is the file's content; nil for a session.
	Transcript *Transcript
	// AsOf is the point whose view is read; nil means the present.
	AsOf *uint32
}

// FileSession is the id of the session that holds a file in its temporary store.
const FileSession = "file"

// Open opens the source. It puts a transcript into a temporary store, in a session with the policy. Of a session it
// only keeps the id.
func (s *Source) Open(
	ctx context.Context, a *api.App, policy *compactordv1.Policy, p *terminal.Progress,
) (*Conversation, error) {
	switch {
	case s.File != "" && s.Session != "":
		return nil, terminal.Usagef("give either a file or --session")
	case s.File == "" && s.Session == "":
		return nil, terminal.Usagef("name a transcript file, - for standard input, or a session with --session ID")
	case s.File == "" && (s.Reading != (Reading{}) || a.Given["nth"]):
		return nil, terminal.Usagef("--format, --nth, --strict and --without-compactions need a file")
	case s.File == "":
		c, err := s.Where.Open(ctx, a, false)
		if err != nil {
			return nil, err
		}
		return &Conversation{Client: c, Session: s.Session}, nil
	case a.Given["addr"] || a.Given["store"]:
		return nil, terminal.Advise(terminal.Usagef("--addr and --store need --session: a file is loaded into a temporary store"),
			"To put it into a session: %s", hintImport(s.File))
	}
	if err := s.Check(a); err != nil {
		return nil, err
	}
	return openFile(ctx, a, s.File, s.Reading, policy, p)
}

// openFile puts a transcript into a temporary store. It creates the session first, so that a wrong policy is reported
// before a large file is read.
func openFile(
	ctx context.Context, a *api.App, path string, how Reading, policy *compactordv1.Policy, p *terminal.Progress,
) (conv *Conversation, err error) {
	c, err := a.EmbedTemporary(ctx)
	if err != nil {
		return nil, err
	}
	complete := false
	// A panic must not leave the temporary store behind either.
	defer func() {
		if !complete {
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
		return nil, terminal.NothingError{Why: conv.Transcript.Name + " has no messages"}
	}
	if err := conv.Fill(ctx, p); err != nil {
		return nil, err
	}
	complete = true
	return conv, nil
}

// Fill uploads the file into its session.
func (c *Conversation) Fill(ctx context.Context, p *terminal.Progress) error {
	uploaded, err := Upload(ctx, c.Client, c.Session, 0, c.Transcript, p)
	if err != nil {
		return err
	}
	c.Transcript.AddFindings(uploaded, p)
	return nil
}

// Name returns the conversation's name for people.
func (c *Conversation) Name() string {
	if c.Transcript != nil {
		return c.Transcript.Name
	}
	if c.AsOf != nil {
		return fmt.Sprintf("session %s as of point %d", c.Session, *c.AsOf)
	}
	return "session " + c.Session
}

// Notes report what was left out or changed when the file was read.
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

// hintImport is the command that imports a file into a session with the file's name.
func hintImport(file string) terminal.Hint {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '-'
		}
		return r
	}, name)
	// The parser would take a value that begins with a dash for a flag.
	name = strings.TrimLeft(name, "-")
	if name == "" || file == terminal.StandardInput {
		name = "new"
	}
	if strings.HasPrefix(file, "-") && file != terminal.StandardInput {
		file = "." + string(filepath.Separator) + file
	}
	return terminal.Command("import", file, "--session", name[:min(len(name), maxSessionName)])
}

// maxSessionName is the greatest length of a session's id, in bytes.
const maxSessionName = 128

// Create creates the session and returns its resolved policy.
func (c *Conversation) Create(ctx context.Context, policy *compactordv1.Policy) (*compactordv1.Policy, error) {
	answer, err := c.Sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: c.Session, Policy: policy})
	return answer.GetSession().GetResolvedPolicy(), err
}

// Delete deletes the session, which frees its memory.
func (c *Conversation) Delete(ctx context.Context) error {
	_, err := c.Sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: c.Session})
	return err
}
