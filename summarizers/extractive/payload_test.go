package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// TestWrappedResults: a harness can put the output and the status of a command into an object, or between tags.
func TestWrappedResults(t *testing.T) {
	t.Parallel()
	for result, told := range map[string]string{
		`{"output":"dock.go:8: undefined: Berth\n","metadata":{"exit_code":1,"duration_seconds":0.4}}`: "undefined: Berth",
		`{"stdout":"","stderr":"dock.go:8: undefined: Berth","exitCode":2,"id":"x"}`:                   "undefined: Berth",
		`{"returncode": 1, "output": "the quay is \"closed\""}`:                                        `the quay is "closed"`,
		"<returncode>1</returncode>\n<output>\nthe quay is closed\n</output>":                          "the quay is closed",
		"<output>the quay is closed</output><exit_code>3</exit_code>":                                  "the quay is closed",
		`{"content":[{"type":"text","text":"the quay is closed"}],"isError":true}`:                     "the quay is closed",
	} {
		var c conversation
		c.user("Please build it.")
		c.runs("go build ./...", result, false)
		text := c.summary(t, "")
		require.Empty(t, below(text, "### Done"), result)
		require.Contains(t, below(text, "### Blocked"), told, result)
		require.NotContains(t, text, "metadata")
		require.NotContains(t, text, "</")
		require.NotContains(t, text, "exit code")
	}
	for _, result := range []string{
		`{"output":"Built 31 files","metadata":{"exit_code":0}}`,
		`{"stdout":"Error: expected by a test\n31 tests passed","exit_code":0}`,
		"<exit_code>0</exit_code><stdout>Built 31 files</stdout><stderr></stderr>",
		`[{"type":"text","text":"Built 31 files"}]`,
	} {
		var c conversation
		c.user("Please build it.")
		c.runs("go build ./...", result, false)
		text := c.summary(t, "")
		require.Empty(t, below(text, "### Blocked"), result)
		require.NotContains(t, text, "metadata")
		require.Contains(t, below(text, "### Done"), "Ran `go build ./...`: ", result)
	}
}

// TestWrappedResultsAreQuotedWithoutTheirWrapper: quotes are lines of the text, as they were before it was encoded.
func TestWrappedResultsAreQuotedWithoutTheirWrapper(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`{"output":"const maxBerths = 40 // of \"west\" quay\nfunc berthOf(boat Boat) Berth {\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`,
		`{"stdout":"const maxBerths = 40 // of \"west\" quay\nfunc berthOf(boat Boat) Berth {","stderr":"","interrupted":false}`,
		`[{"type":"text","text":"const maxBerths = 40 // of \"west\" quay\nfunc berthOf(boat Boat) Berth {"}]`,
		"<returncode>0</returncode>\n<output>const maxBerths = 40 // of \"west\" quay\nfunc berthOf(boat Boat) Berth {</output>",
	} {
		var c conversation
		c.user("Port the harbour.")
		c.tool("look", `{"at":"harbour"}`, result, false)
		c.tool("grep", `{"pattern":"maxBerths"}`, result, false)
		lines := c.summary(t, "")
		require.Contains(t, lines, `const maxBerths = 40 // of "west" quay`, result)
		require.Contains(t, lines, "func berthOf(boat Boat) Berth {")
		for _, wrapper := range []string{"metadata", "exit_code", "stdout", "<output>", "returncode", `"text"`} {
			require.NotContains(t, lines, wrapper)
		}
	}
}

// TestObjectsThatAreNoWrapper: an object of the tool's own is quoted as it is.
func TestObjectsThatAreNoWrapper(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`{"output":"maxBerths","berths":["berthOf"],"metadata":{"quay":"west"}}`,
		`{"content":"maxBerths","author":"berthOf","success":true}`,
		`[{"type":"text","text":"maxBerths"},{"type":"boat","name":"berthOf"}]`,
		`{"exit_code":0,"output":"maxBerths \"berthOf`,
	} {
		var c conversation
		c.user("Port the harbour.")
		c.tool("grep", `{"pattern":"quay"}`, result, false)
		require.Contains(t, strings.Join(evidenceOf(c.summary(t, "")), "\n"), result)
	}
}

// TestSecretsInAWrapperAreNotQuoted: a key beside a text can show that it is a secret.
func TestSecretsInAWrapperAreNotQuoted(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the harbour.")
	c.tool("lookup", `{"at":"harbour"}`, `{"metadata":{"kind":"PASSWORD"},"exit_code":0,"output":"s3cretPassw0rd_Value9"}`, false)
	req := &summarizers.Request{Messages: c.log, MaxTokens: 2000}
	require.Contains(t, summarize(t, req), "s3cretPassw0rd_Value9")
	req.Redact = func(text string) string {
		if strings.Contains(text, "PASSWORD") {
			return strings.ReplaceAll(text, "s3cretPassw0rd_Value9", "[REDACTED]")
		}
		return text
	}
	require.NotContains(t, summarize(t, req), "s3cretPassw0rd")
}
