package service_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// listElement is an element of an agent's list: raw JSON, or a neutral message.
type listElement struct {
	json    string
	message *compactordv1.Message
}

func (e listElement) whole() *compactordv1.ListElement {
	if e.message != nil {
		return &compactordv1.ListElement{Content: &compactordv1.ListElement_Message{Message: e.message}}
	}
	return &compactordv1.ListElement{Content: &compactordv1.ListElement_Json{Json: e.json}}
}

func (e listElement) digest() *compactordv1.ListElement {
	raw := []byte(e.json)
	if e.message != nil {
		raw, _ = proto.MarshalOptions{Deterministic: true}.Marshal(e.message)
	}
	sum := sha256.Sum256(raw)
	return &compactordv1.ListElement{Content: &compactordv1.ListElement_Digest{Digest: sum[:16]}}
}

// syncing is a client that syncs lists as the clients of the project do: by digests where it believes that the daemon has
// the elements.
type syncing struct {
	t    require.TestingT
	d    *daemon
	id   string
	kind compactordv1.Dialect
	// known is how many elements of the next list are sent by their digest, and lead how many leading ones before them are
	// sent with their content.
	known, lead int
	token       string
	compact     bool
	// point is the newest point that it knows of; nil where it knows of none.
	point *uint32
	// sent is how many elements the last sync sent with their content, and calls how many calls it needed.
	sent, calls int
}

type synced struct {
	*compactordv1.SyncedMessages
	events []*compactordv1.CompactionEvent
	view   *compactordv1.GetLLMViewResponse
}

func (c *syncing) try(list []listElement, system ...string) (*synced, error) {
	c.sent, c.calls = 0, 0
	known, lead := c.known, c.lead
	for {
		c.calls++
		require.LessOrEqual(c.t, c.calls, 3, "the daemon asks again and again")
		req := &compactordv1.SyncMessagesRequest{
			SessionId: c.id, Dialect: c.kind, SystemJson: system, ViewToken: c.token, Compact: c.compact,
			KnownPoint: c.point,
		}
		for i, e := range list {
			if i < known && i >= lead {
				req.Elements = append(req.Elements, e.digest())
			} else {
				req.Elements = append(req.Elements, e.whole())
				c.sent++
			}
		}
		lacking, answer, err := c.call(req)
		if lacking == nil {
			return answer, err
		}
		known, lead = int(lacking.GetFirst()), int(lacking.GetLeading())
	}
}

func (c *syncing) call(req *compactordv1.SyncMessagesRequest) (*compactordv1.LackingElements, *synced, error) {
	ctx, cancel := context.WithCancel(c.d.t.Context())
	defer cancel()
	stream, err := c.d.sessions.SyncMessages(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	answer := &synced{}
	for {
		step, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, answer, nil
		}
		if err != nil {
			return nil, answer, err
		}
		switch s := step.GetStep().(type) {
		case *compactordv1.SyncMessagesResponse_Lacking:
			return s.Lacking, nil, nil
		case *compactordv1.SyncMessagesResponse_Synced:
			answer.SyncedMessages = s.Synced
		case *compactordv1.SyncMessagesResponse_Compaction:
			answer.events = append(answer.events, s.Compaction)
		case *compactordv1.SyncMessagesResponse_View:
			answer.view = s.View
		}
	}
}

// sync syncs a list, which the daemon knows from then on.
func (c *syncing) sync(list []listElement, system ...string) *synced {
	answer, err := c.try(list, system...)
	require.NoError(c.t, err)
	require.NotNil(c.t, answer.SyncedMessages)
	c.known, c.lead, c.point = len(list), 0, &answer.Point
	return answer
}

// shapeOf returns a dialect.
func shapeOf(kind compactordv1.Dialect) dialect.Dialect {
	for _, shape := range dialects.All() {
		if shape.Kind() == kind {
			return shape
		}
	}
	return nil
}

// spoken returns what a list of messages says, a line for each part, in the words of this test.
func spoken(messages []*compactordv1.Message) []string {
	var lines []string
	for _, m := range messages {
		for _, p := range m.GetParts() {
			line := ""
			switch k := p.GetKind().(type) {
			case *compactordv1.Part_Text:
				line = k.Text.GetText()
			case *compactordv1.Part_ToolCall:
				var arguments any
				if json.Unmarshal([]byte(k.ToolCall.GetArguments()), &arguments) == nil {
					line = fmt.Sprint("call ", k.ToolCall.GetName(), arguments)
				} else {
					line = "call " + k.ToolCall.GetName() + k.ToolCall.GetArguments()
				}
			case *compactordv1.Part_ToolResult:
				line = "result"
				for _, r := range k.ToolResult.GetParts() {
					line += " " + r.GetText().GetText()
				}
			default:
			}
			if line != "" {
				lines = append(lines, strings.TrimPrefix(m.GetRole().String(), "ROLE_")+": "+line)
			}
		}
	}
	return lines
}

