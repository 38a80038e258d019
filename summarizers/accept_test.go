package summarizers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

func TestInsistAsksOnceMoreWithTheRefusal(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	first := &summarizers.CheckError{Check: summarizers.CheckBudget, Detail: "too long"}
	second := &summarizers.CheckError{Check: summarizers.CheckEmpty, Detail: "nothing"}
	for name, c := range map[string]struct {
		ends []error
		want error
	}{
		"passes":                 {[]error{nil}, nil},
		"passes the second time": {[]error{first, nil}, nil},
		"never passes":           {[]error{first, second}, second},
		"fails":                  {[]error{broken}, broken},
		"fails the second time":  {[]error{first, broken}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []*summarizers.CheckError
			err := summarizers.Insist(func(refused *summarizers.CheckError) error {
				told = append(told, refused)
				return c.ends[len(told)-1]
			})
			require.Equal(t, c.want, err)
			require.Equal(t, []*summarizers.CheckError{nil, first}[:len(c.ends)], told)
		})
	}
}

func TestAcceptIsForWhoWasGivenAConversation(t *testing.T) {
	t.Parallel()
	request := func(override string) *summarizers.Request {
		return &summarizers.Request{MaxTokens: 1000, Replaces: 2000, Count: countBytes, PromptOverride: override}
	}
	for name, c := range map[string]struct {
		text, override, refused, stored string
	}{
		"sections":                              {"## Goal\nShip it.", "", "", "## Goal\nShip it."},
		"thinking before sections":              {"<think>hm</think>\n## Goal\nShip it.", "", "", "## Goal\nShip it."},
		"no sections":                           {"Ship it.", "", summarizers.CheckSections, ""},
		"no sections by other instructions":     {"Ship it.", "Say it in a line.", "", "Ship it."},
		"nothing below sections":                {"## Goal\n(none)\n\n## Done\n- None\n\n## Next Steps\n(none)", "", summarizers.CheckEmpty, ""},
		"nothing said by other instructions":    {"## Outcome\n(none)", "Say it in a line.", summarizers.CheckEmpty, ""},
		"a tool call by other instructions":     {"<tool_call>{}</tool_call>", "Say it in a line.", summarizers.CheckToolCall, ""},
		"sections by their tags are headings":   {"<goal>Ship it.</goal>", "", "", "## Goal\nShip it."},
		"other instructions leave all as it is": {"<goal>Ship it.</goal>", "Use tags.", "", "<goal>Ship it.</goal>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := summarizers.Accept(request(c.override), &summarizers.Summary{Text: c.text})
			if c.refused != "" {
				var refused *summarizers.CheckError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, c.refused, refused.Check)
				return
			}
			require.NoError(t, err)
			require.Contains(t, stored, c.stored)
			require.NotContains(t, stored, "<think>")
		})
	}
}

// The stored form is made and counted once: a long summary with many sections costs as much as all other checks.
func TestStoredFormIsCountedOnce(t *testing.T) {
	t.Parallel()
	text := "<think>It is done.</think># Goal\nMend it.\n# Next Steps\n(none)\n"
	var counted []string
	req := &summarizers.Request{MaxTokens: 1000, Replaces: 2000, Count: func(text string) uint32 {
		counted = append(counted, text)
		return countBytes(text)
	}}
	stored, err := summarizers.Accept(req, &summarizers.Summary{Text: text})
	require.NoError(t, err)
	require.Equal(t, "## Goal\nMend it.", stored)
	require.Equal(t, []string{stored}, counted)
}

// A short text from a model for a long conversation is a fragment if most sections are missing. Check accepts it, since
// the conversation may say as little.
func TestFragmentsAreNotAccepted(t *testing.T) {
	t.Parallel()
	const short = "## Goal\nx"
	long := short + strings.Repeat(" and more", 30)
	headings := written(summarizers.History, nil)
	for name, c := range map[string]struct {
		text          string
		max, replaces uint32
		override      string
		refused       bool
	}{
		"a fragment":                   {short, 1000, 200_000, "", true},
		"a long text":                  {long, 1000, 200_000, "", false},
		"of a short conversation":      {short, 1000, 199_999, "", false},
		"that is continued":            {short, 1000, summarizers.ReplacesNothing, "", false},
		"with the headings":            {strings.Replace(headings, "(none)", "x", 1), 1000, 200_000, "", false},
		"in a budget for no more":      {short, 199, 200_000, "", false},
		"by other instructions":        {short, 1000, 200_000, "Say it in a line.", false},
		"in a budget for more than it": {short, 200, 200_000, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := &summarizers.Request{MaxTokens: c.max, Replaces: c.replaces, Count: countBytes, PromptOverride: c.override}
			require.NoError(t, summarizers.Check(req, &summarizers.Summary{Text: c.text}))
			_, err := summarizers.Accept(req, &summarizers.Summary{Text: c.text})
			if !c.refused {
				require.NoError(t, err)
				return
			}
			var refused *summarizers.CheckError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, summarizers.CheckSections, refused.Check)
			require.Contains(t, refused.Detail, "fragment")
		})
	}
}
