package stores_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// keyLine is the line of a key that follows from its id.
func keyLine(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id+"+"), 32)[:32])
}

// keyFile writes a file with the keys of these ids.
func keyFile(t *testing.T, ids ...string) string {
	t.Helper()
	var lines []string
	for _, id := range ids {
		lines = append(lines, keyLine(id))
	}
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// said is in the example conversation.
const said = "Fix the failing test number 7 in"

func requireSaid(t *testing.T, file string, want bool) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, bytes.Contains(content, []byte(said)), file)
}

// A store is encrypted, every command on it needs the key, and it becomes plain again.
func TestEncryptAndDecrypt(t *testing.T) {
	store, keys := stored(t, "a"), keyFile(t, "k1")
	whole := exported(t, store, "a")
	requireSaid(t, store, true)
	programtest.Ran(t, "encrypt", "--store", store).Ends(t, terminal.ExitUsage).Says(t, "--store-keys")
	programtest.Ran(t, "decrypt", "--store", store).Ends(t, terminal.ExitFailed).Says(t, "it is not encrypted")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "b", "--store", store, "--store-keys", keys).
		Ends(t, terminal.ExitFailed).Says(t, "it is not encrypted").Says(t, "compactord encrypt")
	r := programtest.Ran(t, "encrypt", "--store", store, "--store-keys", keys).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "1 session")
	requireSaid(t, store, false)

	folder := t.TempDir()
	backup, other := filepath.Join(folder, "it.backup"), filepath.Join(folder, "other.db")
	for _, command := range [][]string{
		{"check", "--store", store},
		{"export", "--session", "a", "--to", "markdown", "--store", store},
		{"backup", backup, "--store", store},
		{"restore", backup, "--store", other},
		{"defrag", "--store", store},
		{"salvage", store, filepath.Join(folder, "salvaged.db")},
	} {
		without := programtest.Ran(t, command...).Ends(t, terminal.ExitFailed)
		without.Says(t, `encrypted with the key "k1", and no keys are given`).Says(t, "--store-keys")
		programtest.Ran(t, append(command, "--store-keys", keyFile(t, "k2"))...).Ends(t, terminal.ExitFailed).
			Says(t, `encrypted with the key "k1", which is not among those given`)
		with := programtest.Ran(t, append(command, "--store-keys", keys)...).Ends(t, terminal.ExitDone)
		switch command[0] {
		case "check":
			require.Contains(t, with.Out, "is sound. Its version is 3, encrypted.")
		case "export":
			require.Equal(t, whole, with.Out)
		}
	}
	for _, made := range []string{backup, other, filepath.Join(folder, "salvaged.db")} {
		requireSaid(t, made, false)
	}
	t.Setenv("COMPACTORD_STORE_KEYS", keys)
	require.Equal(t, whole, exported(t, other, "a"))
	require.Equal(t, whole, exported(t, filepath.Join(folder, "salvaged.db"), "a"))

	programtest.Ran(t, "decrypt", "--store", store).Ends(t, terminal.ExitDone)
	require.NoError(t, os.Unsetenv("COMPACTORD_STORE_KEYS"))
	requireSaid(t, store, true)
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "Its version is 2, plain.")
	require.Equal(t, whole, exported(t, store, "a"))
}

// A new key seals at once, and one encrypt later the old one is not needed.
func TestEncryptWithAnotherKey(t *testing.T) {
	store := stored(t, "a")
	whole := exported(t, store, "a")
	t.Setenv("KEYS_OF_THE_TEST", keyLine("k1"))
	programtest.Ran(t, "encrypt", "--store", store, "--store-keys-env", "KEYS_OF_THE_TEST").Ends(t, terminal.ExitDone)
	t.Setenv("KEYS_OF_THE_TEST", keyLine("k2")+" "+keyLine("k1"))
	programtest.Ran(t, "encrypt", "--store", store, "--store-keys-env", "KEYS_OF_THE_TEST").Ends(t, terminal.ExitDone)
	r := programtest.Ran(t, "export", "--session", "a", "--to", "markdown", "--store", store, "--store-keys", keyFile(t, "k2"))
	require.Equal(t, whole, r.Ends(t, terminal.ExitDone).Out)
}

// Keys that cannot be used are an error of usage that has nothing of them.
func TestStoreKeysThatAreRefused(t *testing.T) {
	store := stored(t, "a")
	open := keyFile(t, "k1")
	require.NoError(t, os.Chmod(open, 0o644))
	_, secret, _ := strings.Cut(keyLine("k1"), ":")
	t.Setenv("KEYS_OF_THE_TEST", secret)
	for says, flags := range map[string][]string{
		"everybody on this machine can read":           {"--store-keys", open},
		"there is no such file":                        {"--store-keys", filepath.Join(t.TempDir(), "none")},
		"the environment has no variable":              {"--store-keys-env", "NO_SUCH_VARIABLE"},
		"the variable KEYS_OF_THE_TEST: line 1: a key": {"--store-keys-env", "KEYS_OF_THE_TEST"},
		"exclude each other":                           {"--store-keys-env", "KEYS_OF_THE_TEST", "--store-keys", open},
	} {
		r := programtest.Ran(t, append([]string{"check", "--store", store}, flags...)...).Ends(t, terminal.ExitUsage).Says(t, says)
		require.NotContains(t, r.Err, secret)
	}
}
