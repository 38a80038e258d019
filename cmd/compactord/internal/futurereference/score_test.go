package futurereference_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func text(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}},
	}}}
}

func system(said string) *compactordv1.Message { return text(compactordv1.Role_ROLE_SYSTEM, said) }
func user(said string) *compactordv1.Message   { return text(compactordv1.Role_ROLE_USER, said) }
func agent(said string) *compactordv1.Message  { return text(compactordv1.Role_ROLE_ASSISTANT, said) }

func call(id, arguments string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: id, Name: "read_file", Arguments: arguments}},
	}}}
}

func result(id, said string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: id, Name: "read_file", Parts: []*compactordv1.ResultPart{{
				Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: said}},
			}},
		}},
	}}}
}

func thinking(thought, said string) *compactordv1.Message {
	m := agent(said)
	m.Parts = append([]*compactordv1.Part{{
		Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: thought}},
	}}, m.GetParts()...)
	return m
}

// conversation is cut before its sixth message, and seven are in the log then.
func conversation() []*compactordv1.Message {
	return []*compactordv1.Message{
		system("The rules are in docs/RULES.md."),
		user("Fix the parser, please: parse_header fails on the empty line of header.txt since commit 1ccd8ca7."),
		call("1", `{"path": "pkg/parser.go", "max_lines": 4711}`),
		result("1", "func parseHeader() error\nvar emptyLine = false\nERR-4242 is thrown"),
		thinking("Perhaps secret_plan works.", "It is `emptyLine` in pkg/parser.go, as read_file and max_lines show."),
		user("And what about kept_name?"),
		agent("I look at kept_name and pkg/parser.go again."),
		// The future.
		call("2", `{"path": "pkg/parser.go", "text": "emptyLine ERR-4242 docs/RULES.md read_file 4711 max_lines secret_plan new_name"}`),
		result("2", "parse_header is on line 3"),
		agent("So parse_header and 1ccd8ca7 and kept_name and new_name."),
		user("thanks"),
	}
}

var cut = futurereference.Cut{FirstKept: 5, End: 7}

func TestNeeds(t *testing.T) {
	t.Parallel()
	log := futurereference.NewLog(conversation())
	needs, err := log.Needs(cut, 4)
	require.NoError(t, err)
	var have []string
	for _, n := range needs {
		have = append(have, fmt.Sprintf("%s:%s@%d%v", n.Kind, n.Value, n.UsedAt, n.Sources))
	}
	require.Equal(t, []string{
		"error:ERR-4242@7[3]", "hex:1ccd8ca7@9[1]", "identifier:emptyLine@7[3 4]", "identifier:secret_plan@7[4]",
	}, have, "the rest is kept, was mentioned again, is of the tool's schema, or is new")
	near, err := log.Needs(cut, 2)
	require.NoError(t, err)
	require.Len(t, near, 3, "a shorter future")
	_, err = log.Needs(futurereference.Cut{FirstKept: 6, End: 5}, 4)
	require.ErrorContains(t, err, "first_kept")
}

// A quotation that is needed must be a quotation in the dropped messages.
func TestNeededQuotations(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{`she said "do it the old way" again`: 1, `do it the old way`: 0} {
		log := futurereference.NewLog([]*compactordv1.Message{user(said), agent("yes"), agent("ok"), agent("`do it the old way`")})
		needs, err := log.Needs(futurereference.Cut{FirstKept: 1, End: 2}, 5)
		require.NoError(t, err)
		require.Len(t, needs, want, said)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	log := futurereference.NewLog(conversation())
	needs, err := log.Needs(cut, 4)
	require.NoError(t, err)
	for view, want := range map[string]futurereference.Score{
		"":                            {Needed: 4, Bare: 2, Tokens: 0},
		"1ccd8ca7 ERR-4242 x1ccd8ca7": {Needed: 4, Held: 2, Bare: 2, Named: 2, Tokens: 7},
		"- fix the parser: parse_header fails on the empty line of header.txt since commit 1ccd8ca7": {Needed: 4, Held: 1, Bare: 2, InContext: 1, Named: 3, Tokens: 23},
		"- it was 1ccd8ca7 [#1], other_name": {Needed: 4, Held: 1, Bare: 2, Reachable: 1, Named: 2, Tokens: 9},
		"[#2 to #4]":                         {Needed: 4, Bare: 2, Reachable: 3, Tokens: 3},
		"[#40, #3]":                          {Needed: 4, Bare: 2, Reachable: 2, Tokens: 3},
		"To read it again, recall index 3, part 0.": {Needed: 4, Bare: 2, Reachable: 2, Tokens: 11},
		"results [recall #3.0]":                     {Needed: 4, Bare: 2, Reachable: 2, Tokens: 6},
		"x1ccd8ca7 and 1ccd8ca7y":                   {Needed: 4, Bare: 2, Tokens: 6},
		`[\#3] and issue #3`:                        {Needed: 4, Bare: 2, Tokens: 5},
	} {
		have := log.Score(view, cut, needs)
		lost := have.Needed - have.Held - have.Reachable
		if strings.Contains(view, "1ccd8ca7 [#1]") {
			// Both held and reachable.
			lost++
		}
		require.Len(t, have.Lost, lost, view)
		have.Lost, have.Absent = nil, nil
		require.Equal(t, want, have, view)
	}
	require.Equal(t, []futurereference.Entity{{Kind: "identifier", Value: "other_name"}},
		log.Score("parse_header, other_name, max_lines", cut, needs).Absent)
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	log := futurereference.NewLog(conversation())
	require.Equal(t, "ERR-4242 is thrown", log.Excerpt(3, "ERR-4242"))
	require.Equal(t, "Perhaps secret_plan works.", log.Excerpt(4, "secret_plan"))
	require.Empty(t, log.Excerpt(0, "secret_plan"))
}

// long is a conversation of steps: a call with its result of about 100 tokens.
func long(steps int) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("Rules."), user("Go.")}
	for i := range steps {
		id := fmt.Sprint(i)
		messages = append(messages, call(id, fmt.Sprintf(`{"path": "pkg/file_%d.go"}`, i)), result(id, strings.Repeat("word ", 80)))
	}
	return messages
}

