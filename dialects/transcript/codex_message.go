package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// codexAborted begins Codex's message to the model after the user stopped it.
const codexAborted = "<turn_aborted>"

// codexContexts begin the USER messages that Codex itself writes.
var codexContexts = []string{
	"# agents.md instructions", "<user_instructions>", "<instructions>", "<environment_context>", codexAborted, "<skill>",
	"<subagent_notification>", "<hook_prompt", "<codex_internal_context",
}

// codexItem is an item of the conversation with its path.
type codexItem struct {
	raw  json.RawMessage
	path string // of the item within its line
	line int    // from 1
	at   *timestamppb.Timestamp
}

// codexBatch is a response of the model, which can continue, and then the results of its calls.
type codexBatch struct {
	items []codexItem
	// answered reports that results came, and ended that the usage of the whole response came.
	answered, ended bool
	usage           *compactordv1.Usage
	aborted         bool
}

// item reads an item of the conversation, at a path in its line.
func (s *codexRollout) item(item rawjson.Object, raw json.RawMessage, path string) error {
	kind, err := item.DemandText("type")
	if err != nil {
		return under(path, err)
	}
	if kind == "ghost_snapshot" {
		s.in.notes.add(codexSnapshot)
		return nil
	}
	one := codexItem{raw: bytes.Clone(raw), path: path, line: s.in.line, at: s.at}
	switch {
	case strings.HasSuffix(kind, "_output"):
		s.batch.answered = true
	case kind == "message" && !item.IsText("role", "assistant"):
		return s.clientMessage(one)
	case s.batch.answered || s.batch.ended:
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.batch.items = append(s.batch.items, one)
	return nil
}

// clientMessage emits a message that the model did not write, after the model's messages so far.
func (s *codexRollout) clientMessage(item codexItem) error {
	messages, _, err := parseItems([]codexItem{item}, s.in.notes)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.GetRole() != compactordv1.Role_ROLE_USER {
			continue
		}
		if text := strings.ToLower(startOf(m)); hasAnyPrefix(text, codexContexts) {
			m.Origin = compactordv1.Origin_ORIGIN_CONTINUE
			if strings.HasPrefix(text, codexAborted) {
				s.abort()
			}
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	for _, m := range messages {
		item.place(m)
		s.emit(m)
	}
	return nil
}

// startOf returns the start of a message's text, which is enough to know who wrote it.
func startOf(m *compactordv1.Message) string {
	for _, p := range m.GetParts() {
		return cut(strings.TrimSpace(p.GetText().GetText()), 64)
	}
	return ""
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// abort marks a response that broke off. A complete one has its usage, or results of its calls.
func (s *codexRollout) abort() {
	s.batch.aborted = !s.batch.ended && !s.batch.answered
}

// flush emits the messages of the batch.
func (s *codexRollout) flush() error {
	batch := s.batch
	s.batch = codexBatch{}
	if len(batch.items) == 0 {
		return nil
	}
	messages, positions, err := parseItems(batch.items, s.in.notes)
	if err != nil {
		return err
	}
	for i, m := range messages {
		batch.items[positions[i]].place(m)
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			m.Model, m.Usage, batch.usage = s.model, batch.usage, nil
			if batch.aborted {
				m.StopReason = compactordv1.StopReason_STOP_REASON_ABORTED
			}
		}
		s.emit(m)
	}
	return nil
}

func (i codexItem) place(m *compactordv1.Message) {
	m.WrittenAt, m.SourcePosition = i.at, position(i.line-1)
}

// parseItems parses items. With the messages it returns the position of the item that each began with.
func parseItems(items []codexItem, notes *noteCounter) ([]*compactordv1.Message, []int, error) {
	raws := make([]json.RawMessage, len(items))
	for i, item := range items {
		raws[i] = item.raw
	}
	parsed, err := openairesponses.New().Parse(rawjson.EncodeArray(raws))
	if err == nil {
		err = notes.strictly(parsed.Findings)
	}
	if err == nil {
		return parsed.Messages, parsed.Positions, nil
	}
	input := &dialect.InputError{}
	if !errors.As(err, &input) || input.Message < 0 || input.Message >= len(items) {
		return nil, nil, onLine(items[0].line, fieldOf(err))
	}
	at := items[input.Message]
	return nil, nil, onLine(at.line, under(at.path, fieldOf(err)))
}

// under adds a path to an error. An empty path means the line.
func under(path string, err error) error {
	if path == "" {
		return err
	}
	return rawjson.In(path, err)
}
