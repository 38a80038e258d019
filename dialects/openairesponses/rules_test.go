package openairesponses_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
)

// TestRules checks for each rule lists that break it and no other, and similar lists that do not break it.
func TestRules(t *testing.T) {
	t.Parallel()
	const (
		call    = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
		output  = `{"type":"function_call_output","call_id":"c1","output":"x"}`
		call2   = `{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}`
		output2 = `{"type":"function_call_output","call_id":"c2","output":"x"}`
		hello   = `{"role":"user","content":"Hello"}`
		answer  = `{"role":"assistant","content":"Hi"}`
		thought = `{"type":"reasoning","id":"rs_1","summary":[]}`
	)
	named := func(name string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":"c1","name":%q,"arguments":"{}"}`, name)
	}
	withArguments := func(arguments string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":"c1","name":"f","arguments":%q}`, arguments)
	}
	withID := func(id string) []string {
		return []string{
			fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":"{}"}`, id),
			fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"x"}`, id),
		}
	}
	image := func(field, value string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"input_image",%q:%q}]}`, field, value)
	}
	tested := make(map[string]bool)
	for _, test := range []struct {
		rule          string
		broken, valid [][]string
	}{
		{
			rule: "shape",
			broken: [][]string{
				{`1`},
				{hello, `"Hello"`},
				{`{"content":"a"}`},
				{`{"type":1}`},
				{`{"type":""}`},
				{`{"type":"message","content":"a"}`},
				{`{"role":"user","content":1}`},
				{`{"role":"user"}`},
				{`{"role":"user","content":["a"]}`},
				{`{"role":"user","content":[{"text":"a"}]}`},
				{`{"role":"user","content":[{"type":"input_text"}]}`},
				{`{"role":"user","content":"a","id":1}`},
				{`{"type":"function_call","call_id":"c1","name":"f","arguments":{}}`, output},
				{`{"type":"custom_tool_call","call_id":"c1","name":"f"}`, `{"type":"custom_tool_call_output","call_id":"c1","output":"x"}`},
				{call, `{"type":"function_call_output","call_id":"c1"}`},
				{`{"type":"reasoning","id":"rs_1"}`, answer},
				{`{"type":"reasoning","id":"rs_1","summary":[],"content":"a"}`, answer},
				{`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":1}`, answer},
				{`{"type":"compaction"}`},
				{`{"type":"item_reference"}`},
				{`{"type":"local_shell_call","call_id":"c1"}`, `{"type":"local_shell_call_output","call_id":"c1","output":"x"}`},
				{`{"type":"shell_call","call_id":"c1","action":{}}`, `{"type":"shell_call_output","call_id":"c1","output":"x"}`},
				{`{"type":"apply_patch_call","call_id":"c1"}`, `{"type":"apply_patch_call_output","call_id":"c1"}`},
				{`{"type":"computer_call","call_id":"c1"}`, `{"type":"computer_call_output","call_id":"c1"}`},
				{`{"type":"mcp_approval_request","id":"m1","name":"f","arguments":"{}"}`, `{"type":"mcp_approval_response","approval_request_id":"m1"}`},
			},
			valid: [][]string{
				{`"Hello"`},
				{`{"type":"message","role":"user","content":"a","id":null}`},
				{`{"type":"something_new"}`},
				{`{"type":"shell_call","call_id":"c1","action":{}}`, `{"type":"shell_call_output","call_id":"c1","output":[]}`},
				{`{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":null}`, answer},
				{`{"type":"mcp_approval_request","id":"m1","name":"f","arguments":"{}"}`, `{"type":"mcp_approval_response","approval_request_id":"m1","approve":false}`},
			},
		},
		{rule: "input-not-empty", broken: [][]string{{}}, valid: [][]string{{hello}}},
		{
			rule:   "roles",
			broken: [][]string{{`{"role":"tool","content":"a"}`}, {`{"role":"","content":"a"}`}},
			valid:  [][]string{{`{"role":"developer","content":"a"}`}, {`{"role":"system","content":"a"}`}},
		},
		{
			rule:   "content-not-empty",
			broken: [][]string{{`{"role":"user","content":""}`}, {`{"role":"assistant","content":[]}`}, {`""`}},
			valid:  [][]string{{`{"role":"user","content":" "}`}, {call, `{"type":"function_call_output","call_id":"c1","output":""}`}},
		},
		{
			rule: "content-types",
			broken: [][]string{
				{`{"role":"assistant","content":[{"type":"input_text","text":"a"}]}`},
				{`{"role":"user","content":[{"type":"output_text","text":"a"}]}`},
				{`{"role":"system","content":[{"type":"input_image","file_id":"f"}]}`},
				{`{"role":"user","content":[{"type":"text","text":"a"}]}`},
				{`{"role":"user","content":[{"type":"compaction","encrypted_content":"a"}]}`},
				{call, `{"type":"function_call_output","call_id":"c1","output":[{"type":"output_text","text":"a"}]}`},
			},
			valid: [][]string{
				{`{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"a"}]}`},
				{`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_video"}]}`},
				{`{"role":"system","content":[{"type":"input_text","text":"a"}]}`},
			},
		},
		{
			rule: "media-source",
			broken: [][]string{
				{`{"role":"user","content":[{"type":"input_image"}]}`},
				{image("image_url", "cat.png")},
				{image("image_url", "data:text/plain,a")},
				{`{"role":"user","content":[{"type":"input_file","filename":"a"}]}`},
				{`{"role":"user","content":[{"type":"input_file","file_url":"gs://a"}]}`},
			},
			valid: [][]string{
				{image("image_url", "https://example.org/cat.png")},
				{image("image_url", "data:image/png;base64,AQID")},
				{image("file_id", "f")},
				{`{"role":"user","content":[{"type":"input_file","file_data":"AQID"}]}`},
			},
		},
		{
			rule:   "media-size",
			broken: [][]string{{image("image_url", "data:image/png;base64,"+strings.Repeat("A", 20_971_520))}},
			valid:  [][]string{{image("image_url", "data:image/png;base64,"+strings.Repeat("A", 20_971_000))}},
		},
		{
			rule: "text-length",
			broken: [][]string{
				{`{"role":"user","content":"` + strings.Repeat("a", 10_485_761) + `"}`},
				{call, `{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"` + strings.Repeat("a", 10_485_761) + `"}]}`},
			},
			valid: [][]string{{`{"role":"user","content":"` + strings.Repeat("é", 10_485_760) + `"}`}},
		},
		{
			rule: "item-ids",
			broken: [][]string{
				{`{"role":"assistant","content":"a","id":"fc_1"}`},
				{`{"type":"reasoning","id":"item_1","summary":[]}`, answer},
				{`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","id":"msg_1"}`, output},
				{`{"role":"assistant","content":"a","id":"msg 1"}`},
				{`{"type":"something_new","id":""}`},
				{`{"type":"something_new","id":"` + strings.Repeat("a", 65) + `"}`},
			},
			valid: [][]string{
				{`{"role":"assistant","content":"a","id":"msg_1"}`},
				{thought, answer},
				{`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","id":"fc_1"}`, output},
				{`{"type":"something_new","id":"` + strings.Repeat("a", 64) + `"}`},
			},
		},
		{
			rule:   "item-ids-unique",
			broken: [][]string{{thought, answer, thought, answer}, {`{"type":"item_reference","id":"msg_1"}`, `{"role":"assistant","content":"a","id":"msg_1"}`}},
			valid:  [][]string{{thought, answer, strings.ReplaceAll(thought, "rs_1", "rs_2"), answer}},
		},
		{
			rule:   "call-ids",
			broken: [][]string{withID(strings.Repeat("c", 65)), withID("")},
			valid:  [][]string{withID(strings.Repeat("é", 64)), withID("functions.read:0")},
		},
		{
			rule:   "call-ids-unique",
			broken: [][]string{{call, output, call, output}, {call, call, output, output}},
			valid:  [][]string{{call, output, call2, output2}},
		},
		{
			rule:   "tool-names",
			broken: [][]string{{named("a b"), output}, {named(""), output}, {named(strings.Repeat("n", 65)), output}},
			valid:  [][]string{{named("mcp__a-b"), output}, {named(strings.Repeat("n", 64)), output}},
		},
		{
			rule:   "arguments-are-json",
			broken: [][]string{{withArguments(""), output}, {withArguments("{"), output}, {withArguments("[]"), output}, {withArguments("null"), output}},
			valid:  [][]string{{withArguments(` {"a":1} `), output}},
		},
		{
			rule:   "calls-answered",
			broken: [][]string{{call, hello}, {call, call2, output2, hello}, {call, call2, output2, answer}},
			valid:  [][]string{{call, output, hello}, {call, call2, output2, output, hello}},
		},
		{
			rule:   "last-calls-answered",
			broken: [][]string{{hello, call}, {call, call2, output}, {call, answer}},
			valid:  [][]string{{hello, call, output}},
		},
		{
			rule:   "outputs-have-calls",
			broken: [][]string{{output}, {hello, output, hello}, {call, output2, output}},
			valid:  [][]string{{call, output}},
		},
		{rule: "one-output", broken: [][]string{{call, output, output}}, valid: [][]string{{call, output}}},
		{
			rule: "output-types",
			broken: [][]string{
				{call, `{"type":"custom_tool_call_output","call_id":"c1","output":"x"}`},
				{`{"type":"custom_tool_call","call_id":"c1","name":"f","input":""}`, output},
			},
			valid: [][]string{{`{"type":"custom_tool_call","call_id":"c1","name":"f","input":""}`, `{"type":"custom_tool_call_output","call_id":"c1","output":"x"}`}},
		},
		{
			rule:   "outputs-follow-calls",
			broken: [][]string{{call, hello, output}, {call, call2, output, hello, output2}, {call, call2, output, answer, output2}},
			valid:  [][]string{{call, output, call2, output2}, {call, answer, output}, {call, call2, output2, output}},
		},
		{
			rule:   "reasoning-followed",
			broken: [][]string{{hello, thought}, {thought, hello}},
			valid:  [][]string{{thought, answer}, {thought, `{"type":"web_search_call"}`, hello}},
		},
		{
			rule:   "reasoning-resolvable",
			broken: [][]string{{`{"type":"reasoning","summary":[],"encrypted_content":null}`, answer}},
			valid:  [][]string{{`{"type":"reasoning","summary":[],"encrypted_content":"x"}`, answer}},
		},
		{
			rule:   "compaction-length",
			broken: [][]string{{`{"type":"compaction","encrypted_content":"` + strings.Repeat("a", 10_485_761) + `"}`}, {`{"type":"compaction","encrypted_content":""}`}},
			valid:  [][]string{{`{"type":"compaction","encrypted_content":"` + strings.Repeat("a", 10_485_760) + `"}`}},
		},
	} {
		tested[test.rule] = true
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			for _, items := range test.broken {
				require.Equal(t, []string{test.rule}, brokenRules(t, items), "%.300s", items)
			}
			for _, items := range test.valid {
				require.Empty(t, brokenRules(t, items), "%.300s", items)
			}
		})
	}
	// TestRuleOfInstructions tests the rule that concerns no item.
	tested["instructions"] = true
	for _, name := range rulesIn(t) {
		require.True(t, tested[name], "%s has no test", name)
	}
}

