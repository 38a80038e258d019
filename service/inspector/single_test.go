package inspector_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/inspector"
)

// What a conversation holds cannot end the block of data, and comes back as it was.
func TestNothingLeavesTheDataOfAFile(t *testing.T) {
	page, err := inspector.Single([]byte(`{"text":"</script><script>alert(1)</script><!-- ]]> \u2028` + "\u2028" + `&amp;"}`))
	require.NoError(t, err)
	_, data, found := strings.Cut(string(page), `<script type="application/json" id="held">`)
	require.True(t, found)
	data, rest, found := strings.Cut(data, "<")
	require.True(t, found)
	require.True(t, strings.HasPrefix(rest, "/script>\n"), "the data ends at its own end")
	require.NotContains(t, data, ">")
	require.NotContains(t, data, "\u2028")
	require.JSONEq(t, `{"text":"</script><script>alert(1)</script><!-- ]]> \u2028\u2028&amp;"}`, data)
}

// The file allows its one script and its one style by their hashes, and names no other file.
func TestAFileAllowsOnlyItself(t *testing.T) {
	file, err := inspector.Single([]byte(`{}`))
	require.NoError(t, err)
	page := string(file)
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(page)
	require.NotNil(t, policy)
	require.True(t, strings.HasPrefix(policy[1], "default-src 'none'; script-src 'sha256-"), policy[1])
	require.NotContains(t, policy[1], "unsafe")
	for _, element := range []string{`<script type="module">([^<]*(?:<[^/][^<]*)*)</script>`, `<style>([^<]*)</style>`} {
		inline := regexp.MustCompile(element).FindAllStringSubmatch(page, -1)
		require.Len(t, inline, 1, element)
		sum := sha256.Sum256([]byte(inline[0][1]))
		require.Contains(t, policy[1], base64.StdEncoding.EncodeToString(sum[:]), element)
	}
	require.Less(t, strings.Index(page, "Content-Security-Policy"), strings.Index(page, "<style"), "the policy holds for all that follows")
	require.NotRegexp(t, `(?i)<(?:link|img|iframe|object|embed|base)\b|\ssrc=|@import|(?-i:\burl\()`, page)
}

var exports = regexp.MustCompile(`(?m)^export (?:async )?(?:function\*?|class|const) (\w+)`)

// What answers in a file has the same functions as what asks a daemon.
func TestAFileAnswersWhatThePageAsks(t *testing.T) {
	namesIn := func(path string) (names []string) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, match := range exports.FindAllStringSubmatch(string(source), -1) {
			names = append(names, match[1])
		}
		slices.Sort(names)
		return names
	}
	require.Equal(t, namesIn("page/api.js"), namesIn("file/api.js"))
}
