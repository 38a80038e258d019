package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTemplate(t *testing.T) {
	v := &verifier{root: t.TempDir()}
	require.NoError(t, write(v.root, "buf.gen.yaml", `
version: v2
inputs: [{directory: proto}]
plugins:
  - local: go
    out: proto
  - local: [python, script.py]
    out: clients/python/src
    types: &contract [compactord.v1]
  - local: es
    out: clients/ts/src/gen
    opt: [target=ts]
    types: *contract
`))
	const (
		begin  = `{"inputs":[{"directory":"proto"}],"plugins":[{"local":"go","out":"proto"}`
		python = `,{"local":["python","script.py"],"out":"clients/python/src","types":["compactord.v1"]}`
		es     = `,{"local":"es","opt":["target=ts"],"out":"clients/ts/src/gen","types":["compactord.v1"]}`
		end    = `],"version":"v2"}`
	)
	for want, without := range map[string][]client{
		begin + python + es + end: nil,
		begin + es + end:          {pythonClient()},
		begin + python + end:      {typescriptClient()},
		begin + end:               clients(),
	} {
		template, err := v.template("buf.gen.yaml", without)
		require.NoError(t, err)
		require.JSONEq(t, want, template)
	}
	_, err := v.template("buf.gen.other.yaml", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A template with plugins of one client only needs no call of buf without that client.
func TestTemplateOfNothing(t *testing.T) {
	template, err := withoutPlugins([]byte("plugins: [{local: es, out: clients/ts/src/gen}]"), clients())
	require.NoError(t, err)
	require.Empty(t, template)
	_, err = withoutPlugins([]byte("plugins: ["), nil)
	require.Error(t, err)
}
