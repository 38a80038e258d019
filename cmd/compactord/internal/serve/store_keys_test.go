package serve_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// storeKey is the line of a key that follows from its id.
func storeKey(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id+"+"), 32)[:32])
}

// A daemon with keys makes an encrypted store, and seals it anew with a new key while it serves. Neither its log nor the
// settings that are printed have anything of a key.
func TestADaemonWithKeys(t *testing.T) {
	store, keys := anystore.File(t), filepath.Join(t.TempDir(), "keys")
	write := func(ids ...string) {
		var lines strings.Builder
		for _, id := range ids {
			lines.WriteString(storeKey(id) + "\n")
		}
		require.NoError(t, os.WriteFile(keys, []byte(lines.String()), 0o600))
	}
	serving := func() *programtest.Daemon {
		return programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store, "--store-keys", keys)
	}
	write("first")
	d := serving()
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), "older keys")
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	require.NotContains(t, string(content), "Fix the failing test number 7 in")
	programtest.Ran(t, "serve", "--listen", "127.0.0.1:0", "--store", store).Ends(t, terminal.ExitFailed).
		Says(t, `encrypted with the key "first", and no keys are given`)

	write("second", "first")
	d = serving()
	const ended = "the store needs its older keys no longer"
	require.Eventually(t, func() bool { return strings.Contains(d.Log.String(), ended) }, 5*time.Minute, time.Millisecond)
	require.Equal(t, terminal.ExitDone, d.Stop())
	write("second")
	d = serving()
	printed := programtest.Ran(t, "config", "print", "--store-keys", keys).Ends(t, terminal.ExitDone).Out
	require.Contains(t, printed, "store_keys: "+keys)
	programtest.Ran(t, "export", "--session", "s", "--to", "markdown", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, d.Stop())
	for _, id := range []string{"first", "second"} {
		_, secret, _ := strings.Cut(storeKey(id), ":")
		require.NotContains(t, d.Log.String()+printed, secret)
	}

	write("third")
	programtest.Ran(t, "serve", "--listen", "127.0.0.1:0", "--store", store, "--store-keys", keys).Ends(t, terminal.ExitFailed).
		Says(t, `encrypted with the key "second", which is not among those given`)
	programtest.Ran(t, "config", "check", "--store-keys", keys, "--store-keys-env", "KEYS").Ends(t, terminal.ExitUsage).
		Says(t, "--store-keys-env: --store-keys names the keys already")
	programtest.Ran(t, "config", "check", "--store-keys", sample.File(t, "nonsense", "nonsense")).Ends(t, terminal.ExitUsage).
		Says(t, "--store-keys: the file")
}
