// Package inspect holds the command that shows a transcript or a session in a browser.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/inspector"
	"github.com/compactord/compactord/service/relay"
)

// Command is `compactord inspect`.
type Command struct {
	conversation.Source
	conversation.PolicyFlags
	Compact bool   `help:"Compact first. This changes the session of --session."`
	Write   bool   `help:"Let the page change sessions of a daemon or a store: compact, prune, pin, checkpoint, revert, undo."`
	Export  string `help:"Write the page to one HTML file, which needs no daemon, instead of serving it; - is standard output." placeholder:"PATH"`
	Redact  bool   `default:"true" help:"With --export: replace secrets by placeholders." negatable:""`
	Open    bool   `default:"true" help:"Open a browser if standard output is a terminal." negatable:""`
	terminal.Output
}

// Help is printed below the flags.
func (c *Command) Help() string {
	return `Serves a page on a free port of 127.0.0.1 until Ctrl-C, and prints its address, which has a token of this run. The page shows
log and view side by side, see 'compactord help inspector'. It changes nothing, unless --write is given with --session. A FILE is loaded into a temporary store; with
--compact, the page shows what a compaction would make of it. A store of --store is in use as long as the command runs.

With --export, the page and all that it shows go into one file of at most 25 MB, which makes no request to anybody. What is left out
to fit is said on stderr, and in the page. Secrets are replaced as in summaries, unless --no-redact is given: no rule finds
all of them, so look at the file before you send it.

The JSON document holds address and session or, with --export, file, bytes, secrets (how many texts have one replaced) and
left_out.`
}

// Run serves or exports the page.
func (c *Command) Run(ctx context.Context, a *api.App) (err error) {
	switch {
	case c.Export == "" && a.Given["export"]:
		return terminal.Usagef("--export: is blank")
	case c.Export == "" && a.Given["redact"]:
		return terminal.Usagef("--redact and --no-redact need --export: the page itself shows what is stored")
	case c.Export == standardOutput && c.JSON:
		return terminal.Usagef("--export - writes the page to standard output: leave out --json")
	case c.Write && c.File != "":
		return terminal.Usagef("--write needs --session: a file is never changed")
	case c.Write && c.Export != "":
		return terminal.Usagef("--write and --export exclude each other: a page in a file changes nothing")
	case c.File == "" && !c.Compact && c.Policy() != nil:
		return terminal.Usagef("--preset, --policy and the other flags of the policy need a file or --compact")
	}
	if err := c.writable(); err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	conv, err := c.Source.Open(ctx, a, c.Policy(), p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	if err := c.prepare(ctx, conv, p); err != nil {
		return err
	}
	if c.Export != "" {
		return c.export(ctx, a, conv, p)
	}
	p.Clear()
	return c.serve(ctx, a, conv)
}

// prepare names a file's session after the file, compacts where that is asked for, and fails where there is no session.
func (c *Command) prepare(ctx context.Context, conv *conversation.Conversation, p *terminal.Progress) error {
	if conv.Transcript != nil {
		_, err := conv.Sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
			SessionId: conv.Session, Title: titleOf(conv.Transcript.Name), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"title"}},
		})
		if err != nil {
			return err
		}
	} else if _, err := conv.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: conv.Session}); err != nil {
		return api.RefusedFlags(err)
	}
	if !c.Compact {
		return nil
	}
	request := conversation.CompactRequest(conv.Session, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL)
	request.Policy = c.Policy()
	done, err := conv.Compact(ctx, request, p)
	if err == nil && done.Skipped != nil {
		// The page can be shown anyway.
		p.Say("not compacted: %s", done.Skipped.GetMessage())
	}
	return conv.WhenInterrupted(err)
}

// maxTitle is the longest title of a session, in bytes.
const maxTitle = 512

// titleOf returns the title of the session that holds a file.
func titleOf(file string) string {
	title := strings.ToValidUTF8(filepath.Base(file), "\uFFFD")
	return strings.ToValidUTF8(title[:min(len(title), maxTitle)], "")
}

// servedJSON is the document of a page that is served.
type servedJSON struct {
	Address string `json:"address"`
	Session string `json:"session"`
}

// serve serves the page until the context ends.
func (c *Command) serve(ctx context.Context, a *api.App, conv *conversation.Conversation) error {
	served, err := relay.New(conv.Conn(), inspector.Writing(c.Write), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot serve the page on 127.0.0.1: %w", err)
	}
	place := "http://" + listener.Addr().String() + inspector.Path + "#/session/" + url.PathEscape(conv.Session) +
		"?token=" + served.Token()
	ended := make(chan error, 1)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() { ended <- served.Run(running, listener) }()
	defer stop()
	if err := c.announce(a, conv, place); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	closed := func() error { return nil }
	if c.Open && a.OutTerminal && !c.JSON {
		closed = openBrowser(ctx, a, place)
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Ctrl-C is the usual end, and no failure.
		stop()
		err = <-ended
	}
	return errors.Join(err, closed())
}

// announce prints the address at once: nothing else is printed until the end.
func (c *Command) announce(a *api.App, conv *conversation.Conversation, place string) error {
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, servedJSON{place, conv.Session}); err != nil {
			return err
		}
		return a.Out.Flush()
	}
	fmt.Fprintf(a.Out, "The inspector of %s is at %s\n", terminal.InLine(conv.Name()), place)
	if a.OutTerminal && !c.Quiet {
		fmt.Fprintln(a.Out, "Ctrl-C ends it.")
	}
	return a.Out.Flush()
}
