package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// A whole response body is accepted: message, usage, model and stop reason are read from it.
func TestWholeResponsesAreAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  compactordv1.Dialect
		json  string
		usage *compactordv1.Usage
		model string
		stop  compactordv1.StopReason
	}{
		"OpenAI Chat": {
			chat, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-1","choices":[
			{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Nine.","refusal":null,"annotations":[]}}],
			"usage":{"prompt_tokens":120,"completion_tokens":7,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":100}}}`,
			&compactordv1.Usage{InputTokens: 20, CacheReadTokens: 100, OutputTokens: 7, TotalTokens: 127}, "m-1",
			compactordv1.StopReason_STOP_REASON_END,
		},
		"OpenAI Responses": {
			responses, `{"id":"resp_1","object":"response","status":"completed","model":"m-2","output":[
			{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
				{"type":"output_text","text":"Nine.","annotations":[]}]}],
			"usage":{"input_tokens":120,"input_tokens_details":{"cached_tokens":100},"output_tokens":7,"total_tokens":127}}`,
			&compactordv1.Usage{InputTokens: 20, CacheReadTokens: 100, OutputTokens: 7, TotalTokens: 127}, "m-2",
			compactordv1.StopReason_STOP_REASON_END,
		},
		"Anthropic": {
			anthropic, `{"id":"msg_1","type":"message","role":"assistant","model":"m-3","stop_reason":"end_turn",
			"stop_sequence":null,"content":[{"type":"text","text":"Nine."}],
			"usage":{"input_tokens":20,"cache_read_input_tokens":100,"cache_creation_input_tokens":3,"output_tokens":7}}`,
			&compactordv1.Usage{InputTokens: 20, CacheReadTokens: 100, CacheWriteTokens: 3, OutputTokens: 7}, "m-3",
			compactordv1.StopReason_STOP_REASON_END,
		},
		"Gemini": {
			gemini, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Nine."}]},"finishReason":"STOP","index":0}],
			"modelVersion":"m-4","usageMetadata":{"promptTokenCount":120,"cachedContentTokenCount":100,"candidatesTokenCount":5,
			"thoughtsTokenCount":2,"totalTokenCount":127}}`,
			&compactordv1.Usage{InputTokens: 20, CacheReadTokens: 100, OutputTokens: 7, TotalTokens: 127}, "m-4",
			compactordv1.StopReason_STOP_REASON_END,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", nil)
			d.append("s", user("How many?"))
			answer := d.appendJSON("s", c.kind, c.json)
			require.Empty(t, answer.GetFindings())
			require.Equal(t, uint32(2), answer.GetNextIndex())
			require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, answer.GetReport().GetSource())
			m := d.view("s")[1].GetMessage()
			require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, m.GetRole())
			require.Equal(t, compactordv1.Origin_ORIGIN_CLIENT, m.GetOrigin())
			require.Equal(t, "Nine.", m.GetParts()[0].GetText().GetText())
			require.Equal(t, c.usage.String(), m.GetUsage().String())
			require.Equal(t, c.model, m.GetModel())
			require.Equal(t, c.stop, m.GetStopReason())
			// The other fields of a response are never in a request.
			for _, raw := range d.render("s", c.kind).GetMessagesJson() {
				require.NotContains(t, raw, "usage")
				require.NotContains(t, raw, "chatcmpl-1")
				require.NotContains(t, raw, "resp_1")
			}
		})
	}
}

func TestWhatTheJSONDoesNotSayTheRequestMay(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("How many?"))
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", ProviderJson: &compactordv1.ProviderJson{
			Dialect: anthropic, Json: `{"role":"assistant","content":"Nine."}`, Model: "m",
			Usage:      &compactordv1.Usage{InputTokens: 30, OutputTokens: 2},
			StopReason: compactordv1.StopReason_STOP_REASON_LENGTH,
		},
	})
	require.NoError(t, err)
	m := d.view("s")[1].GetMessage()
	require.Equal(t, uint32(30), m.GetUsage().GetInputTokens())
	require.Equal(t, "m", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_LENGTH, m.GetStopReason())
}

// With several answers in a list, the request's fields are about the last one.
func TestWhatTheRequestSaysIsOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", ProviderJson: &compactordv1.ProviderJson{
			Dialect: chat, Model: "m", Json: `[{"role":"user","content":"One."},{"role":"assistant","content":"1"},
				{"role":"user","content":"Two."},{"role":"assistant","content":"2"},{"role":"user","content":"Three."}]`,
		},
	})
	require.NoError(t, err)
	view := d.view("s")
	require.Empty(t, view[1].GetMessage().GetModel())
	require.Equal(t, "m", view[3].GetMessage().GetModel())
}

// Agents that read a stream append each item when it is complete: parallel calls stay together, with their reasoning.
func TestItemsThatAreAppendedOneByOneStayTogether(t *testing.T) {
	t.Parallel()
	items := []string{
		`{"role":"user","content":"Both."}`,
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ZW5j"}`,
		`{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}`,
		`{"type":"function_call","id":"fc_2","call_id":"c2","name":"f","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c1","output":"1"}`,
		`{"type":"function_call_output","call_id":"c2","output":"2"}`,
	}
	d := start(t)
	d.create("s", nil)
	for _, item := range items {
		d.appendJSON("s", responses, item)
	}
	rendered := d.render("s", responses)
	require.Empty(t, rendered.GetViewReport().GetRepairs())
	require.Len(t, rendered.GetMessagesJson(), len(items))
	for i, item := range items {
		require.JSONEq(t, item, rendered.GetMessagesJson()[i])
	}
	for _, kind := range allKinds() {
		require.Empty(t, brokenRules(kind, d.render("s", kind), dialect.Request))
	}
}

// An agent's messages come back unchanged in their own dialect.
func TestOwnJSONComesBackEqual(t *testing.T) {
	t.Parallel()
	for kind, messages := range map[compactordv1.Dialect][]string{
		chat: {
			`{"role":"system","content":"Be brief."}`,
			`{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}}],"name":"ann"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"zoom\": 1.50}"}}],"refusal":null}`,
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"A ship."}]}`,
		},
		responses: {
			`{"role":"developer","content":"Be brief."}`,
			`{"role":"user","content":[{"type":"input_text","text":"What is it?"},{"type":"input_image","detail":"low","image_url":"https://example.com/a.png"}]}`,
			`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look first."}],"encrypted_content":"ZW5j"}`,
			`{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{\"zoom\": 1.50}","status":"completed"}`,
			`{"type":"function_call_output","call_id":"c1","output":"A ship."}`,
		},
		anthropic: {
			`{"role":"user","content":[{"type":"text","text":"What is it?","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"Look first.","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"look","input":{"zoom":1.50}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":[{"type":"text","text":"A ship."}]}]}`,
		},
		gemini: {
			`{"role":"user","parts":[{"text":"What is it?"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}`,
			`{"role":"model","parts":[{"functionCall":{"name":"look","args":{"zoom":1.50}},"thoughtSignature":"c2ln"}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"A ship."}}}]}`,
		},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			d := start(t)
			d.create("s", nil)
			for _, raw := range messages {
				require.Empty(t, d.appendJSON("s", kind, raw).GetFindings())
			}
			rendered := d.render("s", kind)
			require.Empty(t, rendered.GetViewReport().GetRepairs())
			require.Empty(t, rendered.GetViewReport().GetPartsDropped())
			require.Len(t, rendered.GetMessagesJson(), len(messages))
			for i, raw := range messages {
				requireEqualJSON(t, raw, rendered.GetMessagesJson()[i])
			}
		})
	}
}

