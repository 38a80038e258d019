package e2e_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

// TestAccessExample runs the example of a program that sends the token itself.
func TestAccessExample(t *testing.T) {
	grpcurl := filepath.Join(repo, ".bin", "grpcurl")
	needs(t, "bash", "cat", grpcurl)
	found := blocks(t, document(t, "docs/access.md"), "The token of the daemon's user")
	require.Equal(t, "sh client", found[0].info)
	addr := startDaemon(t, filepath.Dir(compactord),
		"compactord serve --listen "+defaultAddress+" --store "+anystore.Place(t))
	script := strings.ReplaceAll(strings.ReplaceAll(found[0].text, defaultAddress, addr), "grpcurl", grpcurl)
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", script).CombinedOutput()
	require.NoError(t, err, string(out))
	require.True(t, json.Valid(out), string(out))
	out, err = exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(script, "$TOKEN", "x")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "Unauthenticated")
}

// TestAccessTokenExample runs the command that makes a token, and compares the form of its output with the document.
func TestAccessTokenExample(t *testing.T) {
	lines := strings.Split(blocks(t, document(t, "docs/access.md"), "Tokens of other clients")[0].text, "\n")
	command, found := strings.CutPrefix(lines[0], "$ compactord ")
	require.True(t, found)
	out, _ := run(t, 0, strings.Fields(command)...)
	long := regexp.MustCompile(`[0-9a-f]{64}`)
	require.Len(t, long.FindAllString(out, -1), 2)
	form := func(text string) string {
		text = regexp.MustCompile(`[0-9a-f]{4}\.\.\.`).ReplaceAllString(long.ReplaceAllString(text, "DIGITS"), "DIGITS")
		return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllString(text, "TIME")
	}
	require.Equal(t, form(strings.Join(lines[1:], "\n")), form(out))
}

// TestAccessRoles compares the document's table with the roles that RPCs need.
func TestAccessRoles(t *testing.T) {
	described := map[string][]string{}
	for _, row := range rows(t, document(t, "docs/access.md"), "role", "what it allows") {
		for _, name := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(row[1], -1) {
			described[strings.Trim(row[0], "`")] = append(described[strings.Trim(row[0], "`")], name[1])
		}
	}
	needed := map[string][]string{}
	for method, role := range access.Roles {
		if strings.HasPrefix(method, "/compactord.v1.") {
			needed[role.String()] = append(needed[role.String()], method[strings.LastIndexByte(method, '/')+1:])
		}
	}
	for _, names := range []map[string][]string{described, needed} {
		for _, list := range names {
			slices.Sort(list)
		}
	}
	require.Equal(t, needed, described)
}
