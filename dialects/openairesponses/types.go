package openairesponses

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The types of items and of pieces of content that have a neutral meaning.
const (
	typeMessage       = "message"
	typeReasoning     = "reasoning"
	typeCompaction    = "compaction"
	typeItemReference = "item_reference"

	typeFunctionCall   = "function_call"
	typeFunctionOutput = "function_call_output"
	typeLocalShellOut  = "local_shell_call_output"
	typeApproval       = "mcp_approval_response"
	typeToolSearch     = "tool_search_call"
	typeToolSearchOut  = "tool_search_output"

	typeInputText     = "input_text"
	typeOutputText    = "output_text"
	typePlainText     = "text"
	typeRefusal       = "refusal"
	typeInputImage    = "input_image"
	typeInputFile     = "input_file"
	typeInputAudio    = "input_audio"
	typeSummaryText   = "summary_text"
	typeReasoningText = "reasoning_text"
	typeScreenshot    = "computer_screenshot"
)

// fromClient are the types of items without a neutral meaning that the client writes.
var fromClient = map[string]bool{
	"additional_tools":     true,
	"compaction_trigger":   true,
	"configuration_update": true,
	typeApproval:           true,
}

const (
	fieldInput        = "input"
	fieldInstructions = "instructions"
	fieldOutput       = "output"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleDeveloper = "developer"
)

var (
	roleNames = map[compactordv1.Role]string{
		compactordv1.Role_ROLE_USER:      roleUser,
		compactordv1.Role_ROLE_ASSISTANT: roleAssistant,
		compactordv1.Role_ROLE_SYSTEM:    roleSystem,
		compactordv1.Role_ROLE_DEVELOPER: roleDeveloper,
	}
	roles = func() map[string]compactordv1.Role {
		byName := make(map[string]compactordv1.Role, len(roleNames))
		for role, name := range roleNames {
			byName[name] = role
		}
		return byName
	}()
)

const callID = "call_id"

// mimeAnyImage is the type of an image of which only the address is known.
const (
	mimeAnyImage = "image/*"
	mimePDF      = "application/pdf"
)
