package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
)

const (
	hi    = `{"role":"user","content":"Hi"}`
	hello = `{"role":"assistant","content":"Hello"}`
	use   = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"read","input":{}}]}`
	done  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`
)

func says(role, blocks string) string { return `{"role":"` + role + `","content":[` + blocks + `]}` }

func texts(n int, more string) string {
	return strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a"`+more+`},`, n), ",")
}

// ruleCases holds for each rule lists that break only this rule, and similar lists that break none.
var ruleCases = map[string]struct{ breaks, keeps []string }{
	"shape": {
		breaks: []string{
			`[{"role":"user","content":7}]`,
			`[{"role":"user"}]`,
			`[{"role":"user","content":"a"},7]`,
			`[{"role":"tool","content":"a"}]`,
			`[{"content":"a"}]`,
			`[` + says("user", `7`) + `]`,
			`[` + says("user", `{"text":"a"}`) + `]`,
			`[` + says("user", `{"type":"text"}`) + `]`,
			`[` + says("user", `{"type":"text","text":null}`) + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"thinking","signature":"c"},`+texts(1, "")) + `,` + hi + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"tool_use","id":"t","input":{}}`) + `,` + hi + `]`,
			`[` + says("user", `{"type":"tool_result","content":"x"}`) + `]`,
			`[` + says("user", `{"type":"image"}`) + `]`,
			`[` + says("user", `{"type":"image","source":{}}`) + `]`,
			`[` + says("user", texts(1, `,"cache_control":5`)) + `]`,
			`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text"}]}`) + `]`,
			`{"system":[7],"messages":[` + hi + `]}`,
			`{"system":[{"type":"text"}],"messages":[` + hi + `]}`,
		},
		keeps: []string{`[` + says("user", texts(1, `,"cache_control":null`)) + `]`},
	},
	"request-size": {
		breaks: []string{`[` + hi + `,` + hello + `,{"role":"user","content":"` + strings.Repeat("a", 32<<20) + `"}]`},
		keeps:  []string{`[` + hi + `,` + hello + `,{"role":"user","content":"` + strings.Repeat("a", 31<<20) + `"}]`},
	},
	"whole-characters": {
		breaks: []string{`[{"role":"user","content":"a\ud83d"}]`, `{"system":"\ude00","messages":[` + hi + `]}`},
		keeps:  []string{`[{"role":"user","content":"a\ud83d\ude00 \\ud83d"}]`},
	},
	"messages-not-empty": {
		breaks: []string{`[]`, `{"system":"a","messages":[]}`},
		keeps:  []string{`[` + hi + `]`},
	},
	"message-fields": {
		breaks: []string{
			`[{"role":"user","content":"a","id":"x"}]`,
			`[{"role":"user","content":"a","clear_at":"never"}]`,
			`[` + hi + `,{"role":"assistant","content":"a","usage":{}},` + hi + `]`,
		},
		keeps: []string{`[` + hi + `,{"role":"system","content":"a","clear_at":"never","output_config":{}}]`},
	},
	"first-message-user": {
		breaks: []string{`[` + hello + `,` + hi + `]`},
		keeps: []string{
			`[` + hi + `]`, `[` + says("assistant", `{"type":"compaction","content":"a"},`+texts(1, "")) + `,` + hi + `]`,
		},
	},
	"last-message-user": {
		breaks: []string{`[` + hi + `,` + hello + `]`, `[` + hi + `,` + use + `]`, `[` + hi + `,` + says("assistant", ``) + `]`},
		keeps: []string{
			`[` + hi + `,` + hello + `,` + hi + `]`,
			`[` + hi + `,` + says("assistant", texts(1, "")+`,{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`) + `]`,
			`[` + hi + `,{"role":"system","content":"a"}]`,
		},
	},
	"alternate-roles": {
		breaks: []string{`[` + hi + `,` + hi + `]`, `[` + hi + `,` + hello + `,` + hello + `,` + hi + `]`},
		keeps:  []string{`[` + hi + `,` + hello + `,` + hi + `]`},
	},
	"system-text": {
		breaks: []string{
			`{"system":[{"type":"hologram"}],"messages":[` + hi + `]}`,
			`[` + hi + `,` + says("system", `{"type":"hologram"}`) + `]`,
		},
		keeps: []string{
			`{"system":[{"type":"text","text":"a"}],"messages":[` + hi + `]}`,
			`[` + hi + `,` + says("system", `{"type":"tool_removal","tool":{}},{"type":"text","text":"a"}`) + `]`,
		},
	},
	"system-message-place": {
		breaks: []string{
			`[{"role":"system","content":"a"},` + hello + `,` + hi + `]`,
			`[` + hi + `,` + hello + `,{"role":"system","content":"a"}]`,
			`[` + hi + `,{"role":"system","content":"a"},` + hi + `]`,
		},
		keeps: []string{
			`[` + hi + `,{"role":"system","content":"a"}]`,
			`[` + hi + `,{"role":"system","content":"a"},` + hello + `,` + hi + `]`,
			`[` + hi + `,` + use + `,` + done + `,{"role":"system","content":"a"}]`,
		},
	},
	"content-not-empty": {
		breaks: []string{
			`[{"role":"user","content":""}]`, `[{"role":"user","content":[]}]`,
			`[` + hi + `,` + says("assistant", ``) + `,` + hi + `]`,
		},
		keeps: []string{`[{"role":"user","content":"a"}]`},
	},
	"text-not-blank": {
		breaks: []string{
			`[{"role":"user","content":" \n"}]`,
			`[` + says("user", `{"type":"text","text":""}`) + `]`,
			`[` + says("user", texts(1, "")+`,{"type":"text","text":"\u00a0"}`) + `]`,
			`{"system":" ","messages":[` + hi + `]}`,
			`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"\t"}]}`) + `]`,
		},
		keeps: []string{
			`[{"role":"user","content":" a"}]`,
			`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t","content":""}`) + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"thinking","thinking":"","signature":"c"},`+texts(1, "")) + `,` + hi + `]`,
		},
	},
	"block-of-role": {
		breaks: []string{
			`[` + says("user", `{"type":"tool_use","id":"t","name":"n","input":{}}`) + `]`,
			`[` + says("user", `{"type":"thinking","thinking":"a","signature":"c"}`) + `]`,
			`[` + says("user", `{"type":"server_tool_use","id":"s","name":"n","input":{}}`) + `]`,
			`[` + says("user", `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`) + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"tool_result","tool_use_id":"t"}`) + `,` + hi + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"image","source":{"type":"file","file_id":"f"}}`) + `,` + hi + `]`,
		},
		keeps: []string{
			`[` + says("user", `{"type":"container_upload","file_id":"f"},{"type":"hologram"}`) + `]`,
			`[` + says("user", `{"type":"image","source":{"type":"file","file_id":"f"}}`) + `]`,
		},
	},
	"results-follow-calls": {
		breaks: []string{
			`[` + hi + `,` + use + `,` + hi + `]`,
			`[` + hi + `,` + use + `,{"role":"user","content":"a"},` + hello + `,` + hi + `]`,
			`[` + hi + `,` + says("assistant", `{"type":"tool_use","id":"t","name":"n","input":{}},{"type":"tool_use","id":"u","name":"n","input":{}}`) + `,` + done + `]`,
		},
		keeps: []string{
			`[` + hi + `,` + use + `,` + done + `]`,
			`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t"},`+texts(1, "")) + `]`,
		},
	},
	"results-have-calls": {
		breaks: []string{
			`[` + done + `]`,
			`[` + hi + `,` + hello + `,` + done + `]`,
			`[` + hi + `,` + use + `,` + done + `,` + hello + `,` + done + `]`,
		},
		keeps: []string{`[` + hi + `,` + use + `,` + done + `,` + hello + `,` + hi + `]`},
	},
	"one-result-a-call": {
		breaks: []string{`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t"},{"type":"tool_result","tool_use_id":"t"}`) + `]`},
		keeps: []string{`[` + hi + `,` + says("assistant", `{"type":"tool_use","id":"t","name":"n","input":{}},{"type":"tool_use","id":"u","name":"n","input":{}}`) + `,` +
			says("user", `{"type":"tool_result","tool_use_id":"u"},{"type":"tool_result","tool_use_id":"t"}`) + `]`},
	},
	"results-first": {
		breaks: []string{`[` + hi + `,` + use + `,` + says("user", texts(1, "")+`,{"type":"tool_result","tool_use_id":"t"}`) + `]`},
		keeps:  []string{`[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t"},`+texts(2, "")) + `]`},
	},
	"call-ids": {
		breaks: []string{calls("a b"), calls(""), calls("ü")},
		keeps:  []string{calls("toolu_01-A")},
	},
	"call-ids-unique": {
		breaks: []string{`[` + hi + `,` + use + `,` + done + `,` + use + `,` + done + `]`},
		keeps:  []string{`[` + hi + `,` + use + `,` + done + `,` + strings.ReplaceAll(use, `"t"`, `"u"`) + `,` + strings.ReplaceAll(done, `"t"`, `"u"`) + `]`},
	},
	"tool-names": {
		breaks: []string{named("a.b"), named(""), named(strings.Repeat("n", 129))},
		keeps:  []string{named("mcp__a-B_9"), named(strings.Repeat("n", 128))},
	},
	"input-object": {
		breaks: []string{input(`"x"`), input(`[]`), input(`null`), strings.Replace(input(`1`), `,"input":1`, ``, 1)},
		keeps:  []string{input(`{}`)},
	},
	"failed-results": {
		breaks: []string{
			answered(`"is_error":true`), answered(`"is_error":true,"content":""`), answered(`"is_error":true,"content":[]`),
			answered(`"is_error":true,"content":[{"type":"image","source":{"type":"file","file_id":"f"}}]`),
		},
		keeps: []string{
			answered(`"is_error":true,"content":"no"`), answered(`"is_error":false`), answered(`"is_error":null`),
			answered(`"content":[{"type":"image","source":{"type":"file","file_id":"f"}}]`),
		},
	},
	"result-content": {
		breaks: []string{
			answered(`"content":[{"type":"tool_use","id":"u","name":"n"}]`), answered(`"content":[{"type":"tool_result","tool_use_id":"u"}]`),
			answered(`"content":[{"type":"thinking","thinking":"a","signature":"c"}]`),
		},
		keeps: []string{answered(`"content":[{"type":"tool_reference","tool_name":"n"},{"type":"search_result"},{"type":"hologram"}]`)},
	},
	"media-source": {
		breaks: []string{
			pictured("image", `{"type":"base64","media_type":"image/svg+xml","data":"AQID"}`),
			pictured("image", `{"type":"base64","media_type":"image/png","data":""}`),
			pictured("image", `{"type":"text","media_type":"text/plain","data":"a"}`),
			pictured("image", `{"type":"content","content":"a"}`),
			pictured("image", `{"type":"url","url":"gs://bucket/a"}`),
			pictured("image", `{"type":"file","file_id":""}`),
			pictured("document", `{"type":"base64","media_type":"image/png","data":"AQID"}`),
			pictured("document", `{"type":"text","media_type":"text/csv","data":"a"}`),
			pictured("document", `{"type":"text","media_type":"text/plain","data":" "}`),
			answered(`"content":[{"type":"image","source":{"type":"url","url":""}}]`),
		},
		keeps: []string{
			pictured("image", `{"type":"base64","media_type":"image/webp","data":"AQID"}`),
			pictured("image", `{"type":"url","url":"https://example.com/a"}`),
			pictured("image", `{"type":"stream"}`),
			pictured("document", `{"type":"base64","media_type":"application/pdf","data":"AQID"}`),
			pictured("document", `{"type":"text","media_type":"text/plain","data":"a"}`),
			pictured("document", `{"type":"content","content":"a"}`),
		},
	},
	"image-size": {
		breaks: []string{pictured("image", `{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("A", 5<<20+4)+`"}`)},
		keeps: []string{
			pictured("image", `{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("A", 5<<20)+`"}`),
			pictured("document", `{"type":"base64","media_type":"application/pdf","data":"`+strings.Repeat("A", 6<<20)+`"}`),
		},
	},
	"thinking-signed": {
		breaks: []string{thought(`{"type":"thinking","thinking":"a"}`), thought(`{"type":"thinking","thinking":"a","signature":""}`), thought(`{"type":"redacted_thinking"}`)},
		keeps:  []string{thought(`{"type":"thinking","thinking":"a","signature":"c"}`), thought(`{"type":"redacted_thinking","data":"c"}`)},
	},
	"thinking-not-last": {
		breaks: []string{
			`[` + hi + `,` + says("assistant", `{"type":"thinking","thinking":"a","signature":"c"}`) + `,` + hi + `]`,
			`[` + hi + `,` + says("assistant", texts(1, "")+`,{"type":"redacted_thinking","data":"c"}`) + `,` + hi + `]`,
		},
		keeps: []string{thought(`{"type":"thinking","thinking":"a","signature":"c"}`)},
	},
	"server-tool-results": {
		breaks: []string{
			thought(`{"type":"server_tool_use","id":"s","name":"n","input":{}}`),
			thought(`{"type":"mcp_tool_use","id":"s","name":"n","input":{}}`),
			thought(`{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`),
			thought(`{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"server_tool_use","id":"s","name":"n","input":{}}`),
			`[` + hi + `,` + says("assistant", `{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"type":"code","tool_id":"s"}}`) + `,` + done + `]`,
		},
		keeps: []string{
			thought(`{"type":"server_tool_use","id":"s","name":"n","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`),
			`[` + hi + `,` + program + `,` + done + `]`,
			`[` + hi + `,` + program + `,` + done + `,` + says("assistant", `{"type":"code_execution_tool_result","tool_use_id":"s","content":{}},`+texts(1, "")) + `,` + hi + `]`,
		},
	},
	"program-results-alone": {
		breaks: []string{`[` + hi + `,` + program + `,` + says("user", `{"type":"tool_result","tool_use_id":"t"},`+texts(1, "")) + `]`},
		keeps:  []string{`[` + hi + `,` + program + `,` + done + `]`},
	},
	"compaction-content": {
		breaks: []string{thought(`{"type":"compaction","content":""}`), thought(`{"type":"compaction","content":[]}`)},
		keeps:  []string{thought(`{"type":"compaction","content":null}`), thought(`{"type":"compaction"}`), thought(`{"type":"compaction","content":"a"}`)},
	},
	"cache-control-count": {
		breaks: []string{
			`[` + says("user", texts(5, marked)) + `]`,
			`{"system":[` + texts(2, marked) + `],"messages":[` + says("user", texts(3, marked)) + `]}`,
			answered(`"content":[` + texts(3, marked) + `,{"type":"document"` + marked + `,"source":{"type":"content","content":[` + texts(1, marked) + `]}}]`),
		},
		keeps: []string{`{"system":[` + texts(2, marked) + `],"messages":[` + says("user", texts(2, marked)+`,`+texts(2, `,"cache_control":null`)) + `]}`},
	},
	"cache-control-place": {
		breaks: []string{thought(`{"type":"thinking","thinking":"a","signature":"c"` + marked + `}`)},
		keeps:  []string{thought(texts(1, marked))},
	},
	"cache-control-order": {
		breaks: []string{
			`[` + says("user", texts(1, marked)+`,`+texts(1, markedLong)) + `]`,
			`{"system":[` + texts(1, marked) + `],"messages":[` + says("user", texts(1, markedLong)) + `]}`,
		},
		keeps: []string{`[` + says("user", texts(2, markedLong)+`,`+texts(2, marked)) + `]`},
	},
}

const (
	marked     = `,"cache_control":{"type":"ephemeral"}`
	markedLong = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	// program is a turn in which the provider runs code that calls a tool of the client.
	program = `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"code_execution","input":{}},
		{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]}`
)

func calls(id string) string { return call1(id, "n", "{}") }

func named(name string) string { return call1("t", name, "{}") }

func input(raw string) string { return call1("t", "n", raw) }

func call1(id, name, input string) string {
	return `[` + hi + `,` + says("assistant", `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":`+input+`}`) + `,` +
		says("user", `{"type":"tool_result","tool_use_id":"`+id+`"}`) + `]`
}

func answered(fields string) string {
	return `[` + hi + `,` + use + `,` + says("user", `{"type":"tool_result","tool_use_id":"t",`+fields+`}`) + `]`
}

func pictured(typ, source string) string {
	return `[` + says("user", `{"type":"`+typ+`","source":`+source+`}`) + `]`
}

// thought returns a list with blocks before a text of the assistant.
func thought(blocks string) string {
	return `[` + hi + `,` + says("assistant", blocks+`,`+texts(1, "")) + `,` + hi + `]`
}

func validate(t *testing.T, raw string, mode dialect.Mode) []string {
	t.Helper()
	split, err := anthropic.New().Split([]byte(raw))
	require.NoError(t, err)
	dialecttest.RequireJudgedAsRead(t, anthropic.New(), split)
	var rules []string
	for _, v := range anthropic.New().Validate(split, mode) {
		rules = append(rules, v.Rule)
	}
	return slices.Compact(rules)
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, rule := range anthropic.New().Rules() {
		name := strings.TrimPrefix(rule.ID, "anthropic.")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ruleCases[name]
			require.NotEmpty(t, c.breaks)
			require.NotEmpty(t, c.keeps)
			for _, raw := range c.breaks {
				require.Equal(t, []string{rule.ID}, validate(t, raw, dialect.Request), "%.1000s", raw)
				if rule.RequestOnly {
					require.Empty(t, validate(t, raw, dialect.History), "%.1000s", raw)
				}
			}
			for _, raw := range c.keeps {
				require.Empty(t, validate(t, raw, dialect.Request), "%.1000s", raw)
			}
		})
	}
	require.Len(t, ruleCases, len(anthropic.New().Rules()))
}

