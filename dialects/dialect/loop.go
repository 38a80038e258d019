package dialect

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// LiveLoop returns where the live tool loop begins: the first message behind the last one of role USER. Only a list that
// ends with the result of a tool has one; else it is the list's length.
func LiveLoop(messages []*compactordv1.Message) int {
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

// LeadingRun returns how many SYSTEM and DEVELOPER messages stand at the start.
func LeadingRun(messages []*compactordv1.Message) int {
	for i, m := range messages {
		if r := m.GetRole(); r != compactordv1.Role_ROLE_SYSTEM && r != compactordv1.Role_ROLE_DEVELOPER {
			return i
		}
	}
	return len(messages)
}
