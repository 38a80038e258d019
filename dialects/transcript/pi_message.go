package transcript

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errPiRole    = errors.New("unknown role of a message")
	errPiStop    = errors.New("unknown reason; known are stop, toolUse, length, aborted and error")
	errPiContent = errors.New("unknown kind of content, or one that this role may not hold")
)

// piMessage parses the message of an entry. It returns nil where a log cannot hold it.
func piMessage(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	role, err := o.DemandText("role")
	if err != nil {
		return nil, err
	}
	var m *compactordv1.Message
	switch role {
	case "user":
		m, err = piUser(o, r)
	case "assistant":
		m, err = piAssistant(o, r)
	case "toolResult":
		m, err = piToolResult(o, r)
	case "bashExecution":
		m, err = piShell(o, r)
	case "custom", "hookMessage":
		m, err = piExtension(o, r)
	case "compactionSummary":
		r.add(summaryMessage)
	case "branchSummary":
		m, err = piBranch(o, r)
	default:
		err = rawjson.In("role", errPiRole)
	}
	if m == nil || err != nil {
		return nil, err
	}
	m.WrittenAt, err = writtenAt(o, time.Millisecond)
	return m, err
}

func piUser(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	parts, err := piContent(o, compactordv1.Dialect_DIALECT_UNSPECIFIED, r, "text", "image")
	if err != nil {
		return nil, err
	}
	// Files that were shown beside a message. What the model saw of them is in the content.
	attached, err := o.Elements("attachments")
	if err != nil {
		return nil, err
	}
	r.addMany(attachedFile, len(attached))
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
		Parts:  parts,
	}, nil
}

// piExtension parses the text of an extension. Pi shows it to the model as the user's. The user did not write it, so it
// starts no turn.
func piExtension(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	parts, err := piContent(o, compactordv1.Dialect_DIALECT_UNSPECIFIED, r, "text", "image")
	if err != nil {
		return nil, err
	}
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_CONTINUE,
		Parts:  parts,
	}, nil
}

func piAssistant(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	api, err := o.Text("api")
	if err != nil {
		return nil, err
	}
	m := &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_ASSISTANT,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
	}
	if m.Parts, err = piContent(o, piDialect(api), r, "text", "thinking", "toolCall", "image"); err != nil {
		return nil, err
	}
	if m.Model, err = o.BoundedText("model", maxName); err != nil {
		return nil, err
	}
	if m.Usage, err = piUsage(o); err != nil {
		return nil, err
	}
	if m.StopReason, err = piStopReason(o); err != nil {
		return nil, err
	}
	text, err := o.Text("errorMessage")
	if err != nil {
		return nil, err
	}
	piErrorText(m, text, piDialect(api), r)
	return m, nil
}

// piErrorText keeps Pi's text about a failed request. The field of the contract is for errors of the provider.
func piErrorText(m *compactordv1.Message, text string, d compactordv1.Dialect, r *noteCounter) {
	if text == "" {
		return
	}
	kept := cut(text, maxErrorText)
	if len(kept) < len(text) {
		r.add(errorTextCut)
	}
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR {
		m.ErrorText = kept
		return
	}
	if d == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		d = compactordv1.Dialect_DIALECT_OPENAI_CHAT
	}
	m.Attachments = append(m.Attachments, dialect.Note(d, "error_message", kept))
}

// cut shortens a text to at most limit bytes, at the end of a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func piToolResult(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	parts, err := piContent(o, compactordv1.Dialect_DIALECT_UNSPECIFIED, r, "text", "image")
	if err != nil {
		return nil, err
	}
	if len(parts) > maxResultParts {
		return nil, rawjson.In("content", errManyParts)
	}
	result := &compactordv1.ToolResult{Parts: resultParts(parts)}
	if result.CallId, err = o.BoundedText("toolCallId", maxID); err != nil {
		return nil, err
	}
	if result.Name, err = o.BoundedText("toolName", maxName); err != nil {
		return nil, err
	}
	if result.IsError, err = o.Truth("isError"); err != nil {
		return nil, err
	}
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_TOOL,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
		Parts:  []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
	}, nil
}

func piUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	u, err := o.Sub("usage")
	if err != nil || u == nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	err = counts(u,
		countField{"input", &usage.InputTokens},
		countField{"output", &usage.OutputTokens},
		countField{"cacheRead", &usage.CacheReadTokens},
		countField{"cacheWrite", &usage.CacheWriteTokens},
		countField{"totalTokens", &usage.TotalTokens},
	)
	return usage, rawjson.In("usage", err)
}

func piStopReason(o rawjson.Object) (compactordv1.StopReason, error) {
	word, err := o.Text("stopReason")
	if err != nil {
		return 0, err
	}
	switch word {
	case "":
		return compactordv1.StopReason_STOP_REASON_UNSPECIFIED, nil
	case "stop":
		return compactordv1.StopReason_STOP_REASON_END, nil
	case "toolUse":
		return compactordv1.StopReason_STOP_REASON_TOOL_USE, nil
	case "length":
		return compactordv1.StopReason_STOP_REASON_LENGTH, nil
	case "aborted":
		return compactordv1.StopReason_STOP_REASON_ABORTED, nil
	case "error":
		return compactordv1.StopReason_STOP_REASON_ERROR, nil
	default:
		return 0, rawjson.In("stopReason", errPiStop)
	}
}

// piContent parses `content`: a string, or a list of the kinds that are allowed for the role.
func piContent(o rawjson.Object, d compactordv1.Dialect, r *noteCounter, allowed ...string) ([]*compactordv1.Part, error) {
	return contentParts(o, r, func(raw json.RawMessage) (*compactordv1.Part, error) { return piBlock(raw, d, r, allowed) })
}

// piDialect returns the dialect of a message's signatures. For OpenAI's chat API Pi keeps no signature, but the name of
// the field that had the reasoning.
func piDialect(api string) compactordv1.Dialect {
	switch {
	case strings.HasPrefix(api, "anthropic"):
		return compactordv1.Dialect_DIALECT_ANTHROPIC
	case strings.HasPrefix(api, "google"):
		return compactordv1.Dialect_DIALECT_GEMINI
	case strings.HasSuffix(api, "-responses"):
		return compactordv1.Dialect_DIALECT_OPENAI_RESPONSES
	default:
		return compactordv1.Dialect_DIALECT_UNSPECIFIED
	}
}
