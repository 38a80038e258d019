package sessions_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestCheckFindsDamage(t *testing.T) {
	store := anystore.File(t)
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

// Each damaged message is named once, and a store that is named without its flag is recognized.
func TestCheckNamesWhatIsDamaged(t *testing.T) {
	store := anystore.File(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	for _, number := range []string{"5", "7"} {
		at := bytes.Index(content, []byte("Fix the failing test number "+number+" in"))
		require.Positive(t, at)
		content[at] ^= 1
	}
	require.NoError(t, os.WriteFile(store, content, 0o600))
	out := programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "2 problems found").Out
	require.Regexp(t, `^session s: message \d+: .*\nsession s: message \d+: .*\n$`, out)
	lines := strings.Split(out, "\n")
	require.NotEqual(t, lines[0], lines[1])

	r := programtest.Ran(t, "check", store).Ends(t, terminal.ExitUsage).Says(t, "unexpected argument")
	require.Contains(t, r.Err, "To name a store: compactord check --store "+store+"\n")
	require.NotContains(t, programtest.Ran(t, "check", store+".none").Ends(t, terminal.ExitUsage).Err, "To name a store")
}

// What is left of a file is said in bytes, not in words of a library.
func TestFilesThatAreTooShort(t *testing.T) {
	store := anystore.File(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	require.NoError(t, os.Truncate(store, int64(os.Getpagesize())))
	for _, args := range [][]string{{"check", "--store", store}, {"salvage", store, store + ".new"}} {
		programtest.Ran(t, args...).Ends(t, terminal.ExitFailed).Says(t, fmt.Sprintf("it is incomplete: %d bytes of ", os.Getpagesize()))
	}
}
