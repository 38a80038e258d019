package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// isSDKEvent reports whether it is an event of OpenHands' software-agent-sdk: its kind is the name of a class.
func isSDKEvent(o rawjson.Object) bool {
	kind, err := o.Text("kind")
	if err != nil || !o.Has("source") && !o.Has("timestamp") && !o.Has("llm_message") && !o.Has("tool_call") {
		return false
	}
	return strings.HasSuffix(kind, "Event") || kind == "Condensation" || kind == "CondensationRequest" ||
		kind == "UserRejectObservation"
}

// pendingAction is a message of the agent that can get more calls. Each call has its own event.
type pendingAction struct {
	message  *compactordv1.Message
	response string
	event    uint32
}

// sdkEvent makes entries from an event.
func (s *openHands) sdkEvent(o rawjson.Object) ([]entry, error) {
	kind, err := o.DemandText("kind")
	if err != nil {
		return nil, err
	}
	var m *compactordv1.Message
	switch kind {
	case "SystemPromptEvent":
		m, err = sdkSystem(o)
	case "MessageEvent":
		m, err = s.sdkMessage(o)
	case "ActionEvent":
		return s.sdkAction(o)
	case "ObservationEvent", "AgentErrorEvent", "UserRejectObservation":
		m, err = s.sdkResult(o, kind)
	case "Condensation":
		return s.sdkCondensation(o)
	default:
		s.notes.add(controlEvent)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if m.WrittenAt, err = writtenAt(o, time.Second); err != nil {
		return nil, err
	}
	return append(s.flush(), s.begin(m, s.numberOf(o))), nil
}

// numberOf numbers the events in the order in which they are read, since their ids are no numbers.
func (s *openHands) numberOf(o rawjson.Object) uint32 {
	id, err := o.Text("id")
	if err != nil || id == "" {
		return uint32(len(s.numbers))
	}
	if s.numbers == nil {
		s.numbers = make(map[string]uint32)
	}
	if n, known := s.numbers[id]; known {
		return n
	}
	n := uint32(len(s.numbers))
	s.numbers[id] = n
	return n
}

// begin returns the entry of a message, and records the event that it came from.
func (s *openHands) begin(m *compactordv1.Message, event uint32) entry {
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
		m.Origin = compactordv1.Origin_ORIGIN_IMPORT
	}
	s.begun = append(s.begun, begunMessage{event: event, role: m.GetRole()})
	s.last = m.GetRole()
	s.names.see(m)
	return entry{message: m}
}

// flush returns the entry of the agent's message that waited for more calls.
func (s *openHands) flush() []entry {
	p := s.pending
	if p == nil {
		return nil
	}
	s.pending = nil
	return []entry{s.begin(p.message, p.event)}
}

func (s *openHands) rest() ([]entry, error) { return s.flush(), nil }

func sdkSystem(o rawjson.Object) (*compactordv1.Message, error) {
	m := &compactordv1.Message{Role: systemRole}
	for _, field := range []string{"system_prompt", "dynamic_context"} {
		content, err := o.Sub(field)
		if err != nil {
			return nil, err
		}
		text, err := content.BoundedText("text", maxText)
		if err != nil {
			return nil, rawjson.In(field, err)
		}
		if text != "" {
			m.Parts = append(m.Parts, textPart(text))
		}
	}
	return m, nil
}

// sdkMessage makes a message from a text of the user or the agent, with what OpenHands added to it.
func (s *openHands) sdkMessage(o rawjson.Object) (*compactordv1.Message, error) {
	inner, err := o.Sub("llm_message")
	if err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, rawjson.In("llm_message", rawjson.ErrMissing)
	}
	role, err := inner.Text("role")
	if err != nil {
		return nil, rawjson.In("llm_message", err)
	}
	if role == "" {
		role = "assistant"
		if !o.IsText("source", "agent") {
			role = "user"
		}
	}
	plain := rawjson.Object{
		"role": rawjson.Quote(role), "content": sdkContent(inner["content"], o["extended_content"]),
	}
	if role == "assistant" {
		for _, field := range []string{"reasoning_content", "thinking_blocks"} {
			if inner.Has(field) {
				plain[field] = inner[field]
			}
		}
	}
	for _, field := range []string{"tool_call_id", "name"} {
		if inner.Has(field) && role == "tool" {
			plain[field] = inner[field]
		}
	}
	m, err := litellmMessage(plain, s.notes)
	if err != nil {
		return nil, rawjson.In("llm_message", err)
	}
	if m.GetRole() == compactordv1.Role_ROLE_USER && o.Has("source") && !o.IsText("source", "user") {
		m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
	}
	return m, nil
}

// sdkContent returns content in OpenAI's shape, in which each picture is one part.
func sdkContent(lists ...json.RawMessage) json.RawMessage {
	var parts []json.RawMessage
	for _, list := range lists {
		if rawjson.KindOf(list) == rawjson.String {
			parts = append(parts, rawjson.Object{"type": rawjson.Quote("text"), "text": list}.Encode())
			continue
		}
		if k := rawjson.KindOf(list); k != rawjson.Array && k != rawjson.Missing && k != rawjson.Null {
			parts = append(parts, list)
			continue
		}
		elements, _ := rawjson.ParseArray(list)
		for _, element := range elements {
			parts = append(parts, sdkPart(element)...)
		}
	}
	return rawjson.EncodeArray(parts)
}