// requireEqualJSON compares JSON, with numbers as they are written.
func requireEqualJSON(t *testing.T, want, have string) {
	t.Helper()
	require.JSONEq(t, want, have)
	for _, number := range []string{"1.50"} {
		require.Equal(t, strings.Count(want, number), strings.Count(have, number), "a number was written anew: %s", have)
	}
}

func TestMalformedInputIsReportedOrRefusedWhole(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("Go."))
	for name, c := range map[string]struct {
		kind          compactordv1.Dialect
		json, rule    string
		message, part uint32
	}{
		"result without a call": {chat, `[{"role":"tool","tool_call_id":"x","content":"late"}]`, dialect.InputResultWithoutCall, 0, 0},
		"call answered twice": {chat, `[{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","tool_call_id":"x","content":"2"}]`, dialect.InputResultRepeated, 2, 0},
		"id of an open call": {chat, `[{"role":"assistant","content":"","tool_calls":[
			{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},
			{"id":"x","type":"function","function":{"name":"g","arguments":"{}"}}]}]`, dialect.InputCallIDReused, 0, 1},
		"arguments that are no JSON": {
			chat, `[{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{oops"}}]}]`,
			dialect.InputArgumentsNotJSON, 0, 0,
		},
		"id of a call that is open since before": {
			chat, `[{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}]`,
			dialect.InputCallIDReused, 1, 0,
		},
		"half of a character": {
			gemini, `[{"role":"user","parts":[{"text":"whole \ud83d\ude00"}]},{"role":"user","parts":[{"text":"cut \ud83d"}]}]`,
			dialect.InputHalfCharacter, 1, 0,
		},
		"nothing said": {anthropic, `[{"role":"user","content":[]}]`, dialect.InputEmptyMessage, 0, 0},
		"results out of order": {
			anthropic, `[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"text","text":"and"},{"type":"tool_result","tool_use_id":"t","content":"1"}]}]`,
			dialect.InputResultsOutOfOrder, 1, 1,
		},
		"call without an answer": {chat, `[{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"user","content":"Never mind."},{"role":"assistant","content":"As you say."}]`, dialect.InputCallUnanswered, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			request := &compactordv1.AppendMessagesRequest{
				SessionId: "s", Strict: true, ProviderJson: &compactordv1.ProviderJson{Dialect: c.kind, Json: c.json},
			}
			before := d.view("s")
			_, err := d.sessions.AppendMessages(t.Context(), request)
			info := requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
			require.Equal(t, map[string]string{
				"rule": c.rule, "message": fmt.Sprint(c.message), "part": fmt.Sprint(c.part),
			}, info.GetMetadata())
			require.Len(t, d.view("s"), len(before), "something of a refused request was stored")

			id := strings.ReplaceAll(name, " ", "-")
			d.create(id, nil)
			d.append(id, user("Go."))
			request.SessionId, request.Strict = id, false
			answer, err := d.sessions.AppendMessages(t.Context(), request)
			require.NoError(t, err)
			require.Len(t, answer.GetFindings(), 1)
			require.Equal(t, c.rule, answer.GetFindings()[0].GetRule())
			require.Equal(t, c.message, answer.GetFindings()[0].GetMessage())
			require.Equal(t, c.part, answer.GetFindings()[0].GetPart())
		})
	}
}

