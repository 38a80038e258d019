package llmtest_test

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

func TestTextIsStreamedAsTheProviderDoes(t *testing.T) {
	t.Parallel()
	const chunk = `data: {"choices":%s,"created":1750000000,"id":"chatcmpl-0","model":"m-1","object":"chat.completion.chunk"%s}` + "\n\n"
	responses := []string{
		"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
		"response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
		"response.completed",
	}
	wants := map[llmtest.Protocol]string{
		llmtest.Chat: ": PROCESSING\n\n" +
			fmt.Sprintf(chunk, `[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0}]`, "") +
			fmt.Sprintf(chunk, `[{"delta":{"content":"Hello"},"finish_reason":null,"index":0}]`, "") +
			fmt.Sprintf(chunk, `[{"delta":{},"finish_reason":"stop","index":0}]`, "") +
			fmt.Sprintf(chunk, `[]`, `,"usage":{"completion_tokens":100,"completion_tokens_details":{"reasoning_tokens":0},`+
				`"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":1100}`) +
			"data: [DONE]\n\n",
		llmtest.Messages: `event: message_start
data: {"message":{"content":[],"id":"msg_0","model":"m-1","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message",` +
			`"usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":1000,"output_tokens":1}},"type":"message_start"}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}

event: content_block_delta
data: {"delta":{"text":"Hello","type":"text_delta"},"index":0,"type":"content_block_delta"}

event: content_block_stop
data: {"index":0,"type":"content_block_stop"}

event: message_delta
data: {"delta":{"stop_reason":"end_turn","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":100}}

event: message_stop
data: {"type":"message_stop"}

`,
		llmtest.Gemini: `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"modelVersion":"m-1","responseId":"r0",` +
			`"usageMetadata":{"cachedContentTokenCount":0,"candidatesTokenCount":100,"promptTokenCount":1000,"thoughtsTokenCount":0,"totalTokenCount":1100}}` +
			"\r\n\r\n" + `data: {"candidates":[{"finishReason":"STOP","index":0}],"modelVersion":"m-1","responseId":"r0",` +
			`"usageMetadata":{"cachedContentTokenCount":0,"candidatesTokenCount":100,"promptTokenCount":1000,"thoughtsTokenCount":0,"totalTokenCount":1100}}` +
			"\r\n\r\n",
	}
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Text("Hello"))
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusOK, answer.status)
			require.Equal(t, "text/event-stream; charset=utf-8", answer.header.Get("Content-Type"))
			if p == llmtest.Responses {
				require.Equal(t, responses, eventNames(answer.body))
				require.Contains(t, answer.body, `"delta":"Hello"`)
				require.Contains(t, answer.body, `"sequence_number":8,"type":"response.completed"`)
				require.Contains(t, answer.body, `"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":0},"output_tokens":100,`)
			} else {
				require.Equal(t, wants[p], answer.body)
			}
			asked := s.Requests()[0]
			require.Equal(t, "Hello", asked.Wrote())
			<-asked.Ended()
			require.False(t, isClosed(asked.Closed()))
		})
	}
}

func eventNames(body string) []string {
	var names []string
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
	}
	return names
}

