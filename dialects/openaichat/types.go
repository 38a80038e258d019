package openaichat

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The roles of messages. Function is the older role of results.
const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleFunction  = "function"
)

// The types of content parts that are media. Each has its content in a field of the same name.
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

// The fields in which servers send reasoning. The text comes from the first that has one.
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

// ofAssistant are the fields that have no meaning in messages of other roles.
var ofAssistant = []string{"tool_calls", "function_call", "reasoning_content", "refusal", "audio"}

// mimeAnyImage is the type of an image of which only the address is known.
const (
	mimeAnyImage = "image/*"
	mimePDF      = "application/pdf"
)
