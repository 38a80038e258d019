package dialect

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// RunningToolLoop returns the position at which the running tool loop begins: the first message after the last one of
// role USER. Only a list that ends with a tool result has a running tool loop. For others it returns the list's length.
func RunningToolLoop(messages []*compactordv1.Message) int {
	if n := len(messages); n == 0 || messages[n-1].GetRole() != compactordv1.Role_ROLE_TOOL {
		return n
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].GetRole() == compactordv1.Role_ROLE_USER {
			return i + 1
		}
	}
	return 0
}

// LeadingInstructions returns how many SYSTEM and DEVELOPER messages are at the start.
func LeadingInstructions(messages []*compactordv1.Message) int {
	for i, m := range messages {
		if r := m.GetRole(); r != compactordv1.Role_ROLE_SYSTEM && r != compactordv1.Role_ROLE_DEVELOPER {
			return i
		}
	}
	return len(messages)
}
