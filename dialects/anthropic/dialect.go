package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_ANTHROPIC

type messagesAPI struct{}

// New returns the dialect.
func New() dialect.Dialect { return messagesAPI{} }

func (messagesAPI) Kind() compactordv1.Dialect { return kind }

func (messagesAPI) Name() string { return "anthropic" }

func (messagesAPI) Render(
	messages []*compactordv1.Message, opts dialect.RenderOptions,
) (*dialect.Rendered, error) {
	if opts.AsWritten {
		return writeAsWritten(messages), nil
	}
	return writeRequest(messages, opts.Breakpoints), nil
}

func (messagesAPI) Rules() []dialect.Rule { return dialect.RulesOf(checks) }

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// The types of blocks that are known.
const (
	typeText             = "text"
	typeThinking         = "thinking"
	typeRedactedThinking = "redacted_thinking"
	typeToolUse          = "tool_use"
	typeToolResult       = "tool_result"
	typeImage            = "image"
	typeDocument         = "document"
	typeServerToolUse    = "server_tool_use"
	typeMCPToolUse       = "mcp_tool_use"
	typeContainerUpload  = "container_upload"
	typeSearchResult     = "search_result"
	typeCompaction       = "compaction"
	typeFallback         = "fallback"
	typeToolAddition     = "tool_addition"
	typeToolRemoval      = "tool_removal"
)

// serverResultSuffix ends the types of blocks that hold a server tool's result.
const serverResultSuffix = "_tool_result"

// The notes, and what they say.
const (
	noteForm   = "form"
	noteString = "string"

	notePlace    = "place"
	noteMessages = "messages"

	noteBegin   = "begin"
	noteMessage = "message"

	noteAt     = "at"
	noteBlocks = "blocks"
	noteSource = "source."
)
