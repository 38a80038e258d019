package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A log line of a test that tells of success is not why its package failed; what the package said last may be.
func TestFailedPackagesSayWhy(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Let two sessions run at once.")
	c.runs("make test-integration | tail -4", "    sessions_test.go:374: Both sessions were archived successfully\nFAIL\nFAIL\tshop/integration\t15.2s\nFAIL", true)
	blocked := below(c.summary(t, ""), "### Blocked")
	require.Contains(t, blocked, "FAIL shop/integration")
	require.NotContains(t, blocked, "successfully")

	var d conversation
	d.user("Let two sessions run at once.")
	usage := strings.Repeat("  -h, --help   help for start\n", 20)
	d.runs("make test-integration | tail -24", usage+"\nsession conflict: the branch has commits of another one\nFAIL\nFAIL\tshop/integration\t3.2s\nFAIL", true)
	require.Contains(t, below(d.summary(t, ""), "### Blocked"), "session conflict: the branch has commits of another one ⏎ FAIL shop/integration")

	// What was expected to succeed did not.
	var e conversation
	e.user("Let two sessions run at once.")
	e.runs("make test-integration", "    sessions_test.go:374: expected a successful login, got none\nFAIL\nFAIL\tshop/integration\t15.2s\nFAIL", true)
	require.Contains(t, below(e.summary(t, ""), "### Blocked"), "expected a successful login")
}

// A runner that cannot start is no obstacle any more once a script ran the same test.
func TestScriptsRunTheTestsOfARunner(t *testing.T) {
	t.Parallel()
	start := func() *conversation {
		c := &conversation{}
		c.user("Mend the search for the maximum.")
		c.runs("python -m pytest shop/test_tools.py::test_golden_section -x", "TypeError: setup.cfg: config option 'testpaths' expects a list, got str", true)
		return c
	}
	require.Contains(t, start().summary(t, ""), "failed: ")
	c := start()
	c.runs(`python -c "import shop.test_tools as t; t.test_golden_section()"`, "ran", false)
	require.NotContains(t, c.summary(t, ""), "failed: ")
	c = start()
	c.runs(`python -c "import shop.test_tools as t; t.test_other_section()"`, "ran", false)
	require.Contains(t, c.summary(t, ""), "failed: ", "it ran another test")
	c = start()
	c.runs("grep -rn test_golden_section shop", "shop/test_tools.py:4:def test_golden_section():", false)
	require.Contains(t, c.summary(t, ""), "failed: ", "it only looked for the test")
}

// An installation that failed and was not tried again is given up.
func TestInstallationsAreGivenUp(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Mend the search for the maximum.")
	c.runs("pip install 'setuptools<66'", "ReadTimeoutError: HTTPSConnectionPool(host='files.example.org'): Read timed out.", true)
	require.Contains(t, c.summary(t, ""), "failed: ")
	for range 20 {
		c.runs("sed -i s/a/b/ shop/tools.py", "ok", false)
	}
	require.NotContains(t, c.summary(t, ""), "failed: ")
}
