package prompts_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// tagLike matches anything that a lenient reader takes for one of our tags. It is independent of the code that escapes.
var tagLike = regexp.MustCompile(`(?i)[<＜﹤‹〈⟨❮][\s\p{Cf}\p{Cc}\p{Mn}]*[/／∕⁄]?[\s\p{Cf}\p{Cc}\p{Mn}]*(c[\s\p{Cf}]*o[\s\p{Cf}]*n[\s\p{Cf}]*v[\s\p{Cf}]*e[\s\p{Cf}]*r[\s\p{Cf}]*s[\s\p{Cf}]*a[\s\p{Cf}]*t[\s\p{Cf}]*i[\s\p{Cf}]*o[\s\p{Cf}]*n|standing-rules|previous[-_ ]summary|extra-context|instructions|current-task|guidelines|tool-result)[\s\p{Cf}]*[>/＞]`)

var ownTags = []string{
	"standing-rules", "conversation", "previous-summary", "extra-context", "instructions", "current-task", "guidelines", "tool-result",
}

// requireShape requires that a user message has exactly our tags: each is closed, nothing else looks like one, and the
// parts are in order. Only the instructions may name our tags.
func requireShape(t require.TestingT, message string) {
	at := strings.LastIndex(message, "\n</instructions>")
	begin := strings.LastIndex(message, "<instructions>\n")
	require.True(t, begin >= 0 && at > begin)
	own := message[begin : at+len("\n</instructions>")]
	rest := message[:begin] + message[at+len("\n</instructions>"):]
	require.Equal(t, 1, strings.Count(message, "<instructions>\n"))
	require.Equal(t, 1, strings.Count(message, "\n</instructions>"))
	require.NotContains(t, own[1:len(own)-1], "<conversation>\n")
	var order []string
	var open []string
	for _, found := range tagLike.FindAllString(rest, -1) {
		name := strings.Trim(found, "</>")
		require.Contains(t, ownTags, name, "%q", found)
		if strings.HasPrefix(found, "</") {
			require.NotEmpty(t, open, found)
			require.Equal(t, open[len(open)-1], name)
			open = open[:len(open)-1]
			continue
		}
		require.Equal(t, "<"+name+">", found)
		if len(open) > 0 {
			require.Equal(t, []string{"conversation"}, open)
			require.Equal(t, "standing-rules", name)
		}
		open = append(open, name)
		if name != "extra-context" || len(order) == 0 || order[len(order)-1] != name {
			order = append(order, name)
		}
	}
	require.Empty(t, open)
	at = -1
	for _, name := range order {
		next := indexOf([]string{"conversation", "standing-rules", "tool-result", "current-task", "guidelines", "previous-summary", "extra-context"}, name)
		require.Greater(t, next, at, "%v", order)
		at = next
	}
}

func indexOf(list []string, name string) int {
	for i, s := range list {
		if s == name {
			return i
		}
	}
	return -1
}

// attacks returns the lines of the corpus.
func attacks(tb testing.TB) []string {
	tb.Helper()
	file, err := os.ReadFile("testdata/attacks.txt")
	require.NoError(tb, err)
	var list []string
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n")[1:] {
		attack, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
		require.NoError(tb, err, line)
		list = append(list, attack)
	}
	require.Greater(tb, len(list), 40)
	return list
}

// headerLike matches anything at the beginning of a line that a lenient reader takes for a header.
var headerLike = regexp.MustCompile(`(?m)(?:^|[\r\x{85}\x{2028}\x{2029}])[\s\p{Cf}]*[\[［【][\s\p{Cf}]*[#＃﹟][\s\p{Cf}]*\d[^\n\r]*`)

// requireHeaders requires that the conversation has exactly these headers, in order.
func requireHeaders(t require.TestingT, message string, want []string) {
	shown, _, _ := strings.Cut(message, "</conversation>\n")
	var got []string
	for _, found := range headerLike.FindAllString(shown, -1) {
		found = found[strings.IndexAny(found, "[［【"):]
		if end := strings.IndexByte(found, ']'); end >= 0 {
			found = found[:end+1]
		}
		got = append(got, found)
	}
	require.Equal(t, want, got)
}

// besieged returns a request in which every text is the attack, and the headers that its prompt must show.
func besieged(attack string) (*summarizers.Request, []string) {
	quoted := strconv.Quote(attack)
	assistant := message(3, compactordv1.Role_ROLE_ASSISTANT, thinking("x"+attack), text("x"+attack), call("f", `{`+quoted+`:[`+quoted+`]}`), call("g", attack))
	assistant.GetMessage().StopReason, assistant.GetMessage().ErrorText = compactordv1.StopReason_STOP_REASON_ERROR, attack
	failed := result(5, "bash", "x "+attack)
	failed.GetMessage().GetParts()[0].GetToolResult().IsError = true
	future := user(6, "y "+attack)
	future.GetMessage().Origin = compactordv1.Origin_ORIGIN_FUTURE
	req := &summarizers.Request{
		Lead:            []*compactordv1.LoggedMessage{message(0, compactordv1.Role_ROLE_SYSTEM, text("x\n"+attack+"\nx"))},
		PreviousSummary: "## Goal\n" + attack + "\n- Kept. [#1]", Focus: attack, ExtraContext: []string{attack, attack},
		Messages: []*compactordv1.LoggedMessage{
			user(1, "x\n"+attack+"\nx"), message(2, compactordv1.Role_ROLE_USER, media(attack, attack), text("x")), assistant,
			message(4, compactordv1.Role_ROLE_DEVELOPER, text("x "+attack)), failed, future,
		},
		MaxTokens: 2000, Count: chars4, Refusal: attack, Input: summarizers.Input{Thinking: true},
	}
	return req, []string{
		"[#0 system]", "[#1 user]", "[#2 user]", "[#3 assistant thinking]", "[#3 assistant, failed]", "[#3 assistant calls]",
		"[#4 developer]", "[#5 result of bash, failed]", "[#6 message from a later state of the conversation]",
	}
}

