package transcript

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// callNames knows the tools of the calls so far, for results that do not name theirs.
type callNames map[string]string

// see learns the names of a message's calls, and fills them into its results.
func (n callNames) see(m *compactordv1.Message) {
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			n[call.GetId()] = call.GetName()
		}
		if result := p.GetToolResult(); result != nil && result.GetName() == "" {
			result.Name = n[result.GetCallId()]
		}
	}
}
