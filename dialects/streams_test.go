package dialects_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// stream joins events to the list that a client sends.
func stream(events ...string) string { return "[" + strings.Join(events, ",") + "]" }

// A stream is parsed like the body of the same response.
func TestStreamsGiveWhatBodiesGive(t *testing.T) {
	chunk := func(choices string) string {
		return `{"object":"chat.completion.chunk","model":"m","choices":[` + choices + `]}`
	}
	for name, c := range map[string]struct{ dialect, stream, body string }{
		"OpenAI Chat: interleaved calls, reasoning, usage at the end": {
			"openai_chat",
			stream(
				`{"object":"","model":"","choices":[],"prompt_filter_results":[]}`,
				chunk(`{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"Wh"}}`),
				chunk(`{"index":0,"delta":{"reasoning_content":"ere?"}}`),
				chunk(`{"index":0,"delta":{"content":"I \ud83d"}}`),
				chunk(`{"index":0,"delta":{"content":"\ude00."}}`),
				chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":""}}]}}`),
				chunk(`{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"cat","arguments":"{\"f\""}}]}}`),
				chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":":1}"}}]}}`),
				chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`),
				`{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			),
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I 😀.",
			"reasoning_content":"Where?","tool_calls":[
			{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},
			{"id":"b","type":"function","function":{"name":"cat","arguments":"{\"f\":1}"}}]}}],
			"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
		},
		"OpenAI Chat: a refusal, with what SDKs add": {
			"openai_chat",
			stream(
				`{"type":"chunk","chunk":`+chunk(`{"index":0,"delta":{"role":"assistant","content":null,"refusal":"I c"}}`)+`,"snapshot":{}}`,
				`{"type":"refusal.delta","delta":"I c"}`,
				`{"type":"chunk","chunk":`+chunk(`{"index":0,"delta":{"role":null,"content":null,"refusal":"an't.","tool_calls":null},"finish_reason":"stop"}`)+`}`,
			),
			`{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I can't.","tool_calls":null}}]}`,
		},
		"OpenAI Chat: calls that are all number 0, ids that come again, usage in the choice": {
			"openai_chat",
			stream(
				chunk(`{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":"{"}}]}}`),
				chunk(`{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":"}"}}]}}`),
				chunk(`{"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"cat","arguments":"{}"}}]}}`),
				chunk(`{"delta":{},"finish_reason":"length","usage":{"prompt_tokens":5,"completion_tokens":2}}`),
			),
			`{"model":"m","choices":[{"finish_reason":"length","message":{"role":"assistant","tool_calls":[
			{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},
			{"id":"b","type":"function","function":{"name":"cat","arguments":"{}"}}]}}],
			"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
		},
		"OpenAI Chat: whole calls without numbers, reasoning in details": {
			"openai_chat",
			stream(
				chunk(`{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"Wh","index":0}]}}`),
				chunk(`{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"at?","index":0}]}}`),
				chunk(`{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}}`),
				chunk(`{"delta":{"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}}`),
				chunk(`{"delta":{"tool_calls":[{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}`),
			),
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant",
			"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"c2ln","text":"What?"}],"tool_calls":[
			{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},
			{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}`,
		},
		"OpenAI Chat: content in parts": {
			"openai_chat",
			stream(
				chunk(`{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Wh"}]}]}}`),
				chunk(`{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"at?"}]}]}}`),
				chunk(`{"delta":{"content":"Ni"}}`), chunk(`{"delta":{"content":"ne."},"finish_reason":"stop"}`),
			),
			`{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":[
			{"type":"thinking","thinking":[{"type":"text","text":"What?"}]},{"type":"text","text":"Nine."}]}}]}`,
		},
		"Anthropic: thinking, a search, a call, with what SDKs add": {
			"anthropic",
			stream(
				`{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"of the SDK"}],
					"stop_reason":null,"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"ping"}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Wh"}}`,
				`{"type":"thinking","thinking":"Wh","snapshot":"Wh"}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"at?"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
				`{"type":"content_block_stop","index":0,"content_block":{"type":"thinking","thinking":"What?","signature":"c2ln"}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"st","name":"web_search","input":{}}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\": 1.0}"}}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"st","content":[]}}`,
				`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"","citations":null}}`,
				`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"Nine."}}`,
				`{"type":"text","text":"Nine.","snapshot":"Nine."}`,
				`{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"cited_text":"9"}}}`,
				`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{}}}`,
				`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9,"input_tokens":null}}`,
				`{"type":"message_stop","message":{"role":"assistant"}}`,
			),
			`{"type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[
			{"type":"thinking","thinking":"What?","signature":"c2ln"},
			{"type":"server_tool_use","id":"st","name":"web_search","input":{"q": 1.0}},
			{"type":"web_search_tool_result","tool_use_id":"st","content":[]},
			{"type":"text","text":"Nine.","citations":[{"cited_text":"9"}]},
			{"type":"tool_use","id":"t","name":"ls","input":{}}],
			"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":9}}`,
		},
		"OpenAI Responses: the last event holds it all": {
			"openai_responses",
			stream(
				`{"type":"response.created","response":{"status":"in_progress","output":[]}}`,
				`{"type":"keepalive"}`,
				`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"N"}`,
				`{"type":"response.incomplete","response":{"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
				"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"ZQ=="}],"usage":{"input_tokens":5,"output_tokens":2}}}`,
			),
			`{"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
			"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"ZQ=="}],"usage":{"input_tokens":5,"output_tokens":2}}`,
		},
		"OpenAI Responses: a failure": {
			"openai_responses",
			stream(
				`{"type":"response.created","response":{"status":"in_progress","output":[]}}`,
				`{"type":"response.failed","response":{"model":"m","status":"failed","error":{"code":"server_error","message":"Sorry."}}}`,
			),
			`{"model":"m","status":"failed","error":{"code":"server_error","message":"Sorry."},"output":[]}`,
		},
		"Gemini: thoughts, texts, a signature alone, calls": {
			"gemini",
			stream(
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"Wh","thought":true}]}}],"modelVersion":"m"}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"at?","thought":true},{"text":"Ni"}]}}],
					"usageMetadata":{"promptTokenCount":5}}`,
				`{"candidates":[{"content":{"parts":[{"text":"ne."},{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"}]}}]}`,
				`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]},"finishReason":"MAX_TOKENS"}],
					"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}`,
				`{"responseId":"r"}`,
			),
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"What?","thought":true},{"text":"Nine."},
			{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"},{"text":"","thoughtSignature":"c2ln"}]},
			"finishReason":"MAX_TOKENS"}],"modelVersion":"m","usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}`,
		},
		"Gemini: as the SDK for Python dumps it": {
			"gemini",
			stream(
				`{"sdk_http_response":null,"candidates":[{"content":{"role":"model","parts":[{"text":"Ni","thought":null,"function_call":null}]},
					"finish_reason":null,"index":0}],"prompt_feedback":null,"model_version":"m"}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"ne.","thought":null,"function_call":null}]},
					"finish_reason":"STOP","index":0}],"usage_metadata":{"prompt_token_count":5,"candidates_token_count":2}}`,
			),
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"Nine.","thought":null,"function_call":null}]},
			"finish_reason":"STOP"}],"model_version":"m","usage_metadata":{"prompt_token_count":5,"candidates_token_count":2}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, known := dialects.Named(c.dialect)
			require.True(t, known)
			dialecttest.RequireStreamed(t, d, []byte(c.stream), []byte(c.body))
		})
	}
}