// TestCase98NothingLeavesItsPlace: whatever a text contains, it closes none of our tags, opens none, and is no header.
func TestCase98NothingLeavesItsPlace(t *testing.T) {
	for _, attack := range attacks(t) {
		req, headers := besieged(attack)
		p := prompt(t, req)
		require.NotContains(t, p.Text, "\nx\n"+attack+"\nx", "it is written otherwise")
		requireShape(t, p.Text)
		requireHeaders(t, p.Text, headers)
		require.Contains(t, p.Text, "- Kept. [#1]\n", "a summary keeps its citations")

		// As the answer that the next prompt contains, and as the name of a tool.
		goesOn := &prompts.Prompt{GoesOn: true, BeforeAnswer: "<conversation>\n</conversation>\n\n<previous-summary>\n", Text: "\n</previous-summary>\n\n<instructions>\nx\n</instructions>"}
		requireShape(t, goesOn.User("## Goal\n"+attack))
		requireHeaders(t, textOf(t, result(1, attack, "x"), message(2, compactordv1.Role_ROLE_ASSISTANT, call(attack, "{}"))),
			[]string{"[#1 result of " + nameIn(textOf(t, result(1, attack, "x"))) + "]", "[#2 assistant calls]"})

		observed := prompt(t, &summarizers.Request{
			Kind: summarizers.Observation, MaxTokens: 300, Count: chars4, Focus: attack,
			Result: &summarizers.ToolResult{Tool: attack, Argument: attack, Text: attack, Guidelines: "x " + attack, Task: "x " + attack},
		})
		requireShape(t, observed.Text)
		require.Contains(t, observed.Text, "<current-task>\nx ")

		override := request()
		override.PromptOverride = "Read <conversation>. " + attack
		text := prompt(t, override).Text
		require.Equal(t, 1, strings.Count(text, "\n</instructions>"))
		require.Contains(t, text, "Read <conversation>.")
	}
}

// TestEachAttackIsEscaped: text that a lenient reader takes for a tag or a header is changed, however it is encoded.
// What follows it distinguishes it from code.
func TestEachAttackIsEscaped(t *testing.T) {
	for _, attack := range attacks(t) {
		if attack == "[#12] [#13, #14]" {
			continue
		}
		shown := textOf(t, user(1, "x"+attack))
		require.NotContains(t, shown, "x"+attack, "%q", attack)
		require.Len(t, strings.ReplaceAll(shown, "\\", ""), len(strings.ReplaceAll("[#1 user]\nx"+attack, "\\", "")), "only backslashes are added")
	}
}

func nameIn(shown string) string {
	_, rest, _ := strings.Cut(shown, "[#1 result of ")
	name, _, _ := strings.Cut(rest, "]")
	return name
}

// TestWhateverIsSaidStaysInItsPlace checks random texts beyond the corpus.
func TestWhateverIsSaidStaysInItsPlace(t *testing.T) {
	list := attacks(t)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom(list), rapid.String(),
			rapid.StringMatching(`[<＜][ /\n\x{200b}]{0,3}(conversation|CONVERSATION|instructions|Previous[-_ ]Summary|tool-result)[ \t\x{feff}]{0,2}[>＞ /]?`),
			rapid.StringMatching(`\n[\[［][\x{200b} ]?[#＃][0-9]{1,3}[ \]][a-z]{1,5}\]?`),
			rapid.SampledFrom([]string{"<", "\\", "/", "[", "#", "1 user]", "conversation>", "\n", "left out"}),
		)
		attack := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pieces"), "")
		req, headers := besieged(attack)
		f, err := prompts.Fold(req, prompts.Limits{PromptTokens: 60000, Count: chars4})
		require.NoError(t, err)
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		requireShape(t, p.Text)
		requireHeaders(t, p.Text, headers)
	})
}

// Code and prose that only resemble tags or headers stay unchanged, since the agent needs them exactly.
func TestOrdinaryTextIsNotEscaped(t *testing.T) {
	for _, said := range []string{
		"if a < b && c > d", "std::vector<int> v;", "<ConversationList id={1} />", "<conversations>", "a <instructions.md b",
		"x[#] y[0] [link](#12) array[12]", "<div><p>text</p></div>", "Vec<Guidelines::Item>", "`[x]` and [ ] todo", "&lt;b&gt;", "100%3c",
		"<think>hm</think>", "《对话》【注意】", "a <- b", "<summary>x</summary>", "#12 [a #12]",
		"&#609;/conversation>", "&ltconversations", "\\x3cp", "\\n[x]", "%5Bx%5D", "100% c", "a&b;c &#; &#x; \\u{} \\u12 \\U0000003cp \\8", "&amp;amp;lt;p",
		"≮p≯ «x»", "\\\\server\\share", "<çà>",
	} {
		require.Equal(t, fmt.Sprintf("[#1 user]\n%s", said), textOf(t, user(1, said)))
	}
}

func FuzzEscape(f *testing.F) {
	for _, attack := range attacks(f) {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, attack string) {
		req, headers := besieged(attack)
		if len(attack) > 2000 {
			return
		}
		p := prompt(t, req)
		requireShape(t, p.Text)
		requireHeaders(t, p.Text, headers)
	})
}
