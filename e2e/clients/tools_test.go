package clients_test

import (
	"encoding/json"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/agenttools"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// tool runs a call of one of the agent's tools, as the clients do, and returns what it tells the model.
func (r *runner) tool(s step) (map[string]any, error) {
	r.t.Helper()
	var session, name string
	require.True(r.t, s.take(r.t, "session", &session))
	require.True(r.t, s.take(r.t, "name", &name))
	var written string
	if json.Unmarshal(s["arguments"], &written) != nil {
		written = string(s["arguments"])
	}
	if name == agenttools.DMail {
		return r.sendDmail(session, written), nil
	}
	tools := agenttools.Tools{Sessions: r.Sessions, Compactions: r.Compactions, SessionID: session}
	output, err := tools.Call(r.t.Context(), name, written)
	require.NoError(r.t, err)
	return told(output), nil
}

func told(output agenttools.Output) map[string]any {
	answer := map[string]any{"text": output.Text}
	if output.IsError {
		answer["is_error"] = true
	}
	return answer
}

// sendDmail checks a D-Mail as the loops of the clients do, before they deliver it.
func (r *runner) sendDmail(session, written string) map[string]any {
	r.t.Helper()
	refused := func(text string, values ...string) map[string]any {
		return told(agenttools.Output{Text: agenttools.Text(text, values...), IsError: true})
	}
	if r.mails[session] {
		return refused("mail_pending")
	}
	definition, err := agenttools.DefinitionOf(agenttools.DMail)
	require.NoError(r.t, err)
	given, err := definition.Parse(written)
	if err != nil {
		return refused("mail_not_sent", "why", err.Error())
	}
	wanted, last := given.Number("checkpoint_id", 0), uint32(0)
	all, err := r.records(&compactordv1.ListRecordsRequest{
		SessionId: session, Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT},
	})
	require.NoError(r.t, err)
	for _, listed := range all {
		last = listed.GetCheckpoint().GetId()
		switch {
		case last != wanted:
		case listed.GetPutAside():
			return refused("mail_to_put_aside", "checkpoint", strconv.Itoa(int(wanted)))
		default:
			r.mails[session] = true
			return told(agenttools.Output{Text: agenttools.Text("mail_sent")})
		}
	}
	return refused("mail_to_unknown", "checkpoint", strconv.Itoa(int(wanted)), "last", strconv.Itoa(int(last)))
}