const (
	aborted = compactordv1.StopReason_STOP_REASON_ABORTED
	failed  = compactordv1.StopReason_STOP_REASON_ERROR
)

// A stream that broke off keeps what came: the message is aborted, and a finding says so. Where the provider ended the
// stream with an error, the message has that error.
func TestStreamsThatBreakOff(t *testing.T) {
	for name, c := range map[string]struct {
		dialect, stream string
		stop            compactordv1.StopReason
		// parts are the texts, and the arguments of the calls. word and text are the provider's.
		parts, findings []string
		word, text      string
	}{
		"OpenAI Chat": {
			"openai_chat", stream(`{"choices":[{"delta":{"content":"Ni"}}]}`), aborted,
			[]string{"Ni"},
			[]string{dialect.InputStreamCut},
			"", "",
		},
		"OpenAI Chat, within a call": {
			"openai_chat", stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function",
				"function":{"name":"ls","arguments":"{\"a\": \"b"}}]}}]}`), aborted,
			[]string{`{"a": "b`},
			[]string{dialect.InputStreamCut, dialect.InputArgumentsNotJSON},
			"", "",
		},
		"OpenAI Chat, before the first word": {
			"openai_chat", stream(`{"choices":[],"object":"chat.completion.chunk"}`), aborted,
			nil,
			[]string{dialect.InputStreamCut},
			"", "",
		},
		"OpenAI Chat, by an error": {
			"openai_chat", stream(
				`{"choices":[{"delta":{"content":"Ni"}}]}`,
				`{"error":{"code":"context_length_exceeded","message":"Too long."},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`,
			), failed, []string{"Ni"}, nil, "context_length_exceeded", "Too long.",
		},
		"Anthropic": {
			"anthropic", stream(
				`{"type":"message_start","message":{"role":"assistant","stop_reason":null}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ni"}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{}}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"b"}}`,
			), aborted, []string{"Ni", `{"a": "b`}, []string{dialect.InputStreamCut, dialect.InputArgumentsNotJSON}, "", "",
		},
		"Anthropic, by an error before the first word": {
			"anthropic", stream(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), failed,
			nil, nil, "overloaded_error", "Overloaded",
		},
		"OpenAI Responses": {
			"openai_responses", stream(
				`{"type":"response.created","response":{"status":"in_progress","output":[]}}`,
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}`,
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}}`,
				`{"type":"response.output_text.delta","output_index":1,"content_index":1,"delta":"ne."}`,
				`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"N"}`,
				`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"i"}`,
				`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c","name":"ls","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"a\""}`,
				`{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"b\":1}"}`,
			), aborted, []string{"Ni", "ne.", `{"b":1}`}, []string{dialect.InputStreamCut}, "in_progress", "",
		},
		"OpenAI Responses, by an error": {
			"openai_responses", stream(`{"type":"error","code":"context_length_exceeded","message":"Too long.","param":null}`), failed,
			nil, nil, "context_length_exceeded", "Too long.",
		},
		"Gemini": {
			"gemini", stream(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Ni"}]}}]}`), aborted,
			[]string{"Ni"},
			[]string{dialect.InputStreamCut},
			"", "",
		},
		"Gemini, by an error": {
			"gemini", stream(
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"Ni"}]}}]}`,
				`{"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}`,
			), failed, []string{"Ni"}, nil, "UNAVAILABLE", "Overloaded.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := dialects.Named(c.dialect)
			parsed, err := d.Parse([]byte(c.stream))
			require.NoError(t, err)
			require.Len(t, parsed.Messages, 1)
			m := parsed.Messages[0]
			require.Equal(t, c.stop, m.GetStopReason())
			require.Equal(t, c.stop == aborted, parsed.Cut)
			require.Equal(t, c.text, m.GetErrorText())
			require.Equal(t, c.word, parsed.ProviderStop)
			require.Equal(t, c.parts, readable(m))
			var rules []string
			for _, f := range parsed.Findings {
				rules = append(rules, f.Rule)
			}
			require.Equal(t, c.findings, rules)
		})
	}
}

