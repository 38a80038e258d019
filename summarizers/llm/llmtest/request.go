package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Request is a client's request.
type Request struct {
	// Number is the request's number on this server, from 0.
	Number   int
	Protocol Protocol
	Path     string
	Query    url.Values
	Header   http.Header
	Body     []byte
	// Model is the requested model, and Effort the provider's word for the thinking effort. Effort may be empty.
	Model, Effort string
	// MaxTokens is the output limit; 0 if the request sets none.
	MaxTokens uint32
	// System is all text of system and developer messages, and User the text of the last user message.
	System, User string
	// Turns are all other messages, as role and text.
	Turns []Turn
	// Tools are the tool definitions, unchanged; nil if there are none.
	Tools json.RawMessage
	// Tokens is the size of Text, measured by the function given to Server.Window; 0 without one.
	Tokens uint32

	wantsUsage    bool
	closed, ended chan struct{}
	mu            sync.Mutex
	wrote         []byte
}

// Turn is a message of a request.
type Turn struct {
	Role, Text string
}

// Text returns all text that the model would read: system prompt, tool definitions and messages.
func (r *Request) Text() string {
	texts := make([]string, 0, len(r.Turns)+2)
	if r.System != "" {
		texts = append(texts, r.System)
	}
	if len(r.Tools) > 0 {
		texts = append(texts, string(r.Tools))
	}
	for _, turn := range r.Turns {
		texts = append(texts, turn.Text)
	}
	return strings.Join(texts, "\n")
}

// Closed returns a channel that is closed when the client closes the request before its answer is complete.
func (r *Request) Closed() <-chan struct{} { return r.closed }

// Ended returns a channel that is closed when the server has finished with the request, for whatever reason.
func (r *Request) Ended() <-chan struct{} { return r.ended }

// Wrote returns the model's text so far, without thinking.
func (r *Request) Wrote() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.wrote)
}

var errNotStreaming = errors.New("it does not ask for a stream")

func parse(p Protocol, r *http.Request, body []byte) (*Request, error) {
	req := &Request{
		Protocol: p, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		closed: make(chan struct{}), ended: make(chan struct{}),
	}
	var err error
	switch p {
	case Chat:
		err = req.parseChat()
	case Responses:
		err = req.parseResponses()
	case Messages:
		err = req.parseMessages()
	default:
		err = req.parseGemini()
	}
	if err != nil {
		return nil, err
	}
	for _, turn := range req.Turns {
		if turn.Role == "user" {
			req.User = turn.Text
		}
	}
	return req, nil
}

func (r *Request) parseChat() error {
	var body struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools               json.RawMessage
		Stream              bool
		MaxTokens           uint32 `json:"max_tokens"`
		MaxCompletionTokens uint32 `json:"max_completion_tokens"`
		ReasoningEffort     string `json:"reasoning_effort"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if !body.Stream {
		return errNotStreaming
	}
	r.Model, r.Tools, r.Effort = body.Model, body.Tools, body.ReasoningEffort
	r.MaxTokens = max(body.MaxTokens, body.MaxCompletionTokens)
	r.wantsUsage = body.StreamOptions.IncludeUsage
	for _, m := range body.Messages {
		text, err := textOf(m.Content)
		if err != nil {
			return err
		}
		r.add(m.Role, text)
	}
	return nil
}

func (r *Request) parseResponses() error {
	var body struct {
		Model           string
		Instructions    string
		Input           json.RawMessage
		Tools           json.RawMessage
		Stream          bool
		MaxOutputTokens uint32 `json:"max_output_tokens"`
		Reasoning       struct{ Effort string }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if !body.Stream {
		return errNotStreaming
	}
	r.Model, r.Tools, r.Effort, r.MaxTokens = body.Model, body.Tools, body.Reasoning.Effort, body.MaxOutputTokens
	r.add("system", body.Instructions)
	if text := ""; json.Unmarshal(body.Input, &text) == nil {
		r.add("user", text)
		return nil
	}
	var items []struct {
		Role, Arguments string
		Content, Output json.RawMessage
	}
	if err := json.Unmarshal(body.Input, &items); err != nil {
		return err
	}
	for _, item := range items {
		content, err := textOf(item.Content)
		if err != nil {
			return err
		}
		output, err := textOf(item.Output)
		if err != nil {
			return err
		}
		r.add(item.Role, content+output+item.Arguments)
	}
	return nil
}

func (r *Request) parseMessages() error {
	var body struct {
		Model    string
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools        json.RawMessage
		Stream       bool
		MaxTokens    uint32                  `json:"max_tokens"`
		OutputConfig struct{ Effort string } `json:"output_config"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if !body.Stream {
		return errNotStreaming
	}
	if body.MaxTokens == 0 {
		return errors.New("max_tokens is missing")
	}
	r.Model, r.Tools, r.Effort, r.MaxTokens = body.Model, body.Tools, body.OutputConfig.Effort, body.MaxTokens
	system, err := textOf(body.System)
	if err != nil {
		return err
	}
	r.add("system", system)
	for _, m := range body.Messages {
		text, err := textOf(m.Content)
		if err != nil {
			return err
		}
		r.add(m.Role, text)
	}
	return nil
}

func (r *Request) parseGemini() error {
	type content struct {
		Role  string
		Parts json.RawMessage
	}
	var body struct {
		SystemInstruction content
		Contents          []content
		Tools             json.RawMessage
		GenerationConfig  struct {
			MaxOutputTokens uint32
			ThinkingConfig  struct{ ThinkingLevel string }
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if r.Query.Get("alt") != "sse" {
		return errNotStreaming
	}
	r.Model = strings.TrimSuffix(strings.TrimPrefix(r.Path, geminiModels), ":streamGenerateContent")
	r.Tools, r.MaxTokens = body.Tools, body.GenerationConfig.MaxOutputTokens
	r.Effort = body.GenerationConfig.ThinkingConfig.ThinkingLevel
	system, err := textOf(body.SystemInstruction.Parts)
	if err != nil {
		return err
	}
	r.add("system", system)
	for _, c := range body.Contents {
		text, err := textOf(c.Parts)
		if err != nil {
			return err
		}
		role := c.Role
		if role == "" {
			role = "user"
		}
		r.add(role, text)
	}
	return nil
}

// add adds a message.
func (r *Request) add(role, text string) {
	if role != "system" && role != "developer" {
		r.Turns = append(r.Turns, Turn{Role: role, Text: text})
		return
	}
	if r.System != "" && text != "" {
		r.System += "\n"
	}
	r.System += text
}

// textOf returns the text of a message's content: a string, or all strings in its parts.
func textOf(content json.RawMessage) (string, error) {
	if len(content) == 0 || string(content) == "null" {
		return "", nil
	}
	if text := ""; json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text             string
		Thinking         string
		Content          json.RawMessage
		Input            json.RawMessage
		FunctionCall     json.RawMessage
		FunctionResponse json.RawMessage
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", fmt.Errorf("a content is neither text nor parts: %w", err)
	}
	var text strings.Builder
	for _, p := range parts {
		inner, err := textOf(p.Content)
		if err != nil {
			return "", err
		}
		text.WriteString(p.Text + p.Thinking + inner)
		for _, raw := range []json.RawMessage{p.Input, p.FunctionCall, p.FunctionResponse} {
			text.Write(raw)
		}
	}
	return text.String(), nil
}