// The end of the list can still get an answer or be continued.
func TestHistoryWaivesTheEnd(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`[]`, `[` + hi + `,` + use + `]`, `[` + hi + `,` + says("assistant", ``) + `]`, `[` + hi + `,` + hello + `]`,
		`[` + hi + `,` + says("assistant", `{"type":"thinking","thinking":"a","signature":"c"}`) + `]`,
		`[` + hi + `,` + says("assistant", `{"type":"server_tool_use","id":"s","name":"n","input":{}}`) + `]`,
	} {
		require.Empty(t, validate(t, raw, dialect.History), raw)
	}
}

// A list that was made by hand can hold invalid JSON.
func TestValidateTakesAnything(t *testing.T) {
	t.Parallel()
	list := &dialect.List{
		System:   []json.RawMessage{nil, json.RawMessage(`{`), json.RawMessage(` {"type":"text","text":"a"} `)},
		Messages: []json.RawMessage{nil, json.RawMessage(`nope`), json.RawMessage(hi), json.RawMessage("\n" + hello)},
	}
	var places []int
	for _, v := range anthropic.New().Validate(list, dialect.History) {
		require.Equal(t, "anthropic.shape", v.Rule)
		places = append(places, v.Message)
	}
	require.Equal(t, []int{-1, -1, 0, 1}, places)
}

