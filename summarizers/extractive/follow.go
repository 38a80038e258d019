package extractive

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// follow reads a message that the view keeps after the summary. It shows how errors ended that were open before, and
// what failed in it needs no line, since it can be read there.
func (r *reader) follow(logged *compactordv1.LoggedMessage) {
	if len(r.l.errors) == 0 && len(r.l.commands) == 0 {
		return
	}
	index := logged.GetIndex()
	r.followed = max(r.followed, index)
	switch logged.GetMessage().GetRole() {
	case compactordv1.Role_ROLE_USER:
		r.latest, r.spoken = max(r.latest, index), max(r.spoken, index)
	case compactordv1.Role_ROLE_TOOL:
		r.latest = max(r.latest, index)
	default:
	}
	for _, p := range logged.GetMessage().GetParts() {
		if tc := p.GetToolCall(); tc != nil {
			r.latest = max(r.latest, index)
			if r.kept == nil {
				r.kept = map[string]*call{}
			}
			r.kept[tc.GetId()] = newCall(index, tc.GetName(), tc.GetArguments())
		}
		if res := p.GetToolResult(); res != nil {
			r.followResult(index, res)
		}
	}
}

// followResult reads what a result shows about open errors.
func (r *reader) followResult(index uint32, res *compactordv1.ToolResult) {
	c := r.kept[res.GetCallId()]
	if waiting := r.open[res.GetCallId()]; c == nil && len(waiting) > 0 {
		c = waiting[len(waiting)-1]
	}
	if c == nil {
		return
	}
	said := payloadOf(resultText(res), c)
	o := said.outcome(res.GetIsError(), c)
	switch {
	case o.declined || o.cancelled:
	case o.failed:
		r.l.replace(&item{kind: kindError, tool: c.name, path: c.subject(), failure: failureOf(c, o)}, false)
		if c.cmd != nil {
			r.l.outdate(c.cmd)
		}
	default:
		r.l.succeed(c, said.text)
		for _, f := range c.files {
			r.l.edit(f, index)
			if f.modified {
				r.l.changed = index
			}
		}
		r.l.wentOn(c)
	}
}
