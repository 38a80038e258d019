package agenttools_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/agenttools"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What calls answer, the cases of all clients hold: see e2e/clients.

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{agenttools.Recall, agenttools.Search, agenttools.Fold, agenttools.DMail} {
		definition, err := agenttools.DefinitionOf(name)
		require.NoError(t, err)
		require.NotEmpty(t, definition.Description)
	}
	_, err := agenttools.DefinitionOf("rm")
	require.ErrorIs(t, err, agenttools.ErrNoTool)
}

// A model reads no errors that it cannot mend: they are for the program.
func TestOutagesAreErrors(t *testing.T) {
	t.Parallel()
	conn, err := grpc.NewClient("passthrough:///nobody", grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	tools := &agenttools.Tools{
		Sessions: compactordv1.NewSessionServiceClient(conn), Compactions: compactordv1.NewCompactionServiceClient(conn), SessionID: "s",
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, arguments := range map[string]string{
		agenttools.Recall: `{"reference": "#1"}`, agenttools.Search: `{"words": "x"}`, agenttools.Fold: `{"checkpoint_id": 1, "result": "x"}`,
	} {
		_, err := tools.Call(ctx, tool, arguments)
		require.Equal(t, codes.Canceled, status.Code(err), tool)
		output, err := tools.Call(ctx, tool, `{"wrong": 1}`)
		require.NoError(t, err)
		require.True(t, output.IsError)
		require.Contains(t, output.Text, `there is no argument "wrong"`)
	}
	_, err = tools.Call(ctx, agenttools.DMail, `{}`)
	require.ErrorIs(t, err, agenttools.ErrNoTool)
}

// Texts hold values as they are, also such as look like placeholders.
func TestTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, `there is no argument "{names}"; there are a, b.`, agenttools.Text("argument_unknown", "name", "{names}", "names", "a, b"))
}
