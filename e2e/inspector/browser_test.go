package inspector_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// needBrowser returns the programs that drive a browser, or skips the test.
func needBrowser(t *testing.T) (browser, node string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	if node, err = exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(filepath.Join("node_modules", "playwright-core")); err != nil {
		t.Skip("playwright-core is not installed: run npm ci in e2e/inspector")
	}
	return browser, node
}

// browse runs a script with settings and the path of a browser, or skips the test.
func browse(t *testing.T, script string, settings map[string]any) {
	t.Helper()
	browser, node := needBrowser(t)
	settings["executable"], settings["screenshots"] = browser, os.Getenv("COMPACTORD_SCREENSHOTS")
	input, err := json.Marshal(settings)
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), node, script)
	run.Stdin = bytes.NewReader(input)
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log(string(out))
}
