package clients_test

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// messages returns the neutral messages of a step.
func (r *runner) messages(s step) []*compactordv1.Message {
	r.t.Helper()
	var raw []json.RawMessage
	s.take(r.t, "messages", &raw)
	var all []*compactordv1.Message
	for _, m := range raw {
		all = append(all, message(r.t, m))
	}
	return all
}

// view fetches the view: all of it, or what is new since the last one of the same session and dialect, page by page.
// With as_of the kept state is neither used nor changed.
func (r *runner) view(s step) (map[string]any, error) {
	kept, dialect := r.handle(s)
	req := &compactordv1.GetLLMViewRequest{}
	s.request(r.t, req)
	req.Dialect = dialect
	if req.AsOf != nil {
		kept = &handle{}
	}
	sent := 0
	req.ViewToken = kept.token
	next := *kept
	for {
		res, err := r.Compactions.GetLLMView(r.t.Context(), req)
		if err != nil {
			return nil, err
		}
		sent += len(res.GetMessages()) + len(res.GetMessagesJson())
		if dialect == compactordv1.Dialect_DIALECT_UNSPECIFIED {
			next.neutral = append(next.neutral[:res.GetUnchangedPrefix():res.GetUnchangedPrefix()], res.GetMessages()...)
		} else {
			next.rendered = append(next.rendered[:res.GetUnchangedPrefix():res.GetUnchangedPrefix()], res.GetMessagesJson()...)
		}
		next.token = res.GetViewToken()
		req.ViewToken = next.token
		if res.GetHasMore() {
			continue
		}
		require.NotEmpty(r.t, next.token)
		*kept = next
		return map[string]any{
			"messages": list(r.t, next.neutral), "messages_json": texts(next.rendered), "system_json": texts(res.GetSystemJson()),
			"sent": float64(sent), "report": object(r.t, res.GetReport()),
			"disable_thinking": res.GetViewReport().GetDisableThinking(),
		}, nil
	}
}