// One image that was no base64 made the whole request be refused, and so did every other part, field or message that
// cannot be read. Now what can be read is accepted and the rest reported; a strict request is refused.
func TestOneBadPartDoesNotRefuseTheOthers(t *testing.T) {
	t.Parallel()
	d := start(t)
	for name, c := range map[string]struct {
		kind    compactordv1.Dialect
		bad     string
		rule    string
		message uint32
		part    uint32
		shown   string
	}{
		"image": {
			anthropic, `{"role":"user","content":[{"type":"text","text":"See:"},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%%%"}}]}`,
			dialect.InputPartUnreadable, 1, 1, "[Unreadable image: source.data is not valid base64]",
		},
		"image in a result": {
			anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[
			{"type":"text","text":"See:"},{"type":"image","source":{"type":"base64","media_type":"","data":""}}]}]}`,
			dialect.InputPartUnreadable, 1, 0, "",
		},
		"address": {
			chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":7}}]}`,
			dialect.InputPartUnreadable, 1, 0, "[Unreadable image_url: image_url.url must be a string, is a number]",
		},
		"call": {
			chat, `{"role":"assistant","content":"I look.","tool_calls":[{"id":"c","type":"function","function":{"arguments":"{}"}}]}`,
			dialect.InputPartUnreadable, 1, 0, "[Unreadable function: function.name is missing]",
		},
		"content": {
			chat, `{"role":"user","content":7}`, dialect.InputPartUnreadable, 1, 0,
			"[Unreadable message: content must be a string or an array, is a number]",
		},
		"text": {
			gemini, `{"role":"user","parts":[{"text":7}]}`, dialect.InputPartUnreadable, 1, 0,
			"[Unreadable part: text must be a string, is a number]",
		},
		"file": {
			responses, `{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,%%%"}]}`,
			dialect.InputPartUnreadable, 1, 0, "[Unreadable input_file: file_data is not valid base64]",
		},
		"name": {chat, `{"role":"user","content":"a","name":["x"]}`, dialect.InputFieldUnreadable, 1, 0, "a"},
		"role": {
			chat, `{"role":"oracle","content":"a"}`, dialect.InputMessageUnreadable, 1, 0,
			"[Unreadable message: role unknown role; known are system, developer, user, assistant, tool and function]",
		},
		"item": {
			responses, `{"type":"function_call","call_id":"c","arguments":"{}"}`, dialect.InputMessageUnreadable, 1, 0,
			"[Unreadable message: name is missing]",
		},
		"no object": {responses, `7`, dialect.InputMessageUnreadable, 1, 0, "[Unreadable message: must be an object, is a number]"},
	} {
		t.Run(name, func(t *testing.T) {
			name := strings.ReplaceAll(name, " ", "-")
			whole := `{"role":"user","content":"Hello."}`
			if c.kind == gemini {
				whole = `{"role":"user","parts":[{"text":"Hello."}]}`
			}
			request := &compactordv1.AppendMessagesRequest{
				SessionId: name, Strict: true,
				ProviderJson: &compactordv1.ProviderJson{Dialect: c.kind, Json: "[" + whole + "," + c.bad + "," + whole + "]"},
			}
			d.create(name, nil)
			_, err := d.sessions.AppendMessages(t.Context(), request)
			requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
			request.Strict = false
			answer, err := d.sessions.AppendMessages(t.Context(), request)
			require.NoError(t, err)
			unread := slices.DeleteFunc(answer.GetFindings(), func(f *compactordv1.Finding) bool {
				return f.GetRule() == dialect.InputResultWithoutCall
			})
			require.Len(t, unread, 1)
			require.Equal(t, []any{c.rule, c.message, c.part}, []any{unread[0].GetRule(), unread[0].GetMessage(), unread[0].GetPart()})
			view := d.view(name)
			require.Len(t, view, 3)
			require.Equal(t, []string{"Hello."}, texts(view[0]))
			require.Equal(t, []string{"Hello."}, texts(view[2]))
			if c.shown != "" {
				require.Contains(t, texts(view[1]), c.shown)
			}
			for _, shape := range dialects.All() {
				_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
					Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: name},
					Dialect: shape.Kind(),
				})
				require.NoError(t, err)
			}
		})
	}
}

