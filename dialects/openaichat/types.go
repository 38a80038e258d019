package openaichat

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	customType   = "custom"
	functionType = "function"
)

// The fields in which servers hand out reasoning. A text is taken from the first that has one.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
	reasoningDetails = "reasoning_details"
)

var reasoningFields = []string{reasoningContent, reasoning, reasoningDetails}

var roles = map[string]compactordv1.Role{
	"system":    compactordv1.Role_ROLE_SYSTEM,
	"developer": compactordv1.Role_ROLE_DEVELOPER,
	"user":      compactordv1.Role_ROLE_USER,
	"assistant": compactordv1.Role_ROLE_ASSISTANT,
	"tool":      compactordv1.Role_ROLE_TOOL,
	"function":  compactordv1.Role_ROLE_TOOL,
}

// ofAssistant are the fields that would lose their meaning in a message of another role.
var ofAssistant = []string{"tool_calls", "function_call", "reasoning_content", "refusal", "audio"}
