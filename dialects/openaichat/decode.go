package openaichat

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// decoded is a list that was decoded for the checks, from its JSON and from what its Writer knows.
type decoded struct {
	by       *dialect.Writer
	messages []*decodedMessage
	// batches are the messages with calls, and results those with the result of one.
	batches []*batch
	results []decodedResult
}

type decodedMessage struct {
	// Where the element is no message, object is nil and role is empty.
	object rawjson.Object
	role   string
	// parts are the elements of content, where it is an array.
	content json.RawMessage
	parts   []decodedPart
	calls   []decodedCall
	// hasCalls reports that there is an array of calls, even if it is empty.
	hasCalls bool
	// legacy is the call in function_call.
	legacy      *decodedCall
	shapeErrors []shapeError
}

// shapeError is a wrong shape, which only checkShape reports.
type shapeError struct {
	part   int
	detail string
}

type decodedPart struct {
	partType string
	object   rawjson.Object
}

type decodedCall struct {
	object rawjson.Object
	// isCustom reports that inner holds an input and no arguments.
	isCustom bool
	inner    rawjson.Object
}

// demandString returns an error unless a field is a string. It does not decode the string.
func demandString(o rawjson.Object, key string) error {
	if rawjson.KindOf(o[key]) == rawjson.String {
		return nil
	}
	return rawjson.In(key, rawjson.WrongKind(o[key], rawjson.String))
}

func (m *decodedMessage) wrongShape(part int, format string, args ...any) {
	m.shapeErrors = append(m.shapeErrors, shapeError{part, fmt.Sprintf(format, args...)})
}

func decode(list *dialect.List, by *dialect.Writer) *decoded {
	d := &decoded{by: by, messages: make([]*decodedMessage, len(list.Messages))}
	for i, raw := range list.Messages {
		d.messages[i] = decodeMessage(by, raw)
	}
	d.pairResults()
	return d
}

func decodeMessage(by *dialect.Writer, raw json.RawMessage) *decodedMessage {
	m := &decodedMessage{}
	var err error
	if !by.Wrote(raw) {
		raw, err = validJSON(raw)
	}
	var o rawjson.Object
	if err == nil {
		o, err = by.SplitObject(raw)
	}
	if err != nil {
		m.wrongShape(0, "the message %v", err)
		return m
	}
	role, err := o.DemandText("role")
	if err != nil {
		m.wrongShape(0, "%v", err)
		return m
	}
	if _, known := roles[role]; !known {
		m.wrongShape(0, "role is none that the provider knows")
		return m
	}
	m.object, m.role, m.content = o, role, o["content"]
	m.decodeContent(by)
	m.decodeCalls(by)
	for _, key := range []string{"name", "tool_call_id", "refusal"} {
		if _, err := o.Text(key); err != nil {
			m.wrongShape(0, "%v", err)
		}
	}
	return m
}

func (m *decodedMessage) decodeContent(by *dialect.Writer) {
	switch k := rawjson.KindOf(m.content); k {
	case rawjson.Missing, rawjson.Null, rawjson.String:
		return
	case rawjson.Array:
	default:
		m.wrongShape(0, "content must be a string or an array, is %s", k)
		return
	}
	list, err := by.SplitArray(m.content)
	if err != nil {
		m.wrongShape(0, "content %v", err)
	}
	for i, raw := range list {
		part := decodedPart{}
		o, err := by.SplitObject(raw)
		if err == nil {
			part.partType, err = o.DemandText("type")
		}
		if err == nil && (part.partType == "text" || part.partType == "refusal") {
			err = demandString(o, part.partType)
		}
		if err != nil {
			m.wrongShape(i, "content: %v", rawjson.InElement(i, err))
			part.partType = ""
		}
		part.object = o
		m.parts = append(m.parts, part)
	}
}

func (m *decodedMessage) decodeCalls(by *dialect.Writer) {
	if m.object.Has("function_call") {
		o, err := by.SplitObject(m.object["function_call"])
		if err != nil {
			m.wrongShape(0, "%v", rawjson.In("function_call", err))
		} else {
			m.legacy = &decodedCall{inner: o}
		}
	}
	if !m.object.Has("tool_calls") {
		return
	}
	list, err := by.SplitArray(m.object["tool_calls"])
	if err != nil {
		m.wrongShape(0, "%v", rawjson.In("tool_calls", err))
		return
	}
	m.hasCalls = true
	for i, raw := range list {
		c, err := decodeCall(by, raw)
		if err != nil {
			m.wrongShape(i, "%v", rawjson.In("tool_calls", rawjson.InElement(i, err)))
		}
		m.calls = append(m.calls, c)
	}
}

func decodeCall(by *dialect.Writer, raw json.RawMessage) (decodedCall, error) {
	c := decodedCall{}
	o, err := by.SplitObject(raw)
	if err != nil {
		return c, err
	}
	c.object = o
	key, err := o.DemandText("type")
	if err != nil {
		return c, err
	}
	c.isCustom = key == typeCustom
	if key != typeFunction && key != typeCustom {
		return c, rawjson.In("type", errCallType)
	}
	if !o.Has(key) {
		return c, rawjson.In(key, rawjson.ErrMissing)
	}
	inner, err := by.SplitObject(o[key])
	err = rawjson.In(key, err)
	if err == nil && c.isCustom {
		err = rawjson.In(key, demandString(inner, "input"))
	}
	if err == nil {
		_, err = o.Text("id")
	}
	c.inner = inner
	return c, err
}

func isTool(m *decodedMessage) bool { return m.role == roleTool }