func TestInputWithoutAClearMeaningIsRefusedWhole(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for name, c := range map[string]struct {
		kind    compactordv1.Dialect
		json    string
		message string
	}{
		"no JSON":       {anthropic, `{"role":`, "-1"},
		"unknown role":  {chat, `[{"role":"oracle","content":"secret"}]`, "0"},
		"unknown roles": {chat, `[{"role":"oracle","content":"a"},{"role":"user","content":"a"},{"role":"seer","content":"secret"}]`, "0"},
		"error instead": {responses, `{"error":{"message":"secret","type":"server_error"}}`, "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", ProviderJson: &compactordv1.ProviderJson{Dialect: c.kind, Json: c.json},
			})
			info := requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
			require.Equal(t, dialect.InputShape, info.GetMetadata()["rule"])
			require.Equal(t, c.message, info.GetMetadata()["message"])
			require.NotContains(t, err.Error(), "secret")
			require.Empty(t, d.view("s"))
		})
	}
}

// broken is a dialect whose renderer forgets the first message.
type broken struct{ dialect.Dialect }

func (b broken) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	r, err := b.Dialect.Render(messages, opts)
	if err == nil && len(r.Messages) > 1 {
		r.Messages, r.From = r.Messages[1:], r.From[1:]
	}
	return r, err
}

func TestAViewThatBreaksARuleIsNotHandedOut(t *testing.T) {
	t.Parallel()
	shape, _ := dialects.For(anthropic)
	d := start(t, func(o *service.ServerOptions) { o.Dialects = []dialect.Dialect{broken{shape}} })
	d.create("s", nil)
	d.append("s", user("Go."), assistant("", call("c", "f", "{}")), toolResult("c", "done"))
	_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: anthropic,
	})
	info := requireReason(t, err, codes.FailedPrecondition, "VIEW_INVALID")
	require.Contains(t, info.GetMetadata()["rule"], "anthropic.")
	require.Contains(t, err.Error(), info.GetMetadata()["rule"])
	// The list is rendered up to the newest answer of the model, and from there on, where the answer is missing.
	require.Equal(t, "1", info.GetMetadata()["message"])
	require.Equal(t, "2", info.GetMetadata()["index"])
}

