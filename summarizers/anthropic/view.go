package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
)

const (
	roleUser = "user"
	// maxMarks is how many blocks of a request may be marked for the cache.
	maxMarks = 4
	cacheKey = "cache_control"
)

// onView puts the agent's own messages before the closing one, and its tools and system prompt beside them.
//
// Anthropic's cache holds prefixes of tools, system prompt and messages, in that order, that end in a marked block. It is
// read where a block of the request is marked, and where one of the twenty before that was marked in an earlier request. So
// the agent's marks stay as they are, and the last block before the closing message is marked, too, if there are not four
// already: the agent's latest marks stood near the end of its prompt, and may be gone from what is sent of it here. Whether a
// tool may be called is part of what the messages are known by, and is left as it is by itself.
func onView(closing *dialect.List, view *summarizers.View) (*dialect.List, error) {
	list := *closing
	if len(view.System) > 0 {
		list.System = view.System
	}
	var err error
	list.Messages, err = withClosing(view, closing.Messages)
	return &list, err
}

// withClosing returns the view's messages and the closing one. Since user and assistant take turns, it is put into the last
// message if that is the user's.
func withClosing(view *summarizers.View, own []json.RawMessage) ([]json.RawMessage, error) {
	if len(view.Messages) == 0 || len(own) == 0 {
		return own, nil
	}
	before, last := view.Messages[:len(view.Messages)-1], view.Messages[len(view.Messages)-1]
	if marks(view) < maxMarks {
		var err error
		if last, err = marked(last); err != nil {
			return nil, err
		}
	}
	if messageOf(last).Role != roleUser {
		return slices.Concat(before, []json.RawMessage{last}, own), nil
	}
	blocks, err := wire.Elements(messageOf(own[0]).Content)
	if err != nil {
		return nil, err
	}
	content, err := wire.Append(blocksOf(last), blocks...)
	if err != nil {
		return nil, err
	}
	last, err = wire.Set(last, "content", content)
	return slices.Concat(before, []json.RawMessage{last}), err
}

// message is what is read of a message, and of a block that has blocks.
type message struct {
	Role    string          `json:"role"`
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`
	Cache   json.RawMessage `json:"cache_control"`
}

// messageOf reads what it can. The server refuses what is malformed.
func messageOf(raw json.RawMessage) message {
	var m message
	_ = json.Unmarshal(raw, &m)
	return m
}

// blocksOf returns a message's content as an array of blocks. A text alone is short for one block.
func blocksOf(raw json.RawMessage) json.RawMessage {
	content := messageOf(raw).Content
	if bytes.HasPrefix(content, []byte(`"`)) {
		return wire.Array(json.RawMessage(`{"type":"text","text":` + string(content) + `}`))
	}
	return content
}

// marked marks the last block of a message, if it is of a kind that can be.
func marked(raw json.RawMessage) (json.RawMessage, error) {
	content := blocksOf(raw)
	blocks, err := wire.Elements(content)
	if err != nil || len(blocks) == 0 || !takesMark(messageOf(blocks[len(blocks)-1])) {
		return raw, err
	}
	block, err := wire.Set(blocks[len(blocks)-1], cacheKey, json.RawMessage(`{"type":"ephemeral"}`))
	if err != nil {
		return nil, err
	}
	if content, err = wire.SetLast(content, block); err != nil {
		return nil, err
	}
	return wire.Set(raw, "content", content)
}

// takesMark says whether a block can be marked and is not yet.
func takesMark(block message) bool {
	switch block.Type {
	case "text":
		return block.Text != "" && !isMark(block.Cache)
	case "image", "document", "tool_use", "tool_result", "search_result":
		return !isMark(block.Cache)
	default:
		return false
	}
}

func isMark(mark json.RawMessage) bool { return len(mark) > 0 && string(mark) != "null" }

// marks counts the blocks of a view that are marked.
func marks(view *summarizers.View) int {
	tools, _ := wire.Elements(view.Tools)
	n := marksIn(tools) + marksIn(view.System)
	for _, m := range view.Messages {
		blocks, _ := wire.Elements(blocksOf(m))
		n += marksIn(blocks)
	}
	return n
}

func marksIn(blocks []json.RawMessage) int {
	n := 0
	for _, raw := range blocks {
		if !bytes.Contains(raw, []byte(cacheKey)) {
			continue
		}
		block := messageOf(raw)
		if isMark(block.Cache) {
			n++
		}
		inner, _ := wire.Elements(block.Content)
		n += marksIn(inner)
	}
	return n
}