// Answers without text, in each provider's format.
func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	usage := llmtest.Usage{Input: 50, CacheRead: 20, CacheWrite: 10, Output: 9, Thinking: 4}
	for name, c := range map[string]struct {
		reply llmtest.Reply
		wants map[llmtest.Protocol][]string
		never string
	}{
		"thinking": {llmtest.ThinkingOnly("Hm."), map[llmtest.Protocol][]string{
			llmtest.Chat:      {`"reasoning_content":"Hm."`, `"finish_reason":"stop"`},
			llmtest.Responses: {`"type":"response.reasoning_summary_text.delta"`, `"type":"reasoning"`, "event: response.completed"},
			llmtest.Messages:  {`"thinking":"Hm.","type":"thinking_delta"`, `"type":"signature_delta"`, `"end_turn"`},
			llmtest.Gemini:    {`{"text":"Hm.","thought":true}`, `"finishReason":"STOP"`},
		}, "output_text.delta"},
		"tool call": {llmtest.ToolCall("ls", `{"path":"a"}`), map[llmtest.Protocol][]string{
			llmtest.Chat:      {`"function":{"arguments":"","name":"ls"}`, `{"arguments":"{\"path\":\"a\"}"}`, `"finish_reason":"tool_calls"`},
			llmtest.Responses: {`"type":"response.function_call_arguments.delta"`, `"arguments":"{\"path\":\"a\"}"`, `"type":"function_call"`},
			llmtest.Messages:  {`"id":"toolu_0","input":{},"name":"ls","type":"tool_use"`, `"partial_json":"{\"path\":\"a\"}"`, `"tool_use"`},
			llmtest.Gemini:    {`"functionCall":{"args":{"path":"a"},"name":"ls"}`, `"finishReason":"STOP"`},
		}, "output_text.delta"},
		"refusal": {llmtest.Refusal(), map[llmtest.Protocol][]string{
			llmtest.Chat:      {`"refusal":"I can't help with that."`, `"finish_reason":"stop"`},
			llmtest.Responses: {`"type":"response.refusal.delta"`, "event: response.completed"},
			llmtest.Messages:  {`"stop_reason":"refusal"`},
			llmtest.Gemini:    {`"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}`},
		}, "output_text.delta"},
		"cut off": {llmtest.CutOff("so far"), map[llmtest.Protocol][]string{
			llmtest.Chat:      {"so far", `"finish_reason":"length"`},
			llmtest.Responses: {"so far", "event: response.incomplete", `"incomplete_details":{"reason":"max_output_tokens"}`},
			llmtest.Messages:  {"so far", `"stop_reason":"max_tokens"`},
			llmtest.Gemini:    {"so far", `"finishReason":"MAX_TOKENS"`},
		}, "response.completed"},
		"empty": {llmtest.Empty(), map[llmtest.Protocol][]string{
			llmtest.Chat: {"[DONE]"}, llmtest.Responses: {"response.completed"}, llmtest.Messages: {"message_stop"}, llmtest.Gemini: {"STOP"},
		}, "output_text.delta"},
		"usage": {llmtest.Thought("Hm.", "Yes.").Took(usage), map[llmtest.Protocol][]string{
			llmtest.Chat:      {`"prompt_tokens":50`, `"cached_tokens":20`, `"completion_tokens":9`, `"reasoning_tokens":4`},
			llmtest.Responses: {`"input_tokens":50`, `"cached_tokens":20`, `"output_tokens":9`, `"reasoning_tokens":4`},
			llmtest.Messages:  {`"input_tokens":20`, `"cache_read_input_tokens":20`, `"cache_creation_input_tokens":10`, `"output_tokens":9`},
			llmtest.Gemini:    {`"promptTokenCount":50`, `"cachedContentTokenCount":20`, `"candidatesTokenCount":5`, `"thoughtsTokenCount":4`},
		}, "nothing"},
		"no usage": {llmtest.Text("Yes.").NoUsage(), map[llmtest.Protocol][]string{
			llmtest.Chat: {"Yes."}, llmtest.Responses: {"Yes."}, llmtest.Messages: {"Yes."}, llmtest.Gemini: {"Yes."},
		}, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range llmtest.Protocols() {
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					s := llmtest.New(t)
					s.Script(c.reply)
					answer := ask(t, s, p)
					require.NoError(t, answer.err)
					for _, want := range c.wants[p] {
						require.Contains(t, answer.body, want)
					}
					require.NotContains(t, answer.body, c.never)
				})
			}
		})
	}
}