func TestBreakpointsAreMarkedWhereThePrefixIsStable(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", batches(5, 1)...)
	d.append("s", user("And now?"))
	require.True(t, d.compactKeeping("s", 300))
	request := &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: anthropic, MarkCacheBreakpoints: true,
	}
	first, err := d.compactions.GetLLMView(t.Context(), request)
	require.NoError(t, err)
	const mark = `"cache_control":{"type":"ephemeral"}`
	marked := func(answer *compactordv1.GetLLMViewResponse) []int {
		var at []int
		for i, raw := range answer.GetMessagesJson() {
			if strings.Contains(raw, mark) {
				at = append(at, i)
			}
		}
		return at
	}
	require.Contains(t, first.GetSystemJson()[0], mark)
	require.Equal(t, []int{0, len(first.GetMessagesJson()) - 1}, marked(first))
	require.Equal(t, []uint32{0, uint32(len(first.GetMessagesJson()) - 1)}, first.GetViewReport().GetSuggestedBreakpoints())

	// The mark at the end moves: the message that had it is sent again, without it.
	d.append("s", assistant("Six."), user("And at pier 9?"))
	request.ViewToken = first.GetViewToken()
	second, err := d.compactions.GetLLMView(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first.GetUnchangedPrefix()+uint32(len(first.GetMessagesJson())-1), second.GetUnchangedPrefix())
	require.Equal(t, []int{2}, marked(second))
	require.Len(t, second.GetMessagesJson(), 3)

	_, err = d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: request.GetTarget(), MarkCacheBreakpoints: true,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

func TestTheReportOfARenderedViewSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	thinking := assistant("I see.")
	thinking.Parts = append([]*compactordv1.Part{{Kind: &compactordv1.Part_Thinking{
		Thinking: &compactordv1.ThinkingPart{Text: "unsigned"},
	}}}, thinking.GetParts()...)
	d.append("s", assistant("Hello."), user("One."), user("Two."), thinking, user(""))
	answer := d.render("s", anthropic)
	report := answer.GetViewReport()
	require.Equal(t, uint32(1), report.GetMessagesMerged())
	var dropped []uint32
	for _, p := range report.GetPartsDropped() {
		dropped = append(dropped, p.GetMessage())
		require.NotEmpty(t, p.GetText())
	}
	require.ElementsMatch(t, []uint32{3, 4}, dropped, "thinking that the provider did not sign, and a text that says nothing")
	require.NotEmpty(t, report.GetRepairs(), "the user speaks first, and says something")
	for _, repair := range report.GetRepairs() {
		require.NotEmpty(t, repair.GetRule())
		require.NotEmpty(t, repair.GetText())
	}
	size := 0
	for _, raw := range answer.GetMessagesJson() {
		size += len(raw)
	}
	require.Equal(t, uint32(size), report.GetBytes())
	require.False(t, report.GetDisableThinking(), "the loop whose thinking went is over")
}

// Signatures that Gemini returned through OpenAI's Chat Completions are in its own dialect, too.
func TestSignaturesCrossFromChatToGemini(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.appendJSON("s", chat, `[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]},
		{"role":"tool","tool_call_id":"a","content":"gone"}]`)
	rendered := d.render("s", gemini)
	require.Contains(t, rendered.GetMessagesJson()[1], `"thoughtSignature":"c2ln"`)
	require.Empty(t, rendered.GetViewReport().GetRepairs())
}

// Messages before a change are not sent again, in a dialect either.
func TestADeltaAfterAPruneSendsWhatTheChangeTouched(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", batches(4, 1)...)
	d.append("s", user("And now?"))
	held := d.render("s", chat)
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	first := pruned.GetPrune().GetEdits()[0].GetIndex()
	require.Equal(t, uint32(3), first)
	delta, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: chat, ViewToken: held.GetViewToken(),
	})
	require.NoError(t, err)
	require.Equal(t, first, delta.GetUnchangedPrefix())
	require.Len(t, delta.GetMessagesJson(), len(held.GetMessagesJson())-int(first))
}
