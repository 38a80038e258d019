package mcp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/agenttools"
	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// definitions are the tools that only this server has: in the loops of agents, the clients do the same between two steps.
//
//go:embed tools.json
var definitions []byte

// tool is a tool of the server.
type tool struct {
	*agenttools.Definition
	// writes says that the tool changes what views show, and takesBack that it hides what was said.
	writes, takesBack bool
	call              func(ctx context.Context, arguments string) (agenttools.Output, error)
}

// toolsOf returns the tools for the model of a session. Those that change what views show are offered only with write.
func toolsOf(client *api.Client, session string, write bool) ([]tool, error) {
	own, err := agenttools.ParseDefinitions(definitions)
	if err != nil {
		return nil, err
	}
	reading := &agenttools.Tools{Sessions: client.Sessions, Compactions: client.Compactions, SessionID: session}
	points := &points{client: client, session: session}
	run := map[string]func(context.Context, agenttools.Arguments) (string, error){
		"list_checkpoints": points.list, "create_checkpoint": points.create,
		"revert_to_checkpoint": points.revert, "pin_message": points.pin,
	}
	var all []tool
	for _, name := range []string{agenttools.Recall, agenttools.Search, agenttools.Fold} {
		definition, err := agenttools.DefinitionOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, tool{
			Definition: definition, writes: name == agenttools.Fold,
			call: func(ctx context.Context, arguments string) (agenttools.Output, error) {
				return reading.Call(ctx, name, arguments)
			},
		})
	}
	for _, definition := range own {
		all = append(all, tool{
			Definition: definition,
			writes:     definition.Name != "list_checkpoints", takesBack: definition.Name == "revert_to_checkpoint",
			call: func(ctx context.Context, arguments string) (agenttools.Output, error) {
				return call(ctx, definition, arguments, run[definition.Name])
			},
		})
	}
	return slices.DeleteFunc(all, func(t tool) bool { return t.writes && !write }), nil
}

// call checks the arguments and runs a tool of this server.
func call(
	ctx context.Context, definition *agenttools.Definition, written string, run func(context.Context, agenttools.Arguments) (string, error),
) (agenttools.Output, error) {
	given, err := definition.Parse(written)
	text := ""
	if err == nil {
		text, err = run(ctx, given)
	}
	if err == nil {
		return agenttools.Output{Text: text}, nil
	}
	if agenttools.IsOutage(err) {
		return agenttools.Output{}, err
	}
	return agenttools.Output{Text: "Nothing was done: " + status.Convert(err).Message(), IsError: true}, nil
}

// described is how the server lists the tool.
func (t tool) described() *sdk.Tool {
	closed, destructive := false, t.takesBack
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.Parameters,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.writes, DestructiveHint: &destructive, OpenWorldHint: &closed},
	}
}

// handle answers a call. What went wrong is a result too, for the model to read: a client shows it no errors of the protocol.
func (t tool) handle(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	output, err := t.call(ctx, string(req.Params.Arguments))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		output = agenttools.Output{Text: fmt.Sprintf("The conversation cannot be reached now: %v.", outage(err)), IsError: true}
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: output.Text}}, IsError: output.IsError}, nil
}

// outage is the error of a call without what a person could do, which is nothing for a model.
func outage(err error) error {
	var failed *api.CallError
	if errors.As(err, &failed) {
		return failed
	}
	return err
}
