// Package mcp holds `compactord mcp`, a server of the Model Context Protocol with tools for one session.
package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Command is `compactord mcp`.
type Command struct {
	Session string `help:"Session that the tools read. They read no other, except for its children." placeholder:"ID" required:""`
	Write   bool   `help:"Also offer tools that change what the model sees: checkpoints, reverts, pins and folds."`
	api.Where
}

// Help is printed below the flags.
func (c *Command) Help() string {
	return `Speaks the Model Context Protocol on stdin and stdout, so that the model of any agent can read again what its context no longer
holds. An agent starts the command itself: name it in the agent's list of MCP servers. It ends when its stdin ends.
'compactord help mcp' has entries for common agents.`
}

// Run serves until stdin ends or the user interrupts.
func (c *Command) Run(ctx context.Context, a *api.App) (err error) {
	client, err := c.Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if _, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session}); err != nil {
		return api.RefusedFlags(err)
	}
	server, err := newServer(client, c.Session, c.Write)
	if err != nil {
		return err
	}
	err = server.Run(ctx, &sdk.IOTransport{Reader: closing(a.Stdin), Writer: flushed{a.Out}})
	if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
		return terminal.ErrInterrupted
	}
	return err
}

// instructions tell a client, and by it the model, what the tools are for.
const instructions = "These tools read this conversation as it was said, also what was summarized, hidden or taken back since. " +
	"A reference such as [#12] in a summary, or in a text that stands in place of content, names the message to read."

func newServer(client *api.Client, session string, write bool) (*sdk.Server, error) {
	offered, err := toolsOf(client, session, write)
	if err != nil {
		return nil, err
	}
	server := sdk.NewServer(
		&sdk.Implementation{Name: terminal.ProgramName, Title: "compactord", Version: terminal.ThisBuild().Version},
		// The tools never change, and nothing is logged to the client: content belongs in results alone.
		&sdk.ServerOptions{Instructions: instructions, Logger: slog.New(slog.DiscardHandler)},
	)
	for _, tool := range offered {
		server.AddTool(tool.described(), tool.handle)
	}
	return server, nil
}

// closing is a reader that can be closed, if what is below it can.
func closing(in io.Reader) io.ReadCloser {
	if closer, ok := in.(io.ReadCloser); ok {
		return closer
	}
	return io.NopCloser(in)
}

// flushed is the buffered stdout. Each message goes out at once.
type flushed struct {
	out interface {
		io.Writer
		Flush() error
	}
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	if err != nil {
		return n, err
	}
	return n, f.out.Flush()
}

func (f flushed) Close() error { return f.out.Flush() }
