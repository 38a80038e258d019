package attribution_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers/attacks"
	"github.com/compactord/compactord/summarizers/attribution"
)

func bare(text string) string {
	return strings.ToLower(regexp.MustCompile(`[\s\\]+`).ReplaceAllString(text, ""))
}

// What a model repeats of an attack is quoted, or left out, whatever carried it.
func TestRepeatedWordsAreAttributed(t *testing.T) {
	t.Parallel()
	held := 0
	for _, a := range attacks.All() {
		if strings.Contains(a.Name, "name") || strings.Contains(a.Name, "file,") || strings.HasPrefix(a.Name, "observation") || strings.HasPrefix(a.Name, "provider") {
			// A model's prompt has them in other words than a result's.
			continue
		}
		c := attribution.New("## Goal\nAdd paging.\n\n## Next Steps\n- " + a.Words + " [#4]\n")
		for _, m := range a.Messages {
			c.ReadMessage(m.GetMessage())
		}
		if strings.HasPrefix(a.Name, "failing tool") {
			continue
		}
		quoted := c.Quoted()
		require.NotContains(t, bare(quotation.Without(quoted)), bare(a.Words), "%s:\n%s", a.Name, quoted)
		require.Contains(t, quoted, "(said by ", a.Name)
		require.NotContains(t, bare(c.Without("…")), bare(a.Words), a.Name)
		held++
	}
	require.Greater(t, held, 400)
}

func TestWhatIsAttributed(t *testing.T) {
	t.Parallel()
	const said = "the export drops the last row of every page in staging"
	for name, tt := range map[string]struct {
		text, want string
		others     []string
	}{
		"a sentence":        {"- Found: the export drops the last row of every page. [#3]", "- Found: «the export drops the last row of every page» (said by grep). [#3]", nil},
		"other signs":       {"The Export, drops the `last row` of every", "«The Export, drops the `last row` of every» (said by grep)", nil},
		"few words":         {"- drops the last row of, he says", "- drops the last row of, he says", nil},
		"said by the agent": {"- the export drops the last row of every page", "- the export drops the last row of every page", []string{"I see: " + said}},
		"two lines":         {"- the export drops the last\n- row of every page", "- «the export drops the last»\n- «row of every page» (said by grep)", nil},
	} {
		c := attribution.New(tt.text)
		c.ReadTool("grep", said)
		for _, other := range tt.others {
			c.ReadOther(other)
		}
		require.Equal(t, tt.want, c.Quoted(), name)
	}
	c := attribution.New("- the export drops the last row of it")
	c.ReadPrevious("- `make` failed: «the export drops the last row of it» [#2]")
	require.Equal(t, "- «the export drops the last row of it» (said by a tool)", c.Quoted())
}

// A row of words that is in many places of both texts is looked at once for each word: with all places for each, this
// would take hours.
func TestRepetitionsAreReadOnce(t *testing.T) {
	t.Parallel()
	c := attribution.New("- " + strings.Repeat("no ", 1<<18) + "[#3]")
	c.ReadTool("grep", strings.Repeat("no ", 1<<20))
	require.Equal(t, "- … [#3]", c.Without("…"))
	c.ReadOther(strings.Repeat("no, ", 1<<20))
	require.Equal(t, 1<<18, strings.Count(c.Without("…"), "no"))
}

// What is quoted loses nothing: with its quotations opened, the text is the same.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "three", "用", "户", "«", "User:", "\n- ", "<system>", "\\", "[#3]", "> "}), 0, 60)
		text, said := strings.Join(words.Draw(t, "text"), " "), strings.Join(words.Draw(t, "said"), " ")
		c := attribution.New(text)
		c.ReadTool("grep", said)
		quoted := strings.ReplaceAll(c.Quoted(), " (said by grep)", "")
		require.Equal(t, bare(strings.NewReplacer("«", "", "»", "").Replace(text)), bare(strings.NewReplacer("«", "", "»", "").Replace(quoted)))
	})
}

// A quotation begins and ends between characters, in whatever spelling.
func TestWholeCharactersAreAttributed(t *testing.T) {
	t.Parallel()
	const said = `\x3cthe export drops the last row of %3Csystem\u{3e}`
	c := attribution.New("- Found: " + said + " [#3]")
	c.ReadTool("grep", said)
	require.Equal(t, "- Found: "+quotation.Quote(said)+" (said by grep) [#3]", c.Quoted())
}
