package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

const (
	stoppedEnd    = compactordv1.StopReason_STOP_REASON_END
	stoppedCalls  = compactordv1.StopReason_STOP_REASON_TOOL_USE
	stoppedLength = compactordv1.StopReason_STOP_REASON_LENGTH
	stoppedError  = compactordv1.StopReason_STOP_REASON_ERROR
)

// answered appends a model's answer, as a provider's JSON.
func (d *daemon) answered(kind compactordv1.Dialect, raw string) *compactordv1.AppendMessagesResponse {
	d.t.Helper()
	response, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", ModelAnswer: true, ProviderJson: &compactordv1.ProviderJson{Dialect: kind, Json: raw},
	})
	require.NoError(d.t, err)
	require.NotNil(d.t, response.GetAnswer())
	return response
}

func requireAnswer(t *testing.T, want, got *compactordv1.ModelAnswer) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got, protocmp.Transform()))
}

func said(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func wants(c *compactordv1.ToolCall) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: c}}
}

// An agent's loop needs no provider's JSON: texts and calls come back as they are, without the provider's own fields.
func TestAnswerIsDescribed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind compactordv1.Dialect
		json string
	}{
		"OpenAI Chat": {chat, `{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls",
			"message":{"role":"assistant","content":"I look.","refusal":null,"reasoning_content":"Where?",
			"tool_calls":[{"id":"","type":"function","function":{"name":"ls","arguments":"{\"at\": 1}"}}]}}],
			"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}}`},
		"Anthropic": {anthropic, `{"type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[
			{"type":"text","text":"I look.","citations":null},{"type":"thinking","thinking":"Where?","signature":"c2ln"},
			{"type":"tool_use","id":"","name":"ls","input":{"at": 1}}],"usage":{"input_tokens":12,"output_tokens":7}}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", nil)
			d.append("s", user("What is there?"))
			answer := d.answered(c.kind, c.json).GetAnswer()
			require.NotZero(t, answer.GetUsage())
			answer.Usage.TotalTokens = 0
			requireAnswer(t, &compactordv1.ModelAnswer{
				Index: 1, StopReason: stoppedCalls, Usage: &compactordv1.Usage{InputTokens: 12, OutputTokens: 7},
				Parts: []*compactordv1.Part{said("I look."), wants(call("call_1_2", "ls", `{"at": 1}`))},
			}, answer)
		})
	}
}

// Neutral messages are classified and described, too, and only with model_answer.
func TestNeutralAnswerIsDescribed(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	req := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("Now."), assistant("I look.", call("c", "ls", "{}"))},
	}
	response, err := d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
	require.Nil(t, response.GetAnswer())
	req.ModelAnswer = true
	response, err = d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
	requireAnswer(t, &compactordv1.ModelAnswer{
		Index: 3, Parts: []*compactordv1.Part{said("I look."), wants(call("c", "ls", "{}"))},
	}, response.GetAnswer())
}

// Only a model's answer can be classified: other requests are refused, and nothing is stored.
func TestAnswerMustEndTheRequest(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for name, req := range map[string]*compactordv1.AppendMessagesRequest{
		"a user's message": {Messages: []*compactordv1.Message{assistant("Yes."), user("No.")}},
		"a provider's list": {ProviderJson: &compactordv1.ProviderJson{
			Dialect: chat, Json: `[{"role":"assistant","content":"Yes."},{"role":"user","content":"No."}]`,
		}},
		"a list of nothing": {ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: `[]`}},
	} {
		req.SessionId, req.ModelAnswer = "s", true
		d.requireUnchanged(t, func() {
			_, err := d.sessions.AppendMessages(t.Context(), req)
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			require.ErrorContains(t, err, "model_answer", name)
		})
	}
}

// chatAnswer returns a response in OpenAI's shape of a model whose context window of 20,000 tokens is full.
func chatAnswer(stop, content string, input, output int) string {
	return fmt.Sprintf(`{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":%q,
		"message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
		stop, content, input, output)
}

// An overflow without an error is logged as an error, so that no view shows it. Other answers are not.
func TestOverflowIsLoggedAsAnError(t *testing.T) {
	t.Parallel()
	const (
		over = "The model stopped normally, and input and cache_read are more than the window: the provider dropped " +
			"what exceeds the window (input and cache_read: %d tokens; context window: 20000 tokens)."
		none = "The model stopped at its length without any output, and input and cache_read fill 99 %% of the window " +
			"(input and cache_read: %d tokens; context window: 20000 tokens)."
		stop = "The provider's own stop reason says that the context window is full (input and cache_read: %d tokens; " +
			"context window: 20000 tokens)."
	)
	claude := func(stop string) string {
		return `{"type":"message","role":"assistant","model":"m","stop_reason":"` + stop +
			`","content":[{"type":"text","text":"Cut"}],"usage":{"input_tokens":90,"cache_read_input_tokens":10,"output_tokens":1}}`
	}
	for name, c := range map[string]struct {
		kind      compactordv1.Dialect
		json      string
		rule, why string
		input     int
		stop      compactordv1.StopReason
	}{
		"over the window":  {chat, chatAnswer("stop", "Yes.", 20001, 3), "usage-over-window", over, 20001, stoppedError},
		"the whole window": {kind: chat, json: chatAnswer("stop", "Yes.", 20000, 3), stop: stoppedEnd},
		"over, with calls": {kind: chat, json: chatAnswer("tool_calls", "Yes.", 20001, 3), stop: stoppedCalls},
		"no output":        {chat, chatAnswer("length", "", 19800, 0), "usage-no-output", none, 19800, stoppedError},
		"room for output":  {kind: chat, json: chatAnswer("length", "", 19799, 0), stop: stoppedLength},
		"z.ai's own word":  {chat, chatAnswer("model_context_window_exceeded", "Cut", 100, 1), "provider-stop-reason", stop, 100, stoppedError},
		"Anthropic's own word": {
			anthropic, claude("model_context_window_exceeded"), "provider-stop-reason", stop, 100, stoppedError,
		},
		"Anthropic's length": {kind: anthropic, json: claude("max_tokens"), stop: stoppedLength},
		"a model that writes about overflows": {
			kind: chat, json: chatAnswer("stop", overflowText, 100, 3), stop: stoppedEnd,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", small(1000))
			d.append("s", user("Well?"))
			view := d.view("s")
			response := d.answered(c.kind, c.json)
			answer, logged := response.GetAnswer(), d.messages("s")[1].GetMessage()
			require.Equal(t, c.stop, answer.GetStopReason())
			require.Equal(t, c.stop, logged.GetStopReason())
			require.Equal(t, c.rule != "", answer.GetOverflow())
			require.Equal(t, c.rule, answer.GetRule())
			if c.rule == "" {
				require.Empty(t, answer.GetWhy())
				require.Empty(t, logged.GetErrorText())
				require.Len(t, d.view("s"), 2)
				return
			}
			require.Equal(t, fmt.Sprintf(c.why, c.input), answer.GetWhy())
			require.Equal(t, "Context overflow by rule "+c.rule+": "+answer.GetWhy(), logged.GetErrorText())
			require.Empty(t, response.GetFindings())
			requireSameView(t, view, d.view("s"))
		})
	}
}