func sdkPart(raw json.RawMessage) []json.RawMessage {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return []json.RawMessage{raw}
	}
	urls, err := rawjson.ParseArray(o["image_urls"])
	if o.IsText("type", "image") && err == nil {
		images := make([]json.RawMessage, len(urls))
		for i, url := range urls {
			images[i] = rawjson.Object{
				"type": rawjson.Quote("image_url"), "image_url": rawjson.Object{"url": url}.Encode(),
			}.Encode()
		}
		return images
	}
	if o.IsText("type", "text") {
		delete(o, "cache_prompt")
		delete(o, "enable_truncation")
	}
	return []json.RawMessage{o.Encode()}
}

// sdkAction adds a call to the agent's message, or begins one. The first event of a response has its thinking.
func (s *openHands) sdkAction(o rawjson.Object) ([]entry, error) {
	call, err := sdkCall(o)
	if err != nil {
		return nil, err
	}
	response, err := o.Text("llm_response_id")
	if err != nil {
		return nil, err
	}
	plain := rawjson.Object{
		"role": rawjson.Quote("assistant"), "content": sdkContent(o["thought"]), "tool_calls": rawjson.EncodeArray([]json.RawMessage{call}),
	}
	for _, field := range []string{"reasoning_content", "thinking_blocks"} {
		if o.Has(field) {
			plain[field] = o[field]
		}
	}
	m, err := litellmMessage(plain, s.notes)
	if err != nil {
		return nil, err
	}
	if m.WrittenAt, err = writtenAt(o, time.Second); err != nil {
		return nil, err
	}
	s.notes.addMany(signatureLost, boolCount(o.Has("responses_reasoning_item")))
	event := s.numberOf(o)
	if p := s.pending; p != nil && response != "" && p.response == response {
		if len(p.message.GetParts())+len(m.GetParts()) > maxParts {
			return nil, errManyParts
		}
		p.message.Parts, p.event = append(p.message.GetParts(), m.GetParts()...), event
		return nil, nil
	}
	before := s.flush()
	m.SourcePosition = position(s.from.element)
	s.pending = &pendingAction{message: m, response: response, event: event}
	return before, nil
}

// sdkCall returns the call of an action in OpenAI's shape.
func sdkCall(o rawjson.Object) (json.RawMessage, error) {
	call, err := o.Sub("tool_call")
	if err != nil {
		return nil, err
	}
	name, id, arguments := call["name"], call["id"], call["arguments"]
	if function, err := call.Sub("function"); err == nil && function != nil {
		name, arguments = function["name"], function["arguments"]
	}
	if name == nil {
		name = o["tool_name"]
	}
	if id == nil {
		id = o["tool_call_id"]
	}
	if arguments == nil {
		action, err := o.Sub("action")
		if err != nil {
			return nil, err
		}
		delete(action, "kind")
		arguments = rawjson.Quote(string(action.Encode()))
	}
	function := rawjson.Object{"name": name, "arguments": arguments}
	if name == nil {
		delete(function, "name")
	}
	made := rawjson.Object{"type": rawjson.Quote("function"), "function": function.Encode()}
	if id != nil {
		made["id"] = id
	}
	return made.Encode(), nil
}

// sdkResult makes a message from the result of an action.
func (s *openHands) sdkResult(o rawjson.Object, kind string) (*compactordv1.Message, error) {
	plain := rawjson.Object{"role": rawjson.Quote("tool")}
	for key, field := range map[string]string{"tool_call_id": "tool_call_id", "name": "tool_name"} {
		if o.Has(field) {
			plain[key] = o[field]
		}
	}
	failed := true
	switch kind {
	case "AgentErrorEvent":
		plain["content"] = sdkContent(o["error"])
	case "UserRejectObservation":
		reason, err := o.Text("rejection_reason")
		if err != nil {
			return nil, err
		}
		plain["content"] = rawjson.Quote("Action rejected: " + reason)
	default:
		observation, err := o.Sub("observation")
		if err != nil {
			return nil, err
		}
		if failed, err = observation.Truth("is_error"); err != nil {
			return nil, rawjson.In("observation", err)
		}
		plain["content"] = sdkContent(sdkOutput(observation), o["extended_content"])
	}
	m, err := litellmMessage(plain, s.notes)
	if err == nil {
		m.GetParts()[0].GetToolResult().IsError = failed
	}
	return m, err
}

// sdkOutput returns the output of an observation: its content, or in the first versions the field of its tool, or
// otherwise all of it.
func sdkOutput(observation rawjson.Object) json.RawMessage {
	for _, field := range []string{"content", "output", "error", "message", "text"} {
		if observation.Has(field) {
			return observation[field]
		}
	}
	rest := make(rawjson.Object)
	for _, key := range observation.Others("kind", "is_error") {
		rest[key] = observation[key]
	}
	if len(rest) == 0 {
		return nil
	}
	return rawjson.Quote(string(rest.Encode()))
}

// sdkCondensation makes a record from a compaction, which forgets events by their ids.
func (s *openHands) sdkCondensation(o rawjson.Object) ([]entry, error) {
	ids, err := o.Elements("forgotten_event_ids")
	if err != nil {
		return nil, err
	}
	numbers := make([]json.RawMessage, 0, len(ids))
	for i, raw := range ids {
		id, err := rawjson.Object{"id": raw}.DemandText("id")
		if err != nil {
			return nil, rawjson.In("forgotten_event_ids", rawjson.InElement(i, err))
		}
		if n, known := s.numbers[id]; known {
			number, _ := json.Marshal(n)
			numbers = append(numbers, number)
		}
	}
	same := rawjson.Object{"forgotten_event_ids": rawjson.EncodeArray(numbers), "summary": o["summary"], "timestamp": o["timestamp"]}
	for key, value := range same {
		if value == nil {
			delete(same, key)
		}
	}
	before := s.flush()
	entries, err := s.condensation(same)
	return append(before, entries...), err
}