func TestLongTextComesInPieces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("中文 and more; ", 20)
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Text(text))
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.GreaterOrEqual(t, strings.Count(answer.body, "data: "), 10)
			require.NotContains(t, answer.body, "\\ufffd")
			require.Equal(t, text, s.Requests()[0].Wrote())
		})
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Empty())
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			asked := s.Await(0)
			require.Equal(t, p, asked.Protocol)
			require.Equal(t, strings.TrimSuffix(paths[p], "?alt=sse"), asked.Path)
			require.Equal(t, "yes", asked.Header.Get("X-Test"))
			require.Equal(t, bodies[p], string(asked.Body))
			require.Equal(t, "m-1", asked.Model)
			require.Equal(t, "low", asked.Effort)
			require.EqualValues(t, 70, asked.MaxTokens)
			require.Equal(t, "Be brief.", asked.System)
			require.Equal(t, "Hello there", asked.User)
			require.Equal(t, []llmtest.Turn{{Role: "user", Text: "Hello there"}}, asked.Turns)
			require.Equal(t, "Be brief.\nHello there", asked.Text())
			require.Equal(t, 1, s.MostOpen())
		})
	}
}

// All of an agent's own prompt counts: calls, results and tools too.
func TestTextsOfAnAgentsPrompt(t *testing.T) {
	t.Parallel()
	wants := map[llmtest.Protocol]string{
		llmtest.Chat: `{"model":"m","stream":true,"tools":[{"t":1}],"messages":[{"role":"user","content":"go"},` +
			`{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"done"},{"role":"user","content":"sum up"}]}`,
		llmtest.Responses: `{"model":"m","stream":true,"tools":[{"t":1}],"input":[{"role":"user","content":"go"},` +
			`{"type":"function_call","arguments":""},{"type":"function_call_output","output":"done"},{"role":"user","content":"sum up"}]}`,
		llmtest.Messages: `{"model":"m","stream":true,"max_tokens":1,"tools":[{"t":1}],"messages":[{"role":"user","content":"go"},` +
			`{"role":"assistant","content":[{"type":"tool_use","name":"x"}]},` +
			`{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"done"}]}]},{"role":"user","content":"sum up"}]}`,
		llmtest.Gemini: `{"tools":[{"t":1}],"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[]},` +
			`{"role":"user","parts":[{"text":"done"}]},{"parts":[{"text":"sum up"}]}]}`,
	}
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Empty())
			answer := askWith(t.Context(), t, s, p, wants[p])
			require.NoError(t, answer.err)
			asked := s.Requests()[0]
			require.Equal(t, "sum up", asked.User)
			require.Equal(t, "[{\"t\":1}]\ngo\n\ndone\nsum up", asked.Text())
			require.Len(t, asked.Turns, 4)
		})
	}
}

// The test decides when the next piece comes, and the client receives each piece before the next one.
func TestSlowWaitsForTheTest(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			slow := make(chan string)
			s.Script(llmtest.Slow(slow))
			answer, err := s.Client().Do(post(t.Context(), t, s.URL()+paths[p], bodies[p]))
			require.NoError(t, err)
			defer func() { require.NoError(t, answer.Body.Close()) }()
			lines := bufio.NewScanner(answer.Body)
			for _, piece := range []string{"first", "second"} {
				slow <- piece
				for lines.Scan() && !strings.Contains(lines.Text(), piece) {
					require.NotContains(t, lines.Text(), "third")
				}
				require.Contains(t, lines.Text(), piece)
			}
			close(slow)
			rest := ""
			for lines.Scan() {
				rest += lines.Text()
			}
			require.Contains(t, rest, ends[p])
			require.Equal(t, "firstsecond", s.Requests()[0].Wrote())
		})
	}
}

const instructions = "Use these headings:\n"

func instruct(headings []summarizers.Heading) string {
	text := instructions
	for _, h := range headings {
		text += h.Line() + "\n"
	}
	return text
}

