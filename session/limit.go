package session

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// ContextLimit is the most tokens that a request to the model can hold: the window, or the input limit where that is
// lower. A policy's shares and reserves are of it. It is 0 where the window is unknown.
func ContextLimit(p *compactordv1.Policy) uint32 {
	if p.GetMaxInputTokens() == 0 {
		return p.GetContextWindow()
	}
	return min(p.GetContextWindow(), p.GetMaxInputTokens())
}