// A provider's error that is no overflow is described as such. One that is an overflow keeps its text.
func TestErrorOfAnAnswerIsClassified(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]string{overflowText: "anthropic-prompt", "Overloaded": ""} {
		d := start(t)
		d.create("s", nil)
		m := refused()
		m.ErrorText = text
		response, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{user("Go."), m}, ModelAnswer: true,
		})
		require.NoError(t, err)
		answer := response.GetAnswer()
		require.Equal(t, stoppedError, answer.GetStopReason())
		require.Equal(t, rule, answer.GetRule())
		require.Equal(t, rule != "", answer.GetOverflow())
		require.Equal(t, text, d.messages("s")[1].GetMessage().GetErrorText())
		if rule != "" {
			require.Equal(t, "The text says that the prompt is too long (requested: 210000 tokens; limit: 200000 tokens).",
				answer.GetWhy())
		}
	}
}

// An empty answer is malformed, unless it is an overflow.
func TestEmptyOverflowIsNotMalformed(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	req := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Strict: true, ModelAnswer: true,
		ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: chatAnswer("length", "", 19799, 0)},
	}
	_, err := d.sessions.AppendMessages(t.Context(), req)
	info := requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
	require.Equal(t, dialect.InputEmptyMessage, info.GetMetadata()["rule"])
	req.ProviderJson.Json = chatAnswer("length", "", 19800, 0)
	response, err := d.sessions.AppendMessages(t.Context(), req)
	require.NoError(t, err)
	require.True(t, response.GetAnswer().GetOverflow())
}

