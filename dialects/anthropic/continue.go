package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// continueView puts the prompt into the last message if that is the user's, since user and assistant take turns.
//
// Anthropic's cache holds prefixes of tools, system prompt and messages, in that order, that end in a marked block. It is
// read where a block of the request is marked, and where one of the twenty before that was marked in an earlier request. So
// the agent's marks stay as they are, and the last block before the prompt is marked, too, if there are not four already: the
// agent's latest marks stood near the end of its prompt, and may be gone from what is sent of it here. Whether a tool may be
// called is part of what the messages are known by, and is left as it is by itself.
func continueView(view *dialect.List, tools json.RawMessage, prompt *dialect.List) (*dialect.List, error) {
	list := dialect.Concat(view, prompt)
	if len(view.Messages) == 0 || len(prompt.Messages) == 0 {
		return list, nil
	}
	at := len(view.Messages) - 1
	if countMarks(view, tools) < maxMarks {
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

// fieldsOf reads what it can. The server refuses what is malformed.
func fieldsOf(raw json.RawMessage) rawjson.Object {
	fields, _ := rawjson.ParseObject(raw)
	return fields
}

// blocksOf returns a message's content as an array of blocks. A text alone is short for one block.
func blocksOf(message json.RawMessage) json.RawMessage {
	content := fieldsOf(message)["content"]
	if rawjson.KindOf(content) != rawjson.String {
		return content
	}
	block := rawjson.Object{"type": rawjson.Quote(typeText), "text": content}
	return rawjson.EncodeArray([]json.RawMessage{block.Encode()})
}

// markLast marks the last block of a message, if it is of a kind that can be and is not marked yet.
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

// countMarks counts the marks for the cache in a view.
func countMarks(view *dialect.List, tools json.RawMessage) int {
	blocks, _ := rawjson.ParseArray(tools)
	blocks = slices.Concat(blocks, view.System)
	for _, message := range view.Messages {
		inner, _ := rawjson.ParseArray(blocksOf(message))
		blocks = append(blocks, inner...)
	}
	n := 0
	for _, block := range blocks {
		if bytes.Contains(block, []byte(cacheKey)) {
			n += len(marksIn(fieldsOf(block), 0, 0, markDepth))
		}
	}
	return n
}