// rulesIn returns the names of the rules.
func rulesIn(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, r := range openairesponses.New().Rules() {
		_, name, found := strings.Cut(r.ID, ".")
		require.True(t, found)
		names = append(names, name)
	}
	return names
}

// brokenRules returns the names of the rules that a list breaks as a request.
func brokenRules(t *testing.T, items []string) []string {
	t.Helper()
	list := &dialect.List{}
	for _, item := range items {
		list.Messages = append(list.Messages, json.RawMessage(item))
	}
	return names(t, list, dialect.Request)
}

func names(t *testing.T, list *dialect.List, mode dialect.Mode) []string {
	t.Helper()
	dialecttest.RequireJudgedAsRead(t, openairesponses.New(), list)
	var broken []string
	for _, v := range openairesponses.New().Validate(list, mode) {
		_, name, _ := strings.Cut(v.Rule, ".")
		require.Contains(t, rulesIn(t), name)
		if !slices.Contains(broken, name) {
			broken = append(broken, name)
		}
	}
	return broken
}

func TestRuleOfInstructions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		system []string
		broken []string
	}{
		{"a text", []string{`"Be kind."`}, nil},
		{"none", nil, nil},
		{"an empty text", []string{`""`}, []string{"instructions"}},
		{"no text", []string{`["Be kind."]`}, []string{"instructions"}},
		{"two texts", []string{`"Be kind."`, `"Be brief."`}, []string{"instructions"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			list := &dialect.List{Messages: []json.RawMessage{json.RawMessage(`{"role":"user","content":"Hello"}`)}}
			for _, s := range test.system {
				list.System = append(list.System, json.RawMessage(s))
			}
			require.Equal(t, test.broken, names(t, list, dialect.Request))
		})
	}
}

