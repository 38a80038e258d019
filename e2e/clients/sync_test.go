package clients_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// syncMessages gives the complete list of a program, each element with its content.
func (r *runner) syncMessages(s step) (map[string]any, error) {
	kept, dialect := r.handle(s)
	req := &compactordv1.SyncMessagesRequest{}
	s.request(r.t, req, "messages", "items", "from_view", "system", "sent", "program")
	req.Dialect, req.Elements, req.SystemJson = dialect, r.elements(s, kept), r.systemJSON(s, dialect)
	req.ViewToken, req.KnownPoint = kept.token, kept.known
	stream, err := r.Sessions.SyncMessages(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	value := map[string]any{}
	for {
		next, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		r.takeSynced(kept, next, value)
	}
	var sent float64
	require.True(r.t, s.take(r.t, "sent", &sent), "sent")
	value["sent"] = sent
	return value, nil
}

// takeSynced notes a step of a sync: in the program's state, and in the answer as the clients have it.
func (r *runner) takeSynced(kept *handle, next *compactordv1.SyncMessagesResponse, value map[string]any) {
	r.t.Helper()
	if synced := next.GetSynced(); synced != nil {
		kept.known = &synced.Point
		for key, of := range map[string]string{
			"known": "known_elements", "appended": "appended_messages", "put_aside": "messages_put_aside",
			"instructions_replaced": "instructions_replaced", "begins_with_view": "begins_with_view",
			"next_index": "next_index", "point": "point", "findings": "findings", "report": "report",
		} {
			value[key] = object(r.t, synced)[of]
		}
	}
	if completed := next.GetCompaction().GetCompleted(); completed != nil {
		value["compaction"] = object(r.t, completed.GetCompaction())
	}
	if page := next.GetView(); page != nil {
		require.False(r.t, page.GetHasMore())
		kept.join(page)
		value["report"] = object(r.t, page.GetReport())
		value["messages"], value["messages_json"] = list(r.t, kept.neutral), texts(kept.rendered)
		value["system_json"] = texts(page.GetSystemJson())
	}
}

// join takes a page into the view that the program has.
func (h *handle) join(page *compactordv1.GetLLMViewResponse) {
	same := int(page.GetUnchangedPrefix())
	h.neutral = append(h.neutral[:min(same, len(h.neutral)):min(same, len(h.neutral))], page.GetMessages()...)
	h.rendered = append(h.rendered[:min(same, len(h.rendered)):min(same, len(h.rendered))], page.GetMessagesJson()...)
	h.token = page.GetViewToken()
}

// refresh notes the newest point of the session.
func (r *runner) refresh(s step) (map[string]any, error) {
	kept, _ := r.handle(s)
	req := &compactordv1.GetSessionRequest{}
	s.request(r.t, req, "program")
	res, err := r.Sessions.GetSession(r.t.Context(), req)
	if err != nil {
		return nil, err
	}
	kept.known = &res.GetSession().Point
	return object(r.t, res), nil
}

// elements returns a program's list: with `from_view` the program's last view, and behind it what the step has.
func (r *runner) elements(s step, kept *handle) []*compactordv1.ListElement {
	r.t.Helper()
	var all []*compactordv1.ListElement
	var fromView bool
	if s.take(r.t, "from_view", &fromView); fromView {
		for _, shown := range kept.neutral {
			all = append(all, &compactordv1.ListElement{Content: &compactordv1.ListElement_Message{Message: shown.GetMessage()}})
		}
		for _, shown := range kept.rendered {
			all = append(all, &compactordv1.ListElement{Content: &compactordv1.ListElement_Json{Json: shown}})
		}
	}
	for _, m := range r.messages(s) {
		all = append(all, &compactordv1.ListElement{Content: &compactordv1.ListElement_Message{Message: m}})
	}
	var items []json.RawMessage
	s.take(r.t, "items", &items)
	for _, item := range items {
		all = append(all, &compactordv1.ListElement{Content: &compactordv1.ListElement_Json{Json: compact(r.t, item)}})
	}
	return all
}

// systemJSON returns the step's system prompt, a text, as the dialect has it apart from the messages.
func (r *runner) systemJSON(s step, dialect compactordv1.Dialect) []string {
	r.t.Helper()
	text, ok := s["system"]
	if !ok {
		return nil
	}
	prompt := compact(r.t, text)
	switch dialect {
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return []string{`{"type":"text","text":` + prompt + `}`}
	case compactordv1.Dialect_DIALECT_GEMINI:
		return []string{`{"parts":[{"text":` + prompt + `}]}`}
	default:
		return []string{prompt}
	}
}

// listState is what the caller keeps of a list that was compacted without a session.
type listState struct {
	compaction *compactordv1.CompactionEntry
	// covered are the elements that the compaction is of, as JSON.
	covered []string
}

// compacted compacts a list without a session, where that is due: by summaries, of elements that are one message each.
func (r *runner) compacted(s step) (map[string]any, error) {
	kept, dialect := r.handle(s)
	elements, system := r.elements(s, kept), r.systemJSON(s, dialect)
	var fromState bool
	if s.take(r.t, "from_state", &fromState); !fromState {
		r.list = listState{}
	}
	fits := r.list.fits(elements)
	if !fits {
		r.list = listState{}
	}
	history := &compactordv1.InlineHistory{Compaction: r.list.compaction}
	if dialect == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		for _, each := range elements {
			history.Messages = append(history.Messages, each.GetMessage())
		}
	} else {
		history.ProviderJson = &compactordv1.ProviderJson{Dialect: dialect, Json: document(elements, system, dialect)}
	}
	policy := &compactordv1.CompactRequest{}
	s.request(r.t, policy, "messages", "items", "system", "from_state")
	asked := &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_History{History: history}, Dialect: dialect, Policy: policy.GetPolicy(),
	}
	page, err := r.Compactions.GetLLMView(r.t.Context(), asked)
	if err != nil {
		return nil, err
	}
	compacts := page.GetReport().GetShouldCompact()
	if compacts {
		policy.Target = &compactordv1.CompactRequest_History{History: history}
		policy.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
		events, err := r.Compact(r.t.Context(), policy)
		if err != nil {
			return nil, err
		}
		require.NotEmpty(r.t, events)
		last := events[len(events)-1]
		require.NotNil(r.t, last.GetCompleted().GetCompaction(), "%v", last)
		history.Compaction = last.GetCompleted().GetCompaction()
		r.list.compaction = history.GetCompaction()
		r.list.covered = nil
		for _, each := range elements[:int(history.GetCompaction().GetFirstKeptIndex())-len(system)] {
			r.list.covered = append(r.list.covered, each.GetJson())
		}
		if page, err = r.Compactions.GetLLMView(r.t.Context(), asked); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"messages": list(r.t, page.GetMessages()), "messages_json": texts(page.GetMessagesJson()),
		"system_json": texts(page.GetSystemJson()), "report": object(r.t, page.GetReport()), "compacted": compacts,
		"began_anew": !fits, "covered": float64(len(r.list.covered)),
	}, nil
}

// fits tells whether the elements begin with those that the compaction is of.
func (l listState) fits(elements []*compactordv1.ListElement) bool {
	for i, covered := range l.covered {
		if i >= len(elements) || elements[i].GetJson() != covered {
			return false
		}
	}
	return true
}

// document returns a list and its system prompt as the body of a provider's request.
func document(elements []*compactordv1.ListElement, system []string, dialect compactordv1.Dialect) string {
	items := make([]string, len(elements))
	for i, each := range elements {
		items[i] = each.GetJson()
	}
	body, prompt := "["+strings.Join(items, ",")+"]", strings.Join(system, ",")
	switch dialect {
	case compactordv1.Dialect_DIALECT_ANTHROPIC:
		return `{"system":[` + prompt + `],"messages":` + body + `}`
	case compactordv1.Dialect_DIALECT_GEMINI:
		return `{"systemInstruction":` + prompt + `,"contents":` + body + `}`
	case compactordv1.Dialect_DIALECT_OPENAI_RESPONSES:
		return `{"instructions":` + prompt + `,"input":` + body + `}`
	default:
		return body
	}
}
