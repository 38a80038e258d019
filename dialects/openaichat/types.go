package openaichat

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The roles of messages. Function is what results had before tools.
const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleFunction  = "function"
)

// The types of content parts that are media; each holds them in a field of the same name.
const (
	typeImage = "image_url"
	typeAudio = "input_audio"
	typeFile  = "file"
)

// The types of calls.
const (
	typeFunction = "function"
	typeCustom   = "custom"
)

// The fields in which servers hand out reasoning. A text is taken from the first that has one.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
	reasoningDetails = "reasoning_details"
)

var reasoningFields = []string{reasoningContent, reasoning, reasoningDetails}

var roles = map[string]compactordv1.Role{
	roleSystem:    compactordv1.Role_ROLE_SYSTEM,
	roleDeveloper: compactordv1.Role_ROLE_DEVELOPER,
	roleUser:      compactordv1.Role_ROLE_USER,
	roleAssistant: compactordv1.Role_ROLE_ASSISTANT,
	roleTool:      compactordv1.Role_ROLE_TOOL,
	roleFunction:  compactordv1.Role_ROLE_TOOL,
}

// ofAssistant are the fields that would lose their meaning in a message of another role.
var ofAssistant = []string{"tool_calls", "function_call", "reasoning_content", "refusal", "audio"}

// mimeAnyImage is the type of an image of which only the address is known.
const (
	mimeAnyImage = "image/*"
	mimePDF      = "application/pdf"
)
