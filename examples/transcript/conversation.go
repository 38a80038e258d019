package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// message is a line of the transcript: OpenAI's fields, and those that transcripts add.
type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Name       string     `json:"name,omitempty"`
	IsError    bool       `json:"is_error,omitempty"`
	Model      string     `json:"model,omitempty"`
	StopReason string     `json:"stop_reason,omitempty"`
	Usage      *usage     `json:"usage,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	InputTokens      int `json:"input_tokens"`
	OutputTokens     int `json:"output_tokens"`
	CacheReadTokens  int `json:"cache_read_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
}

const model = "example-coder-1"

// conversation collects messages and computes the usage that a provider would report for them.
type conversation struct {
	random   *random
	messages []message
	prompt   int // tokens of all messages so far
	cached   int // the part of them in the provider's cache
}

// overhead is the tokens of the tool definitions and of the client's prompts, which are not in the messages.
const overhead = 4200

func (c *conversation) add(m message) {
	c.messages = append(c.messages, m)
	c.prompt += tokens(m)
}

func (c *conversation) system(text string) { c.add(message{Role: "system", Content: &text}) }

func (c *conversation) user(text string) { c.add(message{Role: "user", Content: &text}) }

// step is one answer of the assistant.
type step struct {
	thinking string
	text     string
	calls    []use
}

// use is a tool call with its result.
type use struct {
	tool      string
	arguments any
	result    string
	failed    bool
}

// assistant adds an answer with the results of its calls.
func (c *conversation) assistant(s step) {
	m := message{Role: "assistant", Reasoning: s.thinking, Model: model, StopReason: "end_turn"}
	if s.text != "" {
		m.Content = &s.text
	}
	for _, u := range s.calls {
		m.StopReason = "tool_use"
		m.ToolCalls = append(m.ToolCalls, toolCall{
			ID:       "call_" + c.random.letters(22),
			Type:     "function",
			Function: function{Name: u.tool, Arguments: compact(u.arguments)},
		})
	}
	m.Usage = c.reckon(m)
	c.add(m)
	for i, u := range s.calls {
		c.add(message{Role: "tool", ToolCallID: m.ToolCalls[i].ID, Name: u.tool, Content: &u.result, IsError: u.failed})
	}
}

func (c *conversation) reckon(answer message) *usage {
	prompt := overhead + c.prompt
	u := &usage{
		InputTokens:     3 + c.random.below(9),
		OutputTokens:    tokens(answer),
		CacheReadTokens: c.cached,
	}
	u.CacheWriteTokens = prompt - c.cached - u.InputTokens
	c.cached = prompt
	return u
}

// tokens estimates four characters a token.
func tokens(m message) int {
	n := len(m.Reasoning)
	if m.Content != nil {
		n += utf8.RuneCountInString(*m.Content)
	}
	for _, t := range m.ToolCalls {
		n += len(t.Function.Name) + len(t.Function.Arguments)
	}
	return (n + 3) / 4
}

// compact encodes JSON as models do: on one line, with <, > and & unescaped.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("arguments that are not JSON: %v", err))
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// save writes the conversation as JSON Lines.
func (c *conversation) save(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, m := range c.messages {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}
