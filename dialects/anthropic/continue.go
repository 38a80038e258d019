package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// continueView puts the prompt into the last message where that is the user's, since user and assistant must alternate.
//
// Anthropic's cache holds prefixes of tools, system prompt and messages, in that order. Each prefix ends at a block
// with a breakpoint. The cache is read where a block of the request has a breakpoint, and where one of the twenty
// blocks before it had a breakpoint in an earlier request. So the agent's breakpoints stay. Where there are fewer than
// four, the last block before the prompt gets one, too: the agent's latest breakpoints were near the end of its prompt,
// which can be missing from the messages that are sent here. The choice of tools is part of the cache key, so it stays
// the default one.
func continueView(view *dialect.List, tools json.RawMessage, prompt *dialect.List) (*dialect.List, error) {
	list := dialect.Concat(view, prompt)
	if len(view.Messages) == 0 || len(prompt.Messages) == 0 {
		return list, nil
	}
	at := len(view.Messages) - 1
	if countBreakpoints(view, tools) < maxBreakpoints {
		var err error
		if list.Messages[at], err = markLast(list.Messages[at]); err != nil {
			return nil, err
		}
	}
	if !fieldsOf(list.Messages[at]).IsText("role", roleUser) {
		return list, nil
	}
	blocks, err := fieldsOf(prompt.Messages[0]).Elements("content")
	if err != nil {
		return nil, err
	}
	content, err := rawjson.Append(blocksOf(list.Messages[at]), blocks...)
	if err != nil {
		return nil, err
	}
	list.Messages[at], err = rawjson.Set(list.Messages[at], "content", content)
	list.Messages = slices.Delete(list.Messages, at+1, at+2)
	return list, err
}

// fieldsOf returns no fields where the JSON is malformed. The server refuses that anyway.
func fieldsOf(raw json.RawMessage) rawjson.Object {
	fields, _ := rawjson.ParseObject(raw)
	return fields
}

// blocksOf returns a message's content as an array of blocks. A string becomes one block.
func blocksOf(message json.RawMessage) json.RawMessage {
	content := fieldsOf(message)["content"]
	if rawjson.KindOf(content) != rawjson.String {
		return content
	}
	block := rawjson.Object{"type": rawjson.Quote(typeText), "text": content}
	return rawjson.EncodeArray([]json.RawMessage{block.Encode()})
}

// markLast sets a breakpoint at the last block of a message, where that block can have one and has none.
func markLast(message json.RawMessage) (json.RawMessage, error) {
	content := blocksOf(message)
	blocks, err := rawjson.ParseArray(content)
	if err != nil || len(blocks) == 0 {
		return message, err
	}
	block := blocks[len(blocks)-1]
	typ := textField(block, "type")
	if !isMarkable(typ) || typ == typeText && textField(block, "text") == "" || isMark(fieldsOf(block)[cacheKey]) {
		return message, nil
	}
	if block, err = rawjson.Set(block, cacheKey, json.RawMessage(`{"type":"ephemeral"}`)); err != nil {
		return nil, err
	}
	if content, err = rawjson.SetLast(content, block); err != nil {
		return nil, err
	}
	return rawjson.Set(message, "content", content)
}

// countBreakpoints counts the cache breakpoints in a view.
func countBreakpoints(view *dialect.List, tools json.RawMessage) int {
	blocks, _ := rawjson.ParseArray(tools)
	blocks = slices.Concat(blocks, view.System)
	for _, message := range view.Messages {
		inner, _ := rawjson.ParseArray(blocksOf(message))
		blocks = append(blocks, inner...)
	}
	n := 0
	for _, block := range blocks {
		if bytes.Contains(block, []byte(cacheKey)) {
			n += len(breakpointsIn(nil, fieldsOf(block), 0, 0, breakpointDepth))
		}
	}
	return n
}
