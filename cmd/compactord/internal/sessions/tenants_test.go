package sessions_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// owners are the tenants of the tests. The first one is that of callers without a tenant.
var owners = []string{"", "one", "two"}

// of runs the program on a store for a tenant.
func of(t *testing.T, store, owner string, args ...string) programtest.Answer {
	t.Helper()
	args = append(args, "--store", store)
	if owner != "" {
		args = append(args, "--tenant", owner)
	}
	return programtest.Ran(t, args...)
}

// word is in the messages of a tenant, and in no others.
func word(owner string) string { return "belongsto" + owner + "ortonobody" }

// shared is a store in which each tenant has a session of the same name.
func shared(t *testing.T) (store string) {
	t.Helper()
	store = anystore.Place(t)
	for _, owner := range owners {
		talk := strings.ReplaceAll(sample.Talk(3), "Fix the failing test", "Fix "+word(owner)+" test")
		require.Contains(t, talk, word(owner))
		of(t, store, owner, "import", sample.File(t, "talk"+owner+".jsonl", talk), "--session", "s").Ends(t, terminal.ExitDone)
	}
	return store
}

// shownOf is what the commands that read show of a tenant's session, without the store that their advice names.
func shownOf(t *testing.T, store, owner string) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{
		{"sessions"},
		{"records", "--session", "s"},
		{"view", "--session", "s"},
		{"search", word(owner), "--session", "s"},
		{"export", "--session", "s", "--to", "markdown"},
		{"recall", "0", "--session", "s"},
	} {
		all.WriteString(of(t, store, owner, args...).Ends(t, terminal.ExitDone).Out)
	}
	return strings.ReplaceAll(all.String(), store, "STORE")
}

// Commands on a store show and change the sessions of the tenant that --tenant names, and those of callers without a tenant
// where it is missing.
func TestCommandsOnTheSessionsOfATenant(t *testing.T) {
	store := shared(t)
	before := map[string]string{}
	for _, owner := range owners {
		before[owner] = shownOf(t, store, owner)
		require.Contains(t, before[owner], word(owner))
		for _, other := range owners {
			require.True(t, other == owner || !strings.Contains(before[owner], word(other)), "%q sees %q", owner, other)
		}
	}
	for _, args := range [][]string{
		{"checkpoint", "--session", "s", "--title", "x"},
		{"pin", "2", "--session", "s"},
		{"fork", "--session", "s", "--as", "f"},
		{"compact", "--session", "s", "--keep-recent-tokens", "100"},
		{"revert", "--session", "s", "--to-point", "2"},
		{"block", "k", "--text", "content", "--session", "s"},
		{"delete", "--session", "f", "--yes"},
	} {
		of(t, store, "one", args...).Ends(t, terminal.ExitDone)
	}
	require.NotEqual(t, before["one"], shownOf(t, store, "one"))
	of(t, store, "one", "delete", "--session", "s", "--yes").Ends(t, terminal.ExitDone)
	of(t, store, "one", "records", "--session", "s").Ends(t, terminal.ExitFailed)
	of(t, store, "three", "records", "--session", "s").Ends(t, terminal.ExitFailed)
	for _, owner := range []string{"", "two"} {
		require.Equal(t, before[owner], shownOf(t, store, owner), "of %q", owner)
	}
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
}

// damageOf changes a message of a tenant in a store.
func damageOf(t *testing.T, store, owner string) {
	t.Helper()
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	at := bytes.Index(content, []byte("Fix "+word(owner)))
	require.Positive(t, at)
	content[at] ^= 1
	require.NoError(t, os.WriteFile(store, content, 0o600))
}

// A check reads the sessions of all tenants, and says whose is damaged.
func TestCheckNamesTheTenant(t *testing.T) {
	anystore.NeedsFile(t, "bytes of the file are changed")
	for _, owner := range owners {
		store := shared(t)
		require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
		damageOf(t, store, owner)
		name := "session s"
		if owner != "" {
			name += " of tenant " + owner
		}
		out := programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "1 problem found").Out
		require.Regexp(t, `^`+name+`: message \d+: .*\n$`, out)
		r := programtest.Ran(t, "check", "--store", store, "--json").Ends(t, terminal.ExitFailed)
		problems, ok := sample.At(t, sample.Document(t, r.Out), "problems").([]any)
		require.True(t, ok)
		require.Len(t, problems, 1)
		require.Equal(t, owner, tenantIn(t, problems[0]))
	}
}

// tenantIn is the tenant that an entry of a document names; empty where it names none.
func tenantIn(t *testing.T, entry any) string {
	t.Helper()
	fields, ok := entry.(map[string]any)
	require.True(t, ok)
	owner, named := fields["tenant"]
	if !named {
		return ""
	}
	name, ok := owner.(string)
	require.True(t, ok)
	return name
}

// What can be read is copied for its tenant, and what is lost of one tenant takes nothing from another.
func TestSalvageKeepsTenantsApart(t *testing.T) {
	anystore.NeedsFile(t, "only a file is salvaged")
	store := shared(t)
	before := map[string]string{}
	for _, owner := range owners {
		before[owner] = shownOf(t, store, owner)
	}
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.db")
	require.Contains(t, programtest.Ran(t, "salvage", store, whole).Ends(t, terminal.ExitDone).Out, "3 of 3 sessions copied whole")
	for _, owner := range owners {
		require.Equal(t, before[owner], shownOf(t, whole, owner), "of %q", owner)
	}
	damageOf(t, store, "one")
	part := filepath.Join(folder, "part.db")
	r := programtest.Ran(t, "salvage", store, part, "--json").Ends(t, terminal.ExitPart)
	list, ok := sample.At(t, sample.Document(t, r.Out), "sessions").([]any)
	require.True(t, ok)
	wholes := map[string]bool{}
	for _, each := range list {
		isWhole, ok := sample.At(t, each, "whole").(bool)
		require.True(t, ok)
		wholes[tenantIn(t, each)] = isWhole
	}
	require.Equal(t, map[string]bool{"": true, "one": false, "two": true}, wholes)
	for _, owner := range []string{"", "two"} {
		require.Equal(t, before[owner], shownOf(t, part, owner), "of %q", owner)
	}
	require.Contains(t, programtest.Ran(t, "check", "--store", part).Ends(t, terminal.ExitDone).Out, "is sound")
	r = programtest.Ran(t, "salvage", store, part+"2").Ends(t, terminal.ExitPart)
	require.Contains(t, r.Out, "session s of tenant one: ")
}
