package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// runner runs the steps of one case.
type runner struct {
	t *testing.T
	*daemontest.Daemon
	dialect string
	// handles are the clients' states, by session and dialect.
	handles map[handleKey]*handle
	// plan is the answer of the last plan step.
	plan *compactordv1.PlanCompactionResponse
	// list is the state of the last list that was compacted without a session.
	list listState
	// mails are the sessions with a D-Mail that waits to be delivered.
	mails map[string]bool
	ids   ids
}

type handleKey struct{ session, dialect, program string }

// handle is what a client keeps of a session: its last view, and the newest point that its syncs know of.
type handle struct {
	neutral  []*compactordv1.ViewMessage
	rendered []string
	token    string
	known    *uint32
}

// run runs a case and returns the answers of its steps. It deletes the case's sessions afterwards.
func run(t *testing.T, d *daemontest.Daemon, c testCase) []any {
	t.Helper()
	r := &runner{t: t, Daemon: d, dialect: c.Dialect, handles: map[handleKey]*handle{}, mails: map[string]bool{}, ids: ids{}}
	defer r.deleteSessions()
	var answers []any
	for i, s := range c.Steps {
		answer, err := r.do(s)
		if err != nil {
			answer = failure(t, err)
		}
		_, wanted := s["fails"]
		require.Equal(t, wanted, err != nil, "step %d: %v", i, err)
		var without []string
		s.take(t, "leave_out", &without)
		answers = append(answers, r.ids.comparable(answer, without))
	}
	return answers
}

// take reads an argument of a step, if the step has it.
func (s step) take(t *testing.T, name string, into any) bool {
	t.Helper()
	raw, ok := s[name]
	if ok {
		require.NoError(t, json.Unmarshal(raw, into), name)
	}
	return ok
}

// request fills a request from the arguments of a step that are fields of the request.
func (s step) request(t *testing.T, req proto.Message, but ...string) {
	t.Helper()
	fields := maps.Clone(s)
	for _, name := range append(but, "do", "dialect", "fails", "leave_out", "note") {
		delete(fields, name)
	}
	if session, ok := fields["session"]; ok {
		delete(fields, "session")
		fields["session_id"] = session
	}
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	require.NoError(t, protojson.Unmarshal(text, req), "%s", text)
}

// handle returns the state of the step's session in the step's dialect.
func (r *runner) handle(s step) (*handle, compactordv1.Dialect) {
	r.t.Helper()
	key := handleKey{dialect: r.dialect}
	s.take(r.t, "session", &key.session)
	s.take(r.t, "dialect", &key.dialect)
	s.take(r.t, "program", &key.program)
	if r.handles[key] == nil {
		r.handles[key] = &handle{}
	}
	dialect, ok := map[string]compactordv1.Dialect{
		"":                 compactordv1.Dialect_DIALECT_UNSPECIFIED,
		"openai_chat":      compactordv1.Dialect_DIALECT_OPENAI_CHAT,
		"openai_responses": compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
		"anthropic":        compactordv1.Dialect_DIALECT_ANTHROPIC,
		"gemini":           compactordv1.Dialect_DIALECT_GEMINI,
	}[key.dialect]
	require.True(r.t, ok, "no dialect is called %q", key.dialect)
	return r.handles[key], dialect
}

// deleteSessions deletes the sessions of the case, so that another run can use the same ids.
func (r *runner) deleteSessions() {
	r.t.Helper()
	seen := map[string]bool{}
	for key := range r.handles {
		if key.session != "" && !seen[key.session] {
			seen[key.session] = true
			_, _ = r.Sessions.DeleteSession(context.WithoutCancel(r.t.Context()), &compactordv1.DeleteSessionRequest{SessionId: key.session})
		}
	}
}

// message parses a neutral message of a case: a text of the user, a short form, or the whole message.
func message(t *testing.T, raw json.RawMessage) *compactordv1.Message {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return said(compactordv1.Role_ROLE_USER, text)
	}
	var short struct {
		System, Developer, User, Assistant *string
		ToolResult                         *struct {
			CallID  string `json:"call_id"`
			Text    string `json:"text"`
			IsError bool   `json:"is_error"`
		} `json:"tool_result"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&short) != nil {
		m := &compactordv1.Message{}
		require.NoError(t, protojson.Unmarshal(raw, m), "%s", raw)
		return m
	}
	switch {
	case short.System != nil:
		return said(compactordv1.Role_ROLE_SYSTEM, *short.System)
	case short.Developer != nil:
		return said(compactordv1.Role_ROLE_DEVELOPER, *short.Developer)
	case short.User != nil:
		return said(compactordv1.Role_ROLE_USER, *short.User)
	case short.Assistant != nil:
		return said(compactordv1.Role_ROLE_ASSISTANT, *short.Assistant)
	}
	require.NotNil(t, short.ToolResult, "%s", raw)
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: short.ToolResult.CallID, IsError: short.ToolResult.IsError,
			Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: short.ToolResult.Text}}},
			},
		}}},
	}}
}

func said(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}

// providerJSON returns the JSON that a step appends in its dialect: raw text, a value, or several values as one list.
func (s step) providerJSON(t *testing.T) (string, bool) {
	t.Helper()
	var raw string
	if s.take(t, "raw", &raw) {
		return raw, true
	}
	if value, ok := s["json"]; ok {
		return compact(t, value), true
	}
	var items []json.RawMessage
	if !s.take(t, "items", &items) {
		return "", false
	}
	elements := make([]string, len(items))
	for i, item := range items {
		elements[i] = compact(t, item)
		if strings.HasPrefix(elements[i], "[") {
			elements[i] = elements[i][1 : len(elements[i])-1]
		}
	}
	return "[" + strings.Join(elements, ",") + "]", true
}

// compact removes the white space of a JSON value.
func compact(t *testing.T, value json.RawMessage) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, json.Compact(&text, value))
	return text.String()
}