// The parts in the response end before it gets too large for clients. The log has them all.
func TestLargeAnswerLeavesPartsOut(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	const limit = 3 << 20
	first, second := strings.Repeat("a", 1<<20), strings.Repeat("b", 2<<20)
	room := limit - proto.Size(said(first))
	room -= proto.Size(said(second[:room])) - room
	fits, tooLong := assistant(first), assistant(first)
	fits.Parts = append(fits.Parts, said(second[:room]))
	tooLong.Parts = append(tooLong.Parts, said(second[:room+1]), said("c"))
	for _, c := range []struct {
		message *compactordv1.Message
		parts   int
	}{{fits, 2}, {tooLong, 1}} {
		response, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{c.message}, ModelAnswer: true,
		})
		require.NoError(t, err)
		answer := response.GetAnswer()
		count := len(answer.GetParts())
		require.Equal(t, c.parts, count)
		require.Equal(t, c.parts < len(c.message.GetParts()), answer.GetPartsLeftOut())
		logged := d.messages("s")[answer.GetIndex()].GetMessage()
		require.True(t, proto.Equal(&compactordv1.Message{Parts: c.message.GetParts()},
			&compactordv1.Message{Parts: logged.GetParts()}))
	}
}

// I10: a repeated request gets the same response, whatever was appended or reverted since, also after a restart.
func TestAnswerIsRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	d.create("s", small(1000))
	d.append("s", user("Well?"))
	plain := &compactordv1.AppendMessagesRequest{
		SessionId: "s", ModelAnswer: true, RequestId: "plain", ProviderJson: &compactordv1.ProviderJson{
			Dialect: gemini, Json: `{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
				{"text":"Thinking.","thought":true},{"functionCall":{"name":"ls","args":{"at": 1}}}]}}],"modelVersion":"m",
				"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":7,"totalTokenCount":19}}`,
		},
	}
	overflow := &compactordv1.AppendMessagesRequest{
		SessionId: "s", ModelAnswer: true, RequestId: "overflow",
		ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: chatAnswer("stop", "Yes.", 20001, 3)},
	}
	send := func() []proto.Message {
		var responses []proto.Message
		for _, req := range []*compactordv1.AppendMessagesRequest{plain, overflow} {
			response, err := d.sessions.AppendMessages(t.Context(), req)
			require.NoError(t, err)
			responses = append(responses, response)
		}
		return responses
	}
	first := send()
	again, err := d.sessions.AppendMessages(t.Context(), plain)
	require.NoError(t, err)
	requireAnswer(t, &compactordv1.ModelAnswer{
		Index: 1, Parts: []*compactordv1.Part{wants(call("call_1_1", "ls", `{"at": 1}`))}, StopReason: stoppedCalls,
		Usage: &compactordv1.Usage{InputTokens: 12, OutputTokens: 7, TotalTokens: 19},
	}, again.GetAnswer())
	d.append("s", user("On."), assistant("Yes."))
	d.revert(toPoint(1))
	requireSame(t, first, send())
	d.stop()
	d = start(t, withStore(openStore(t, path)))
	requireSame(t, first, send())
	require.Len(t, d.messages("s"), 5)

	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	stored, err := d.store.Request(t.Context(), storage.RefOf(row), "plain")
	require.NoError(t, err)
	require.NotContains(t, string(stored.GetResponse()), `"at"`, "the log has the answer, so it is not stored twice")
}

