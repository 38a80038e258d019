package anthropic

import (
	"slices"
	"strings"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// The known types of blocks.
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

// The known types of sources of images and documents.
const (
	sourceBase64 = "base64"
	sourceText   = "text"
	sourceURL    = "url"
	sourceFile   = "file"
	// sourceContent is a document of blocks. It has no neutral meaning.
	sourceContent = "content"
)

const (
	mimeAnyImage = "image/*"
	mimePDF      = "application/pdf"
	mimePlain    = "text/plain"
)

// isServerUse reports whether a block is the use of a tool that the provider runs.
func isServerUse(typ string) bool { return typ == typeServerToolUse || typ == typeMCPToolUse }

// isServerResult reports whether a block is the result of such a use.
func isServerResult(typ string) bool { return strings.HasSuffix(typ, serverResultSuffix) }

// isOfAssistant reports whether only messages of the assistant hold blocks of a type.
func isOfAssistant(typ string) bool {
	switch typ {
	case typeThinking, typeRedactedThinking, typeToolUse, typeFallback:
		return true
	default:
		return isServerUse(typ) || isServerResult(typ)
	}
}

// isKnownSource reports whether a type of source has a neutral meaning.
func isKnownSource(from string) bool {
	return slices.Contains([]string{sourceBase64, sourceText, sourceURL, sourceFile}, from)
}

// isMessageField reports whether the provider accepts a field in a message.
func isMessageField(role, key string) bool {
	switch key {
	case "role", "content":
		return true
	case "clear_at", "output_config":
		return role == roleSystem
	default:
		return false
	}
}

// typeName returns the name of a known type of block. An unknown type could quote the conversation.
func typeName(typ string) string {
	switch typ {
	case typeText, typeThinking, typeRedactedThinking, typeToolUse, typeToolResult, typeImage, typeDocument,
		typeServerToolUse, typeMCPToolUse, typeContainerUpload, typeSearchResult, typeCompaction, typeFallback,
		typeToolAddition, typeToolRemoval:
		return typ
	default:
		if isServerResult(typ) {
			return "a server tool's result"
		}
		return "that is not known"
	}
}