func TestCuts(t *testing.T) {
	t.Parallel()
	log := futurereference.NewLog(long(60))
	sampling := futurereference.Sampling{KeptTokens: 500, Trigger: 2000, Every: 20, Horizon: 30}
	cuts := log.Cuts(sampling)
	require.Equal(t, []futurereference.Cut{{32, 40}, {52, 60}, {72, 80}}, cuts)
	sampling.KeptTokens = 50
	require.Equal(t, futurereference.Cut{FirstKept: 38, End: 40}, log.Cuts(sampling)[0], "the last step is kept whole")
	sampling.Trigger = 100_000
	require.Empty(t, log.Cuts(sampling))
}

// A message between a call and its result can be no first kept message.
func TestNoCutBetweenACallAndItsResult(t *testing.T) {
	t.Parallel()
	messages := []*compactordv1.Message{user("Go.")}
	for i := range 20 {
		id := fmt.Sprint(i)
		messages = append(messages, call(id, "{}"), user("Wait."), result(id, strings.Repeat("word ", 80)), agent("Done."))
	}
	log := futurereference.NewLog(messages)
	for kept := range 300 {
		for _, c := range log.Cuts(futurereference.Sampling{KeptTokens: kept, Trigger: 300, Every: 1, Horizon: 5}) {
			require.NotEqual(t, 2, c.FirstKept%4, "%v keeps a result without its call", c)
			require.NotEqual(t, 2, c.End%4, "%v ends between a call and its result", c)
		}
	}
}

// Whatever the sampling, a cut keeps calls with their results, and enough of the future is left.
func TestCutsAreLegal(t *testing.T) {
	t.Parallel()
	messages := long(80)
	log := futurereference.NewLog(messages)
	rapid.Check(t, func(t *rapid.T) {
		s := futurereference.Sampling{
			KeptTokens: rapid.IntRange(0, 5000).Draw(t, "kept"), Trigger: rapid.IntRange(0, 9000).Draw(t, "trigger"),
			Every: rapid.IntRange(1, 50).Draw(t, "every"), Horizon: rapid.IntRange(0, 60).Draw(t, "horizon"),
		}
		for _, c := range log.Cuts(s) {
			require.Less(t, c.FirstKept, c.End)
			require.Positive(t, c.FirstKept)
			require.Greater(t, len(messages)-c.End, s.Horizon)
			for _, i := range []int{c.FirstKept, c.End} {
				require.NotEqual(t, compactordv1.Role_ROLE_TOOL, messages[i].GetRole())
			}
		}
	})
}

// No baseline is longer than its budget, and more budget never holds less in a list.
func TestBaselinesKeepTheirBudget(t *testing.T) {
	t.Parallel()
	log := futurereference.NewLog(long(60))
	at := futurereference.Cut{FirstKept: 60, End: 80}
	for _, b := range futurereference.Baselines() {
		require.NotEmpty(t, b.Explanation)
		before := 0
		for budget := 1; budget < 9000; budget += 1 + budget/3 {
			for _, view := range b.Views(log, at, budget) {
				require.LessOrEqual(t, futurereference.Tokens(view), budget, b.Name)
			}
			size := len(b.Views(log, at, budget)[0])
			require.GreaterOrEqual(t, size, before, b.Name)
			before = size
		}
	}
}
