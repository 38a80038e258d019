package sessions_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestCheckFindsDamage(t *testing.T) {
	store := sample.StorePath(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	require.Contains(t, sample.Document(t, programtest.Ran(t, "check", "--store", store, "--json").Ends(t, terminal.ExitDone).Out), "problems")
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	// A message that the head did not count.
	damaged := bytes.ReplaceAll(content, []byte("Fix the failing test number 7 in"), []byte("Fix the failing test number 7 \xff\xfe"))
	require.NotEqual(t, content, damaged)
	require.NoError(t, os.WriteFile(store, damaged, 0o600))
	r := programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitFailed).Says(t, " found in "+store)
	require.NotEmpty(t, r.Out)
	r = programtest.Ran(t, "check", "--store", store, "--json").Ends(t, terminal.ExitFailed)
	problems, ok := sample.At(t, sample.Document(t, r.Out), "problems").([]any)
	require.True(t, ok)
	require.NotEmpty(t, problems)
}