func TestSummaryDoesWhatItIsAsked(t *testing.T) {
	t.Parallel()
	code := sessiontest.CodeSections()
	standard := summarizers.Headings(summarizers.History, session.StandardSections())
	prefix := summarizers.Headings(summarizers.TurnPrefix, code)
	marker := regexp.MustCompile(`mark-\d+`)
	for name, c := range map[string]struct {
		written llmtest.Written
		user    string
		kind    summarizers.Kind
		set     []*compactordv1.Section
	}{
		"named":            {llmtest.Written{}, instruct(standard), summarizers.History, nil},
		"given":            {llmtest.Written{Sections: code}, "Summarize.", summarizers.History, code},
		"turn prefix":      {llmtest.Written{Sections: code}, instruct(prefix), summarizers.TurnPrefix, code},
		"not in the talk":  {llmtest.Written{}, instruct(prefix) + "</conversation>" + instruct(standard), summarizers.History, nil},
		"nor the previous": {llmtest.Written{}, "</conversation>" + instruct(prefix) + "</previous-summary>" + instruct(standard), summarizers.History, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.written.Lines, c.written.Echo = []string{"a line"}, marker
			text := c.written.Of(&llmtest.Request{User: c.user + " mark-2 mark-1 mark-2", Turns: []llmtest.Turn{{Text: "mark-2 mark-1 mark-2"}}})
			require.Contains(t, text, "\n- a line\n")
			require.Contains(t, text, "\n- mark-2\n- mark-1\n")
			require.NoError(t, summarizers.Check(&summarizers.Request{
				Kind: c.kind, Sections: c.set, MaxTokens: 10_000, Replaces: 10_000,
				Count: func(text string) uint32 { return uint32(len(text)) },
			}, &summarizers.Summary{Text: text}))
		})
	}
	require.Equal(t, "kept", llmtest.Written{Lines: []string{"kept"}}.Of(&llmtest.Request{User: "Shorten."}))
}

func TestSummaryIsStreamed(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			written := llmtest.Written{Sections: sessiontest.CodeSections()}
			s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(written) })
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Contains(t, answer.body, ends[p])
			asked := s.Requests()[0]
			require.Equal(t, written.Of(asked), asked.Wrote())
			require.Contains(t, asked.Wrote(), "## Environment")
		})
	}
}

// complaints is a testing.TB that records errors.
type complaints struct {
	testing.TB
	mu   sync.Mutex
	text []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, fmt.Sprintf(format, args...))
}

func TestWhatNobodyExpectsFailsTheTest(t *testing.T) {
	t.Parallel()
	noted := &complaints{TB: t}
	s := llmtest.New(noted)
	s.Script(llmtest.Empty())
	for range 2 {
		require.NoError(t, ask(t, s, llmtest.Chat).err)
	}
	require.NoError(t, askWith(t.Context(), t, s, llmtest.Messages, `{"stream":true,"messages":[]}`).err)
	require.NoError(t, askWith(t.Context(), t, s, llmtest.Chat, `{"messages":[]}`).err)
	for _, path := range []string{"/v1/models", "/v1/messages/count_tokens"} {
		answer, err := s.Client().Do(post(t.Context(), t, s.URL()+path, ""))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusNotFound, answer.StatusCode)
	}
	require.Equal(t, []string{
		"request 1 to /v1/chat/completions is not in the script of 1",
		"a request to /v1/messages that the provider would not take: max_tokens is missing",
		"a request to /v1/chat/completions that the provider would not take: it does not ask for a stream",
		"a request that no protocol has: POST /v1/models",
		"a request that no protocol has: POST /v1/messages/count_tokens",
	}, noted.text)
	require.Len(t, s.Requests(), 2)
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	require.Equal(t, s.URL()+"/v1/", s.BaseURL(llmtest.Chat))
	require.Equal(t, s.URL()+"/v1/", s.BaseURL(llmtest.Responses))
	require.Equal(t, s.URL(), s.BaseURL(llmtest.Messages))
	require.Equal(t, s.URL(), s.BaseURL(llmtest.Gemini))
}
