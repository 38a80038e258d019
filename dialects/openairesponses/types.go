package openairesponses

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

// fromClient are the types of items without a neutral meaning that the client writes, and not the model.
var fromClient = map[string]bool{
	"additional_tools":     true,
	"compaction_trigger":   true,
	"configuration_update": true,
	typeApproval:           true,
}
