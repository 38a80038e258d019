package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive"
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

// TestCommitsAreNotToldAgain: what the agent says of a commit, and the command that made it, are left out where they say no
// more than its line.
func TestCommitsAreNotToldAgain(t *testing.T) {
	t.Parallel()
	const title = "Weigh each crate of the depot once (DEP-31)"
	for answer, stays := range map[string]bool{
		`Committed as "` + title + `".`:                         false,
		"Committed 4d5e6f7.":                                    false,
		`Not committed: "` + title + `".`:                       true,
		"Committed 4d5e6f7 and pushed it to the depot's fork.":  true,
		`Committed "` + title + `"; the scale still needs oil.`: true,
		`Committed "Weigh each crate of the depot twice".`:      true,
	} {
		var c conversation
		c.user("Weigh each crate once in depot/scale.go and commit.")
		c.runs(`git add -A && git commit -m "`+title+`"`, "[main 4d5e6f7] "+title+"\n 1 file changed", false)
		c.says(answer)
		c.user("Now have the scale oiled.")
		c.runs("make oil", "oiled 3 scales", false)
		text := c.summary(t, "")
		require.Contains(t, text, "- Committed 4d5e6f7 «"+title+"» [#1, #2]")
		require.NotContains(t, text, "git commit -m", answer)
		require.Equal(t, stays, strings.Count(strings.ToLower(text), "committed") > 1, "%s\n%s", answer, text)
	}
}

// TestMentionsOfCommitsAreFound: each commit whose hash or title stands in a text is found, wherever it stands.
func TestMentionsOfCommitsAreFound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	words := strings.Fields("weigh crate crates depot a the once (DEP-31) fix: oil scale")
	phrase := func(n int) string {
		list := make([]string, 1+r.IntN(n))
		for i := range list {
			list[i] = words[r.IntN(len(words))]
		}
		return strings.Join(list, " ")
	}
	mentioned := 0
	for range 200 {
		commits := make([][2]string, 1+r.IntN(4))
		for i := range commits {
			commits[i] = [2]string{fmt.Sprintf("%07x", r.IntN(1<<28)), phrase(5)}
		}
		text := phrase(6) + "s" + commits[0][r.IntN(2)] + phrase(3)
		if r.IntN(2) == 0 {
			text = phrase(12)
		}
		for _, c := range commits {
			if strings.Contains(text, c[0]) || strings.Contains(text, c[1]) {
				require.Contains(t, extractive.MentionedCommits(text, commits), c, text)
				mentioned++
			}
		}
	}
	require.Greater(t, mentioned, 100)
}

// TestCommandsThatDoMoreThanCommitAreQuoted: such a command says more than the line about its commit.
func TestCommandsThatDoMoreThanCommitAreQuoted(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Weigh each crate once and commit.")
	c.runs(`make weigh_depot CRATES=depot/crates_of_the_first_quay.json SCALES=depot/scales_of_the_second_quay.json LIMIT=depot/limit_of_the_third_quay.json `+
		`TARE=depot/tare_of_the_fourth_quay.json UNIT=depot/unit_of_the_fifth_quay.json && git commit -qam "Weigh each crate once"`, "[main 4d5e6f7] Weigh each crate once", false)
	c.says("It weighs them once.")
	c.user("Now have the scale oiled.")
	c.runs("make oil", "oiled 3 scales", false)
	require.Contains(t, c.summary(t, ""), "SCALES=depot/scales_of_the_second_quay.json")
}