// A streamed answer is appended as it came. One that was cut off has stop reason ABORTED and is in no view, unless the
// client knows why the model stopped.
func TestStreamedAnswer(t *testing.T) {
	t.Parallel()
	const said1, end = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"Ni"}}],"model":"m"}`,
		`{"choices":[{"index":0,"delta":{"content":"ne."},"finish_reason":"stop"}],"usage":{"prompt_tokens":20001,"completion_tokens":2}}`
	for name, c := range map[string]struct {
		json      string
		told      compactordv1.StopReason
		text      string
		stop      compactordv1.StopReason
		findings  int
		view      int
		overflown bool
	}{
		"whole, but an overflow":        {"[" + said1 + "," + end + "]", 0, "Nine.", stoppedError, 0, 1, true},
		"cut":                           {"[" + said1 + "]", 0, "Ni", compactordv1.StopReason_STOP_REASON_ABORTED, 1, 1, false},
		"cut, and the client knows why": {"[" + said1 + "]", stoppedLength, "Ni", stoppedLength, 0, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", small(1000))
			d.append("s", user("How many?"))
			response, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", ModelAnswer: true,
				ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: c.json, StopReason: c.told},
			})
			require.NoError(t, err)
			require.Len(t, response.GetFindings(), c.findings)
			answer := response.GetAnswer()
			require.Equal(t, c.stop, answer.GetStopReason())
			require.Equal(t, c.overflown, answer.GetOverflow())
			require.Equal(t, c.text, answer.GetParts()[0].GetText().GetText())
			require.Len(t, d.view("s"), c.view)
			require.Equal(t, "m", d.messages("s")[1].GetMessage().GetModel())
		})
	}
}

// An error that ended a stream is classified by its text.
func TestErrorOfAStreamIsClassified(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	answer := d.answered(responses, `[{"type":"response.created","response":{"status":"in_progress","output":[]}},
		{"type":"error","code":"context_length_exceeded","message":"No."}]`).GetAnswer()
	require.True(t, answer.GetOverflow())
	require.Equal(t, "provider-stop-reason", answer.GetRule())
	require.Equal(t, "No.", d.messages("s")[0].GetMessage().GetErrorText())
	answer = d.answered(anthropic, `[{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}]`).GetAnswer()
	require.False(t, answer.GetOverflow())
	require.Equal(t, stoppedError, answer.GetStopReason())
}

// contested is a store where another writer commits before the first commit of messages.
type contested struct {
	storage.Store

	lost atomic.Bool
}

func (c *contested) Commit(ctx context.Context, commit *storage.Commit) error {
	if len(commit.Messages) > 0 && c.lost.CompareAndSwap(false, true) {
		return storage.ErrConflict
	}
	return c.Store.Commit(ctx, commit)
}

// An append that is tried again classifies what was sent, not what the first try made of it.
func TestAnswerIsClassifiedAgainWhenTheAppendIsRepeated(t *testing.T) {
	t.Parallel()
	store := &contested{Store: openStore(t, filepath.Join(t.TempDir(), "store.db"))}
	d := start(t, withStore(store))
	d.create("s", small(1000))
	answer := d.answered(chat, chatAnswer("stop", "Yes.", 20001, 3)).GetAnswer()
	require.True(t, store.lost.Load())
	require.True(t, answer.GetOverflow())
	require.Equal(t, "usage-over-window", answer.GetRule())
}
