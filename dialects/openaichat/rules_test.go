package openaichat_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

const (
	askedOnce  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	askedTwice = `{"role":"assistant","content":null,"tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
		{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	answerA = `{"role":"tool","tool_call_id":"a","content":"1"}`
	answerB = `{"role":"tool","tool_call_id":"b","content":"2"}`
	user    = `{"role":"user","content":"hi"}`
)

// call returns a call with these fields, and its result.
func call(id, function string) string {
	return `{"role":"assistant","tool_calls":[{"id":` + id + `,"type":"function","function":` + function + `}]},` +
		`{"role":"tool","tool_call_id":` + id + `,"content":"1"}`
}

func userPart(part string) string { return `{"role":"user","content":[` + part + `]}` }

// ruleCases holds for each rule lists that break it and no other, and similar lists that break none.
var ruleCases = map[string]struct{ broken, valid []string }{
	"openai_chat.shape": {
		broken: []string{
			`1`, `null`, `{"content":"hi"}`, `{"role":1,"content":"hi"}`, `{"role":"robot","content":"hi"}`,
			`{"role":"user","content":{"text":"hi"}}`, userPart(`"hi"`), userPart(`{"text":"hi"}`),
			userPart(`{"type":"text"}`), userPart(`{"type":"text","text":1}`),
			`{"role":"user","content":"hi","name":1}`,
			`{"role":"assistant","content":"hi","tool_calls":{}}`,
			`{"role":"assistant","content":"hi","tool_calls":[1]}`,
			`{"role":"assistant","content":"hi","tool_calls":[{"id":"a","type":"mcp","mcp":{}}]},{"role":"tool","tool_call_id":"a","content":""}`,
			`{"role":"assistant","content":"hi","tool_calls":[{"id":"a","type":"function"}]},{"role":"tool","tool_call_id":"a","content":""}`,
			`{"role":"assistant","content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":""}`,
			`{"role":"assistant","content":"hi","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f"}}]},{"role":"tool","tool_call_id":"a","content":""}`,
			`{"role":"assistant","content":"hi","tool_calls":[{"id":1,"type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"assistant","content":"hi","function_call":"f"}`,
		},
		valid: []string{
			user, userPart(`{"type":"text","text":"hi"}`), `{"role":"user","content":"hi","name":null}`,
			`{"role":"assistant","content":"hi","tool_calls":null,"refusal":null}`,
		},
	},
	"openai_chat.messages-present": {broken: []string{``}, valid: []string{user}},
	"openai_chat.content-required": {
		broken: []string{
			`{"role":"user"}`, `{"role":"system","content":null}`, `{"role":"developer"}`, `{"role":"function","name":"f"}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":null}`,
		},
		valid: []string{askedOnce + `,{"role":"tool","tool_call_id":"a","content":""}`, `{"role":"function","name":"f","content":null}`},
	},
	"openai_chat.assistant-content": {
		broken: []string{
			`{"role":"assistant"}`, `{"role":"assistant","content":null}`, `{"role":"assistant","content":""}`,
			`{"role":"assistant","content":[]}`, `{"role":"assistant","content":null,"refusal":"no"}`,
			`{"role":"assistant","reasoning_content":"so"}`,
		},
		valid: []string{
			`{"role":"assistant","content":" "}`, `{"role":"assistant","audio":{"id":"x"}}`, askedOnce + "," + answerA,
			`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`,
			`{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}`,
		},
	},
	"openai_chat.content-not-empty": {
		broken: []string{
			`{"role":"user","content":""}`, `{"role":"system","content":""}`, `{"role":"user","content":[]}`,
			userPart(`{"type":"text","text":""}`), `{"role":"assistant","content":[{"type":"text","text":""}]}`,
			`{"role":"assistant","content":[{"type":"refusal","refusal":""}]}`,
			strings.Replace(askedOnce, "null", "[]", 1) + "," + answerA,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":[]}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":""}]}`,
		},
		valid: []string{
			`{"role":"user","content":" "}`, askedOnce + `,{"role":"tool","tool_call_id":"a","content":""}`,
			strings.Replace(askedOnce, "null", `""`, 1) + "," + answerA,
		},
	},
	"openai_chat.parts-of-role": {
		broken: []string{
			`{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`,
			`{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":[{"type":"thing"}]}`,
			userPart(`{"type":"refusal","refusal":"no"}`),
		},
		valid: []string{
			userPart(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`), userPart(`{"type":"video_url"}`),
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]}`,
		},
	},
	"openai_chat.refusal-alone": {
		broken: []string{
			`{"role":"assistant","content":[{"type":"text","text":"well"},{"type":"refusal","refusal":"no"}]}`,
			`{"role":"assistant","content":[{"type":"refusal","refusal":"no"},{"type":"refusal","refusal":"no"}]}`,
		},
		valid: []string{
			`{"role":"assistant","content":[{"type":"text","text":"well"},{"type":"text","text":"no"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"well"}],"refusal":"no"}`,
		},
	},
	"openai_chat.image-source": {
		broken: []string{
			userPart(`{"type":"image_url"}`), userPart(`{"type":"image_url","image_url":"https://example.com/a.png"}`),
			userPart(`{"type":"image_url","image_url":{}}`), userPart(`{"type":"image_url","image_url":{"url":""}}`),
			userPart(`{"type":"image_url","image_url":{"url":"gs://bucket/a.png"}}`),
			userPart(`{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,AQID"}}`),
			userPart(`{"type":"image_url","image_url":{"url":"data:image/png,AQID"}}`),
			userPart(`{"type":"image_url","image_url":{"url":"data:image/png;base64,"}}`),
			userPart(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI"}}`),
		},
		valid: []string{
			userPart(`{"type":"image_url","image_url":{"url":"http://example.com/a.png","detail":"low"}}`),
			userPart(`{"type":"image_url","image_url":{"url":"data:image/webp;base64,AQID"}}`),
		},
	},
	"openai_chat.audio-format": {
		broken: []string{
			userPart(`{"type":"input_audio","input_audio":{"data":"AQID"}}`),
			userPart(`{"type":"input_audio","input_audio":{"data":"AQID","format":"flac"}}`),
			userPart(`{"type":"input_audio","input_audio":{"data":"no!","format":"wav"}}`),
		},
		valid: []string{userPart(`{"type":"input_audio","input_audio":{"data":"AQID","format":"mp3"}}`)},
	},
	"openai_chat.file-source": {
		broken: []string{
			userPart(`{"type":"file","file":{"filename":"a.pdf"}}`), userPart(`{"type":"file","file":{"file_id":""}}`),
			userPart(`{"type":"file","file":{"file_data":"AQID","filename":"a.pdf"}}`),
			userPart(`{"type":"file","file":{"file_data":"data:text/plain;base64,AQID"}}`),
		},
		valid: []string{
			userPart(`{"type":"file","file":{"file_id":"file-a"}}`),
			userPart(`{"type":"file","file":{"file_data":"data:application/pdf;base64,AQID","filename":"a.pdf"}}`),
		},
	},
	"openai_chat.calls-not-empty": {
		broken: []string{`{"role":"assistant","content":"hi","tool_calls":[]}`},
		valid:  []string{`{"role":"assistant","content":"hi"}`, askedOnce + "," + answerA},
	},
	"openai_chat.call-id": {
		broken: []string{
			`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"assistant","tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"tool","content":"1"}`,
		},
		valid: []string{askedOnce + "," + answerA},
	},
	"openai_chat.call-id-length": {
		broken: []string{call(`"`+strings.Repeat("a", 41)+`"`, `{"name":"f","arguments":"{}"}`)},
		valid:  []string{call(`"`+strings.Repeat("a", 40)+`"`, `{"name":"f","arguments":"{}"}`)},
	},
	"openai_chat.call-ids-unique": {
		broken: []string{
			askedOnce + "," + answerA + "," + askedOnce + "," + answerA,
			strings.Replace(askedTwice, `"b"`, `"a"`, 1) + "," + answerA,
		},
		valid: []string{askedOnce + "," + answerA + "," + strings.Replace(askedOnce, `"a"`, `"b"`, 1) + "," + answerB},
	},
	"openai_chat.tool-name": {
		broken: []string{
			call(`"a"`, `{"name":"a.b","arguments":"{}"}`), call(`"a"`, `{"name":"","arguments":"{}"}`),
			call(`"a"`, `{"arguments":"{}"}`), call(`"a"`, `{"name":"`+strings.Repeat("f", 65)+`","arguments":"{}"}`),
			`{"role":"assistant","function_call":{"name":"a b","arguments":"{}"}}`, `{"role":"function","content":"1"}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":"1","name":"a b"}`,
		},
		valid: []string{
			call(`"a"`, `{"name":"`+strings.Repeat("f", 64)+`","arguments":"{}"}`), call(`"a"`, `{"name":"A-b_9","arguments":"{}"}`),
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":"1","name":"f"}`,
		},
	},
	"openai_chat.participant-name": {
		broken: []string{`{"role":"user","content":"hi","name":"two words"}`, `{"role":"system","content":"hi","name":""}`},
		valid:  []string{`{"role":"user","content":"hi","name":"one-word"}`},
	},
	"openai_chat.arguments-string": {
		broken: []string{
			call(`"a"`, `{"name":"f","arguments":{}}`), call(`"a"`, `{"name":"f"}`), call(`"a"`, `{"name":"f","arguments":null}`),
			`{"role":"assistant","function_call":{"name":"f","arguments":{}}}`,
		},
		valid: []string{call(`"a"`, `{"name":"f","arguments":"{}"}`)},
	},
	"openai_chat.arguments-object": {
		broken: []string{
			call(`"a"`, `{"name":"f","arguments":""}`), call(`"a"`, `{"name":"f","arguments":"[]"}`),
			call(`"a"`, `{"name":"f","arguments":"{\"a\":"}`),
			`{"role":"assistant","function_call":{"name":"f","arguments":"no"}}`,
		},
		valid: []string{
			call(`"a"`, `{"name":"f","arguments":" {\"a\": 1e3} "}`),
			`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"no JSON"}}]},` + answerA,
		},
	},
	"openai_chat.calls-answered": {
		broken: []string{
			askedOnce + "," + user, askedTwice + "," + answerB + "," + user, askedOnce + `,{"role":"assistant","content":"hm"}`,
		},
		valid: []string{askedTwice + "," + answerB + "," + answerA + "," + user},
	},
	"openai_chat.last-calls-answered": {
		broken: []string{user + "," + askedOnce, askedTwice + "," + answerA},
		valid:  []string{user + "," + askedOnce + "," + answerA},
	},
	"openai_chat.results-follow-calls": {
		broken: []string{
			answerA, user + "," + answerA, askedOnce + "," + answerA + "," + answerB,
			askedOnce + "," + answerA + "," + user + "," + answerA,
		},
		valid: []string{askedTwice + "," + answerA + "," + answerB},
	},
	"openai_chat.result-once": {
		broken: []string{askedOnce + "," + answerA + "," + answerA},
		valid:  []string{askedTwice + "," + answerA + "," + answerB},
	},
	"openai_chat.transcript-fields": {
		broken: []string{
			`{"role":"user","content":"hi","timestamp":1}`, `{"role":"assistant","content":"hi","usage":{}}`,
			askedOnce + `,{"role":"tool","tool_call_id":"a","content":"1","is_error":true}`,
			`{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` + answerA,
			`{"role":"assistant","content":"hi","parsed":null}`,
			`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}","parsed_arguments":null}}]},` + answerA,
		},
		valid: []string{`{"role":"assistant","content":"hi","annotations":[],"reasoning_content":"so"}`},
	},
}

func TestRules(t *testing.T) {
	t.Parallel()
	d := openaichat.New()
	var ids []string
	for _, r := range d.Rules() {
		ids = append(ids, r.ID)
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			for _, broken := range ruleCases[r.ID].broken {
				violations := d.Validate(listOf(t, broken), dialect.Request)
				require.NotEmpty(t, violations, broken)
				dialecttest.RequireJudgedAsRead(t, d, listOf(t, broken))
				for _, v := range violations {
					require.Equal(t, r.ID, v.Rule, "%s: %s", broken, v)
				}
				if r.RequestOnly {
					require.Empty(t, d.Validate(listOf(t, broken), dialect.History), broken)
				} else {
					require.Equal(t, violations, d.Validate(listOf(t, broken), dialect.History), broken)
				}
			}
			for _, valid := range ruleCases[r.ID].valid {
				require.Empty(t, d.Validate(listOf(t, valid), dialect.Request), valid)
			}
		})
	}
	require.ElementsMatch(t, ids, slices.Collect(maps.Keys(ruleCases)))
}

func TestViolationsTellTheirPlace(t *testing.T) {
	t.Parallel()
	list := listOf(t, user+","+askedTwice+","+answerA+","+user+","+userPart(`{"type":"text","text":"a"},{"type":"text","text":""}`))
	violations := openaichat.New().Validate(list, dialect.Request)
	require.Equal(t, []dialect.Violation{
		{Rule: "openai_chat.calls-answered", Message: 1, Part: 1, Detail: "a call has no result"},
		{Rule: "openai_chat.content-not-empty", Message: 4, Part: 1, Detail: "a part of the content is an empty text"},
	}, violations)
}
