package summarizers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

// markings are the ways in which a section is marked.
var markings = map[string]func(title, body string) string{
	"heading":          func(title, body string) string { return "## " + title + "\n" + body },
	"high heading":     func(title, body string) string { return "# " + title + "\n" + body },
	"low heading":      func(title, body string) string { return "###### " + title + ":\n\n" + body },
	"closed heading":   func(title, body string) string { return "### " + title + " ###\n" + body },
	"numbered heading": func(title, body string) string { return "## 3. " + strings.ToUpper(title) + "\n" + body },
	"underlined":       func(title, body string) string { return title + "\n=====\n" + body },
	"dashed":           func(title, body string) string { return title + "\n---\n" + body },
	"bold":             func(title, body string) string { return "**" + title + "**\n" + body },
	"bold with colon":  func(title, body string) string { return "**" + title + "**:\n\n" + body },
	"numbered bold":    func(title, body string) string { return "2) **" + title + ":**\n" + body },
	"underscores":      func(title, body string) string { return "__" + title + "__\n" + body },
	"colon":            func(title, body string) string { return title + ":\n" + body },
	"tag":              func(title, body string) string { return tagged(tagOf(title), "\n"+body+"\n") },
	"indented tag":     func(title, body string) string { return "    " + tagged(tagOf(title), "\n"+body+"\n") },
	"capital tag":      func(title, body string) string { return tagged(strings.ToUpper(tagOf(title)), "\n\n"+body+"\n\n") },
	"inline tag":       func(title, body string) string { return tagged(strings.ReplaceAll(tagOf(title), "_", "-"), body) },
}

func tagOf(title string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(title), "&", "and"), " ", "_")
}

func tagged(tag, text string) string { return "<" + tag + ">" + text + "</" + tag + ">" }

// bodyOf draws the text of a section. Some of its lines look like marks of sections at places where none is valid.
func bodyOf(t *rapid.T, headings []summarizers.Heading, number int) string {
	title := func() string { return rapid.SampledFrom(headings).Draw(t, "quoted").Title }
	lines := []string{fmt.Sprintf("- fact %d, the first", number)}
	for i := range rapid.IntRange(0, 4).Draw(t, "lines") {
		lines = append(lines, rapid.SampledFrom([]string{
			fmt.Sprintf("- fact %d.%d [#%d]", number, i, i),
			"> ## " + title(),
			"They write `<" + tagOf(title()) + ">` and ## " + title() + " for it.",
			"```md\n## " + title() + "\n" + tagged(tagOf(title()), "x") + "\n**" + title() + "**\n```",
			"- ~~~\n  ## " + title() + "\n  </" + tagOf(title()) + ">\n  ~~~",
			"    ## " + title(),
			"- **" + title() + ":** in a list",
			"#12 " + title(),
			"**Note:** " + title(),
			"### Of the model's own\ntext",
			"<file>\nmain.go\n</file>",
		}).Draw(t, "line"))
	}
	return strings.Join(lines, "\n")
}

// answer is a model's text for some sections, and the text to be stored for it.
type answer struct{ text, stored string }

func answerOf(t *rapid.T, headings []summarizers.Heading) answer {
	oneWay := rapid.SampledFrom([]string{"", "tag", "heading", "bold"}).Draw(t, "all the same way")
	first := 0
	for summarizers.Groups(headings, first) {
		first++
	}
	var pieces, stored []string
	for i, h := range headings {
		group := summarizers.Groups(headings, i)
		body := ""
		if !group && (i == first || rapid.Bool().Draw(t, "says something")) {
			body = bodyOf(t, headings, i)
		}
		stored = append(stored, "")
		if body != "" {
			stored[i] = h.Line() + "\n" + body
			if group := groupOf(headings, i); group >= 0 {
				stored[group] = headings[group].Line()
			}
		}
		if body == "" && rapid.Bool().Draw(t, "left out") {
			continue
		}
		way := oneWay
		if way == "" {
			way = rapid.SampledFrom(slices.Sorted(maps.Keys(markings))).Draw(t, "way")
		}
		if body == "" && rapid.Bool().Draw(t, "says that it is empty") && !group {
			nothing := rapid.SampledFrom([]string{summarizers.NothingBelow, "- None.", "* *N/A*", "（无）", "None yet"}).Draw(t, "nothing")
			pieces = append(pieces, markings[way](h.Title, nothing))
		} else {
			pieces = append(pieces, markings[way](h.Title, body))
		}
	}
	pieces = rapid.Permutation(pieces).Draw(t, "order")
	// A text that ends in an empty heading while other sections are missing counts as cut off.
	for i, p := range pieces {
		if strings.Contains(p, fmt.Sprintf("fact %d,", first)) {
			pieces[i], pieces[len(pieces)-1] = pieces[len(pieces)-1], p
		}
	}
	between := rapid.SampledFrom([]string{"\n", "\n\n", "\r\n\r\n"}).Draw(t, "between")
	stored = slices.DeleteFunc(stored, func(section string) bool { return section == "" })
	return answer{strings.Join(pieces, between), strings.Join(stored, "\n\n")}
}