func TestHistoryWaivesTheEnd(t *testing.T) {
	t.Parallel()
	call := json.RawMessage(`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`)
	require.Empty(t, names(t, &dialect.List{}, dialect.History))
	require.Empty(t, names(t, &dialect.List{Messages: []json.RawMessage{call}}, dialect.History))
	require.Equal(t, []string{"calls-answered"}, names(t, &dialect.List{
		Messages: []json.RawMessage{call, json.RawMessage(`{"role":"user","content":"Hello"}`)},
	}, dialect.History))
}

func TestViolationsTellTheirPlace(t *testing.T) {
	t.Parallel()
	items, err := rawjson.ParseArray(json.RawMessage(
		`[{"role":"user","content":"Hello"},{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"output_text","text":"b"}]}]`))
	require.NoError(t, err)
	violations := openairesponses.New().Validate(&dialect.List{Messages: items}, dialect.Request)
	require.Len(t, violations, 1)
	require.Equal(t, 1, violations[0].Message)
	require.Equal(t, 1, violations[0].Part)
	require.NotEmpty(t, violations[0].Detail)
}

func TestViolationOfEachOutput(t *testing.T) {
	t.Parallel()
	items, err := rawjson.ParseArray(json.RawMessage(`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
		{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},{"role":"user","content":"Hello"},
		{"type":"function_call_output","call_id":"c1","output":"a"},{"type":"function_call_output","call_id":"c2","output":"a"}]`))
	require.NoError(t, err)
	var at []int
	for _, v := range openairesponses.New().Validate(&dialect.List{Messages: items}, dialect.Request) {
		at = append(at, v.Message)
	}
	require.Equal(t, []int{3, 4}, at)
}