// spokenIn returns what a list of elements says.
func spokenIn(d *daemon, kind compactordv1.Dialect, list []listElement) []string {
	d.t.Helper()
	var messages []*compactordv1.Message
	raw := &dialect.List{}
	for _, e := range list {
		if e.message != nil {
			messages = append(messages, e.message)
		} else {
			raw.Messages = append(raw.Messages, json.RawMessage(e.json))
		}
	}
	if len(raw.Messages) > 0 {
		shape := shapeOf(kind)
		parsed, err := shape.Parse(shape.Document(raw))
		require.NoError(d.t, err)
		messages = parsed.Messages
	}
	return spoken(messages)
}

// active returns the messages of a session that are active and that a client sent.
func (d *daemon) active(id string) []*compactordv1.Message {
	d.t.Helper()
	var messages []*compactordv1.Message
	for _, l := range d.messages(id) {
		if l.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE ||
			l.GetState() == compactordv1.MessageState_MESSAGE_STATE_REPLACED ||
			l.GetMessage().GetOrigin() != compactordv1.Origin_ORIGIN_CLIENT {
			continue
		}
		messages = append(messages, l.GetMessage())
	}
	return messages
}

// speaker writes elements in a dialect.
type speaker struct {
	kind compactordv1.Dialect
	// next numbers texts and ids.
	next int
}

func (s *speaker) number() int { s.next++; return s.next }

func (s *speaker) system(text string) listElement {
	if s.kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		m := user(text)
		m.Role = compactordv1.Role_ROLE_SYSTEM
		return listElement{message: m}
	}
	return listElement{json: rawJSON(map[string]any{"role": "system", "content": text})}
}

func (s *speaker) user(text string) listElement {
	switch s.kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return listElement{json: rawJSON(map[string]any{"role": "user", "content": text})}
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return listElement{json: rawJSON(map[string]any{"type": "message", "role": "user", "content": []any{
			map[string]any{"type": "input_text", "text": text},
		}})}
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return listElement{json: rawJSON(map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": text},
		}})}
	case compactordv1.Dialect_DIALECT_GEMINI:
		return listElement{json: rawJSON(map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}})}
	default:
		return listElement{message: user(text)}
	}
}

func (s *speaker) answer(text string) listElement {
	switch s.kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return listElement{json: rawJSON(map[string]any{"role": "assistant", "content": text})}
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return listElement{json: rawJSON(map[string]any{"type": "message", "role": "assistant", "content": []any{
			map[string]any{"type": "output_text", "text": text, "annotations": []any{}},
		}})}
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return listElement{json: rawJSON(map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": text},
		}})}
	case compactordv1.Dialect_DIALECT_GEMINI:
		return listElement{json: rawJSON(map[string]any{"role": "model", "parts": []any{map[string]any{"text": text}}})}
	default:
		return listElement{message: assistant(text)}
	}
}

// use returns a call of a tool and its result.
func (s *speaker) use(id, path, result string) []listElement {
	arguments := map[string]any{"path": path}
	switch s.kind {
	case compactordv1.Dialect_DIALECT_OPENAI_CHAT:
		return []listElement{
			{json: rawJSON(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "read", "arguments": rawJSON(arguments)},
			}}})},
			{json: rawJSON(map[string]any{"role": "tool", "tool_call_id": id, "content": result})},
		}
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return []listElement{
			{json: rawJSON(map[string]any{
				"type": "function_call", "call_id": id, "name": "read", "arguments": rawJSON(arguments),
			})},
			{json: rawJSON(map[string]any{"type": "function_call_output", "call_id": id, "output": result})},
		}
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return []listElement{
			{json: rawJSON(map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "tool_use", "id": id, "name": "read", "input": arguments},
			}})},
			{json: rawJSON(map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": id, "content": result},
			}})},
		}
	case compactordv1.Dialect_DIALECT_GEMINI:
		return []listElement{
			{json: rawJSON(map[string]any{"role": "model", "parts": []any{
				map[string]any{"functionCall": map[string]any{"id": id, "name": "read", "args": arguments}},
			}})},
			{json: rawJSON(map[string]any{"role": "user", "parts": []any{
				map[string]any{"functionResponse": map[string]any{
					"id": id, "name": "read", "response": map[string]any{"result": result},
				}},
			}})},
		}
	default:
		return []listElement{
			{message: assistant("", call(id, "read", rawJSON(arguments)))}, {message: toolResult(id, result)},
		}
	}
}

func rawJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