func TestViolationsTellTheirPlace(t *testing.T) {
	t.Parallel()
	split, err := anthropic.New().Split([]byte(`[` + hi + `,` + says("assistant", texts(1, "")+`,{"type":"tool_use","id":"secret id","name":"n","input":"secret"}`) + `,` +
		says("user", `{"type":"secret","secret":1},{"type":"tool_result","tool_use_id":"secret"}`) + `]`))
	require.NoError(t, err)
	found := anthropic.New().Validate(split, dialect.Request)
	var lines []string
	for _, v := range found {
		lines = append(lines, v.String())
	}
	require.Equal(t, []string{
		"message 1, part 1: anthropic.results-follow-calls: the call has no result in the next message",
		"message 1, part 1: anthropic.call-ids: the id of the call is empty or has other characters",
		"message 1, part 1: anthropic.input-object: the input is a string",
		"message 2, part 1: anthropic.results-have-calls: the result answers no call of the message before",
		"message 2, part 1: anthropic.results-first: the result comes after other content",
	}, lines)
	require.NotContains(t, strings.Join(lines, ""), "secret")
}

// One field was counted as "1 fields".
func TestUnknownFieldsAreCounted(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"role":"user","content":"Hi","usage":1}`:            "there is 1 field that a message does not have",
		`{"role":"user","content":"Hi","usage":1,"model":""}`: "there are 2 fields that a message does not have",
	} {
		split, err := anthropic.New().Split([]byte(`[` + message + `]`))
		require.NoError(t, err)
		found := anthropic.New().Validate(split, dialect.Request)
		require.NotEmpty(t, found)
		require.Equal(t, want, found[0].Detail)
	}
}
