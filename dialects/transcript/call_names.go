package transcript

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// callNames holds the tool names of the calls so far, by call id, for results without a name.
type callNames map[string]string

// see records the names of a message's calls, and sets them in its results.
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