// groupOf returns the heading that groups a section, or -1.
func groupOf(headings []summarizers.Heading, section int) int {
	for i := section - 1; i >= 0; i-- {
		if summarizers.Groups(headings, i) && headings[i].Level < headings[section].Level {
			return i
		}
		if headings[i].Level < headings[section].Level {
			break
		}
	}
	return -1
}

func drawnRequest(t *rapid.T) *summarizers.Request {
	return asksFor(
		rapid.SampledFrom([]summarizers.Kind{summarizers.History, summarizers.TurnPrefix, summarizers.Range}).Draw(t, "kind"),
		sessiontest.WordySections(t),
	)
}

// withoutBlank returns a text without blank lines and without Windows line ends.
func withoutBlank(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// Whatever marks the sections, whatever their order, and whichever empty ones are left out, the summary is accepted,
// and each line is stored in its section. Only sections that say something are stored, and what is stored is accepted.
func TestSectionsAreKnownByTitleOrTag(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		req := drawnRequest(t)
		a := answerOf(t, summarizers.Headings(req.Kind, req.Sections))
		require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: a.text}), a.text)
		require.False(t, summarizers.SaysNothing(a.text))
		stored := summarizers.Stored(req, a.text)
		require.Equal(t, withoutBlank(a.stored), withoutBlank(stored), a.text)
		require.Equal(t, stored, summarizers.Stored(req, stored))
		require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: stored}), stored)
		require.False(t, summarizers.SaysNothing(stored))
	})
}

// Whatever the titles are, a model's headings are recognized, in any order, at any level, and if sections are missing.
func TestHeadingsOfAnyTitleAreKnown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		req := asksFor(summarizers.History, sessiontest.Sections(t))
		headings := summarizers.Headings(req.Kind, req.Sections)
		deeper := rapid.IntRange(-1, 2).Draw(t, "deeper")
		var pieces, stored []string
		for i, h := range headings {
			stored = append(stored, "")
			if summarizers.Groups(headings, i) || len(pieces) > 0 && !rapid.Bool().Draw(t, "there") {
				continue
			}
			body := fmt.Sprintf("\n- fact %d", i)
			pieces = append(pieces, strings.Repeat("#", h.Level+deeper)+" "+h.Title+body)
			stored[i] = h.Line() + body
			if group := groupOf(headings, i); group >= 0 {
				stored[group] = headings[group].Line()
			}
		}
		stored = slices.DeleteFunc(stored, func(section string) bool { return section == "" })
		text := strings.Join(rapid.Permutation(pieces).Draw(t, "order"), "\n\n")
		require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: text}), text)
		require.False(t, summarizers.SaysNothing(text))
		require.Equal(t, strings.Join(stored, "\n\n"), summarizers.Stored(req, text))
		none := "They did a few things.\n\n## Of no list\nx"
		refused := &summarizers.CheckError{}
		require.ErrorAs(t, summarizers.Check(req, &summarizers.Summary{Text: none}), &refused)
		require.Equal(t, summarizers.CheckSections, refused.Check)
	})
}

var sectionLists = [][]*compactordv1.Section{
	nil, session.StandardSections(), sessiontest.CodeSections(),
	sessiontest.SectionLists()["without_files"], sessiontest.SectionLists()["recent_work"],
}

// No line of text is lost, whatever the marks around it, and what is stored is not changed again.
func FuzzStoredLosesNothing(f *testing.F) {
	for _, seed := range []string{
		inTags, storedShape, "## Goal\n<goal>\n**Done**\n```\n## Done\n", "<goal><goal></goal>\n~~~~\n</goal></goal>\n~~~", "Goal\n---\n<done/></done>",
		"## Goal\nx\n**Done**\ny\n## Done\n(none)", "<goal>\n**Done**\nx\n</goal>\n<blocked>none</blocked>", "## Progress\n(none)\n### Done\n- N/A",
	} {
		f.Add(seed, uint8(0), true)
		f.Add(seed, uint8(2), false)
	}
	f.Fuzz(func(t *testing.T, text string, set uint8, prefix bool) {
		req := asksFor(summarizers.History, sectionLists[int(set)%len(sectionLists)])
		if prefix {
			req.Kind = summarizers.TurnPrefix
		}
		req.MaxTokens, req.Replaces = 1<<30, 1<<31
		// After each line of the text there is a line of ours that cannot mark a section.
		var b strings.Builder
		lines := 0
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "%s\n@%d@\n", strings.TrimRight(line, "\n"), lines)
			lines++
		}
		stored := summarizers.Stored(req, b.String())
		for i := range lines {
			require.Equal(t, strings.Count(b.String(), fmt.Sprintf("@%d@", i)), strings.Count(stored, fmt.Sprintf("@%d@", i)), "line %d", i)
		}
		require.Equal(t, stored, summarizers.Stored(req, stored))
		if utf8.ValidString(b.String()) {
			require.True(t, utf8.ValidString(stored))
		}
		again := summarizers.Stored(req, text)
		require.Equal(t, again, summarizers.Stored(req, again))
	})
}
