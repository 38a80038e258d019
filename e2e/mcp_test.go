package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mcpClient is a client of `compactord mcp`, over real pipes.
type mcpClient struct {
	t *testing.T
	*mcp.ClientSession
}

func connectMCP(t *testing.T, arguments ...string) *mcpClient {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	// Close ends it, after the context of the test has ended.
	server := exec.CommandContext(context.WithoutCancel(t.Context()), compactord, append([]string{"mcp"}, arguments...)...)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return &mcpClient{t: t, ClientSession: session}
}

func (c *mcpClient) names() []string {
	c.t.Helper()
	listed, err := c.ListTools(c.t.Context(), nil)
	require.NoError(c.t, err)
	names := make([]string, len(listed.Tools))
	for i, tool := range listed.Tools {
		names[i] = tool.Name
	}
	return names
}

// call calls a tool and returns its text.
func (c *mcpClient) call(name, arguments string) (text string, isError bool) {
	c.t.Helper()
	result, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	require.NoError(c.t, err)
	require.Len(c.t, result.Content, 1)
	content, ok := result.Content[0].(*mcp.TextContent)
	require.True(c.t, ok)
	return content.Text, result.IsError
}

func (c *mcpClient) says(wanted, name, arguments string) {
	c.t.Helper()
	text, isError := c.call(name, arguments)
	require.False(c.t, isError, text)
	require.Contains(c.t, text, wanted)
}

func (c *mcpClient) refuses(wanted, name, arguments string) {
	c.t.Helper()
	text, isError := c.call(name, arguments)
	require.True(c.t, isError, text)
	require.Contains(c.t, text, wanted)
}

// An agent's model reads by MCP what its context no longer holds, and changes nothing.
func TestMCPReads(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Create("s", daemontest.By("extractive", compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL, 500), daemontest.Working(5, 4000)...)
	_, err := d.Compact(t.Context(), daemontest.Request("s"))
	require.NoError(t, err)
	records := len(d.Records("s"))

	c := connectMCP(t, "--session", "s", "--addr", d.Address)
	require.Equal(t, []string{"list_checkpoints", "recall_content", "search_messages"}, c.names())
	c.says(daemontest.Mark(3)+"\n", "recall_content", `{"reference": "[#3]", "first_line": 1, "line_count": 2}`)
	c.says("read on with first_byte 60", "recall_content", `{"reference": "#3", "max_bytes": 60}`)
	c.says("#3.0.0 tool read", "search_messages", `{"words": "`+daemontest.Mark(3)+`"}`)
	c.says("no checkpoints", "list_checkpoints", `{}`)
	c.refuses("Nothing was read: ", "recall_content", `{"reference": "#999"}`)
	c.refuses(`there is no argument "x"`, "search_messages", `{"x": 1}`)
	c.refuses("limit must be a whole number from 1 to 100", "list_checkpoints", `{"limit": 0}`)
	_, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "pin_message", Arguments: json.RawMessage(`{"reference": "#1"}`)})
	require.ErrorContains(t, err, "pin_message")
	require.Len(t, d.Records("s"), records)
}

func TestMCPWrites(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Create("s", daemontest.By("extractive", compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL, 500), daemontest.Working(3, 400)...)
	c := connectMCP(t, "--session", "s", "--write", "--addr", d.Address)
	require.Equal(t, []string{
		"create_checkpoint", "fold_since", "list_checkpoints", "pin_message", "recall_content", "revert_to_checkpoint", "search_messages",
	}, c.names())

	c.says("This is checkpoint 1.", "create_checkpoint", `{"title": "before the\nsearch"}`)
	c.says("Checkpoint 1, before message #13: before the search", "list_checkpoints", "{}")
	c.says("Pinned: #2, #3.", "pin_message", `{"reference": "[#2]"}`)
	c.says("It is pinned already.", "pin_message", `{"reference": "#3"}`)
	c.says("No longer pinned: #2, #3.", "pin_message", `{"reference": "#3", "remove": true}`)
	c.says("It was not pinned.", "pin_message", `{"reference": "#3", "remove": true}`)
	c.refuses("reference must name a whole message", "pin_message", `{"reference": "#3.0"}`)
	c.refuses("Nothing was done: ", "pin_message", `{"reference": "#900"}`)

	appended, err := d.Sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: daemontest.Working(1, 100)[1:],
	})
	require.NoError(t, err)
	require.Equal(t, uint32(17), appended.GetNextIndex())
	c.refuses("missing: message", "revert_to_checkpoint", `{"checkpoint_id": 1}`)
	c.refuses("Nothing was done: ", "revert_to_checkpoint", `{"checkpoint_id": 9, "message": "x"}`)
	c.says("back at checkpoint 1: 4 messages put aside", "revert_to_checkpoint", `{"checkpoint_id": 1, "message": "It was in main.go."}`)
	view := d.View("s")
	require.Contains(t, view[len(view)-1].GetMessage().GetParts()[0].GetText().GetText(), "It was in main.go.")
	c.says("taken back by a revert", "recall_content", `{"reference": "#14"}`)
}

// A model reads that its daemon is gone; the server lives on, and finds it again.
func TestMCPOutlivesItsDaemon(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Create("s", nil, daemontest.Working(1, 100)...)
	c := connectMCP(t, "--session", "s", "--addr", d.Address)
	c.says(daemontest.Mark(1), "recall_content", `{"reference": "#1"}`)
	d.Stop()
	c.refuses("The conversation cannot be reached now: ", "recall_content", `{"reference": "#1"}`)
}

// What is wrong before the server runs is said to who starts it.
func TestMCPNeedsASession(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	_, messages := run(t, 1, "mcp", "--session", "none", "--addr", d.Address)
	require.Contains(t, messages, "SESSION_NOT_FOUND")
	_, messages = run(t, 2, "mcp", "--addr", d.Address)
	require.Contains(t, messages, "--session")
}

// The server ends with its client, without an error, and takes lines that are no JSON-RPC without a crash.
func TestMCPEndsWithItsInput(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Create("s", nil, daemontest.Working(1, 100)...)
	server := exec.CommandContext(t.Context(), compactord, "mcp", "--session", "s", "--addr", d.Address)
	server.Stdin = strings.NewReader("")
	out, err := server.Output()
	require.NoError(t, err)
	require.Empty(t, out)

	server = exec.CommandContext(t.Context(), compactord, "mcp", "--session", "s", "--addr", d.Address)
	in, err := server.StdinPipe()
	require.NoError(t, err)
	var messages strings.Builder
	server.Stderr = &messages
	require.NoError(t, server.Start())
	_, err = io.WriteString(in, "no JSON\n")
	require.NoError(t, err)
	require.NoError(t, in.Close())
	_ = server.Wait()
	require.NotContains(t, messages.String(), "panic")
	require.NotContains(t, messages.String(), "bug")
}