// readable returns the texts of a message, and the arguments of its calls.
func readable(m *compactordv1.Message) []string {
	var all []string
	for _, p := range m.GetParts() {
		switch {
		case p.GetText() != nil:
			all = append(all, p.GetText().GetText())
		case p.GetToolCall() != nil:
			all = append(all, p.GetToolCall().GetArguments())
		}
	}
	return all
}

// Of several interleaved choices, the one with the lowest number counts.
func TestFirstChoiceOfAStreamIsTaken(t *testing.T) {
	for name, raw := range map[string]string{
		"openai_chat": `[{"choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]},
			{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]},
			{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}]`,
		"gemini": `[{"candidates":[{"index":1,"content":{"parts":[{"text":"B"}]}},{"index":0,"content":{"parts":[{"text":"A"}]}}]},
			{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}]`,
	} {
		d, _ := dialects.Named(name)
		parsed, err := d.Parse([]byte(raw))
		require.NoError(t, err)
		require.Equal(t, []string{"Aa"}, readable(parsed.Messages[0]))
		require.Len(t, parsed.Findings, 1)
		require.Equal(t, dialect.InputChoicesLeftOut, parsed.Findings[0].Rule)
	}
}

// A list that is no whole stream, or has an event without meaning, is refused with the place of the error.
func TestStreamsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		dialect, raw, field, what string
		message                   int
	}{
		{"openai_chat", `[{"choices":[]},{"role":"user","content":"a"}]`, "[1]", "is no event of a stream", -1},
		{"openai_chat", `[{"role":"user","content":"a"},{"choices":[]}]`, "role", "is missing", 1},
		{"openai_chat", `[{"choices":[{"message":{"role":"assistant","content":"a"}}]}]`, "[0].choices[0].message", "whole message", -1},
		{"openai_chat", `[{"choices":[{"delta":7}]}]`, "[0].choices[0].delta", "must be an object", -1},
		{"openai_responses", `[{"type":"response.created","response":{}},{"type":"message","role":"user","content":"a"}]`, "[1]", "is no event", -1},
		{"openai_responses", `[{"type":"response.created","response":{}},{"type":"reasoning","id":"rs","summary":[]}]`, "[1]", "is no event", -1},
		{"openai_responses", `[{"role":"user","content":"a"},{"type":"response.created","response":{}}]`, "", "is an event of a stream", 1},
		{"openai_responses", `[{"type":"response.completed","response":7}]`, "[0].response", "must be an object", -1},
		{"anthropic", `[{"type":"ping"},{"role":"user","content":"a"}]`, "[1]", "is no event of a stream", -1},
		{"anthropic", `[{"role":"user","content":"a"},{"type":"ping"}]`, "role", "is missing", 1},
		{"anthropic", `[{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}]`, "[0].index", "has not begun", -1},
		{
			"anthropic", `[{"type":"message_start","message":{}},{"type":"message_start","message":{}}]`,
			"[1]", "begins a second message", -1,
		},
		{"gemini", `[{"candidates":[]},{"role":"user","parts":[]}]`, "[1]", "is no event of a stream", -1},
		{"gemini", `[{"promptFeedback":{"blockReason":"SAFETY"}}]`, "", "the prompt was blocked", -1},
		{
			"gemini", `[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","partialArgs":[],"willContinue":true}}]}}]}]`,
			"[0].candidates[0].content.parts[0].functionCall", "arguments in pieces", -1,
		},
	} {
		d, _ := dialects.Named(c.dialect)
		_, err := d.Parse([]byte(c.raw))
		refused := &dialect.InputError{}
		require.ErrorAs(t, err, &refused, c.raw)
		require.Equal(t, dialect.InputShape, refused.Rule)
		require.Equal(t, c.message, refused.Message, c.raw)
		require.Equal(t, c.field, refused.Field, c.raw)
		require.Contains(t, refused.Error(), c.what)
	}
}

// What is larger than a log accepts is refused, however small its pieces are.
func TestLimitsHoldForStreams(t *testing.T) {
	piece, err := json.Marshal(strings.Repeat("a", 1<<20))
	require.NoError(t, err)
	for name, event := range map[string]string{
		"openai_chat": `{"choices":[{"delta":{"content":` + string(piece) + `}}]}`,
		"gemini":      `{"candidates":[{"content":{"parts":[{"text":` + string(piece) + `}]}}]}`,
	} {
		d, _ := dialects.Named(name)
		_, err = d.Parse([]byte(stream(strings.Split(strings.Repeat(event+"\n", 33)[:33*(len(event)+1)-1], "\n")...)))
		refused := &dialect.InputError{}
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, dialect.InputLimit, refused.Rule)
	}
}
