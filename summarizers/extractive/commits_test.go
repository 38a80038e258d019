package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommitsAreToldOnce: a commit has one line with its hash and title, which says whether it was pushed where others were.
func TestCommitsAreToldOnce(t *testing.T) {
	t.Parallel()
	const first, second, third = "[main 1a2b3c4] Error: handle the empty page", "[main 2b3c4d5] Count the pages", "[main (root-commit) 3c4d5e6] Begin"
	told := func(line string) string {
		head, title, _ := strings.Cut(line, "] ")
		return "- Committed " + head[strings.LastIndex(head, " ")+1:] + " «" + title + "»"
	}
	commit := func(line string) [2]string {
		return [2]string{`git add -A && git commit -m "$(cat <<'EOF'` + "\n" + line[strings.Index(line, "] ")+2:] + "\nEOF\n)\"", line + "\n 1 file changed, 3 insertions(+)"}
	}
	push := [2]string{"git push", "   1a2b3c4..2b3c4d5  main -> main"}
	for _, tt := range []struct {
		ran  [][2]string
		want string
	}{
		{[][2]string{commit(first), commit(second)}, told(first) + " [#1, #2]\n" + told(second) + " [#3, #4]"},
		{[][2]string{commit(first), push, commit(third)}, told(first) + " [#1, #2]\n- Ran `git push`: «1a2b3c4..2b3c4d5 main -> main» [#3, #4]\n" +
			told(third) + " (not pushed) [#5, #6]"},
		{[][2]string{commit(first), {"git commit --amend --no-edit", second}}, told(second) + " [#3, #4]"},
		{[][2]string{{"git commit -qm 'Count the pages' && git push", second + "\n" + push[1]}}, told(second) + " [#1, #2]\n- Ran `git push`: «1a2b3c4..2b3c4d5 main -> main» [#1, #2]"},
		{[][2]string{{"git commit -qm Count", ""}}, "- Ran `git commit -qm Count`: no output [#1, #2]"},
	} {
		require.Equal(t, tt.want, done(t, tt.ran...))
	}
}

// TestCommitsAreCarried: a merged summary still knows which commits were not pushed.
func TestCommitsAreCarried(t *testing.T) {
	t.Parallel()
	const before = "## Progress\n\n### Done\n- Committed 1a2b3c4 «First» [#3, #4]\n- Committed 2b3c4d5 «Second» (not pushed) [#5, #6]\n"
	var next conversation
	next.runs("ls", "pager.c", false)
	after := func() string {
		for i, m := range next.log {
			m.Index = uint32(20 + i)
		}
		return below(next.summary(t, before), "### Done")
	}
	require.Equal(t, "- Committed 1a2b3c4 «First» [#3, #4]\n- Committed 2b3c4d5 «Second» (not pushed) [#5, #6]", after())
	next.runs("git push", "main -> main", false)
	require.Contains(t, after(), "2b3c4d5 «Second» [#5, #6]")
}
