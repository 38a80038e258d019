package requests

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// keepsRules reports whether a request certainly keeps the contract's rules. It knows appends, and lists of messages, as
// most are, and takes a small part of the time that the rules take. Of all others it is false: the rules decide.
func keepsRules(m proto.Message) bool {
	switch m := m.(type) {
	case *compactordv1.AppendMessagesRequest:
		return appendKeepsRules(m)
	case *compactordv1.InlineHistory:
		return m.GetProviderJson() == nil && m.GetCompaction() == nil && len(m.GetPrunes()) == 0 &&
			m.GetEstimator() == compactordv1.Estimator_ESTIMATOR_UNSPECIFIED && messagesKeepRules(m.GetMessages())
	default:
		return false
	}
}

// The bounds of the contract that keepsRules knows, in bytes and in items. TestKeptRulesAreKnown shows where one changes.
const (
	mostSessionID  = 128
	mostRequestID  = 128
	mostViewToken  = 1024
	mostName       = 256
	mostID         = 512
	mostErrorText  = 64 << 10
	mostText       = 32 << 20
	mostJSON       = 64 << 20
	mostMessages   = 10_000
	mostParts      = 10_000
	mostOfResult   = 1000
	mostAttachment = 64
)

func appendKeepsRules(r *compactordv1.AppendMessagesRequest) bool {
	if !isSessionID(r.GetSessionId()) || len(r.GetViewToken()) > mostViewToken || len(r.GetRequestId()) > mostRequestID ||
		len(r.GetImportedRecords()) > 0 {
		return false
	}
	if j := r.GetProviderJson(); j != nil {
		return len(r.GetMessages()) == 0 && isDialect(j.GetDialect()) && 0 < len(j.GetJson()) && len(j.GetJson()) <= mostJSON &&
			len(j.GetModel()) <= mostName && isStopReason(j.GetStopReason())
	}
	return len(r.GetMessages()) > 0 && messagesKeepRules(r.GetMessages())
}

func messagesKeepRules(messages []*compactordv1.Message) bool {
	if len(messages) > mostMessages {
		return false
	}
	for _, m := range messages {
		if !messageKeepsRules(m) {
			return false
		}
	}
	return true
}

func isSessionID(id string) bool {
	if id == "" || len(id) > mostSessionID {
		return false
	}
	for i := range len(id) {
		if id[i] < '!' || id[i] > '~' {
			return false
		}
	}
	return true
}

func isDialect(d compactordv1.Dialect) bool {
	return compactordv1.Dialect_DIALECT_UNSPECIFIED < d && d <= compactordv1.Dialect_DIALECT_GEMINI
}

func isOrigin(o compactordv1.Origin) bool {
	return compactordv1.Origin_ORIGIN_UNSPECIFIED <= o && o <= compactordv1.Origin_ORIGIN_CHILD
}

func isRole(r compactordv1.Role) bool {
	return compactordv1.Role_ROLE_UNSPECIFIED < r && r <= compactordv1.Role_ROLE_TOOL
}

func isStopReason(r compactordv1.StopReason) bool {
	return compactordv1.StopReason_STOP_REASON_UNSPECIFIED <= r && r <= compactordv1.StopReason_STOP_REASON_PAUSE
}

func messageKeepsRules(m *compactordv1.Message) bool {
	if !isRole(m.GetRole()) || !isOrigin(m.GetOrigin()) || len(m.GetName()) > mostName || len(m.GetParts()) > mostParts ||
		!attachmentsKeepRules(m.GetAttachments()) {
		return false
	}
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		if !isStopReason(m.GetStopReason()) || len(m.GetModel()) > mostName || len(m.GetErrorText()) > mostErrorText {
			return false
		}
	} else if m.GetStopReason() != 0 || m.GetUsage() != nil || m.GetModel() != "" || m.GetErrorText() != "" {
		return false
	}
	if m.GetRole() == compactordv1.Role_ROLE_TOOL && len(m.GetParts()) != 1 {
		return false
	}
	for _, p := range m.GetParts() {
		if !partKeepsRules(m.GetRole(), p) {
			return false
		}
	}
	return true
}

// partKeepsRules is for a part of a message with this role.
func partKeepsRules(role compactordv1.Role, p *compactordv1.Part) bool {
	if !attachmentsKeepRules(p.GetAttachments()) {
		return false
	}
	switch kind := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return role != compactordv1.Role_ROLE_TOOL && len(kind.Text.GetText()) <= mostText
	case *compactordv1.Part_Thinking:
		return role == compactordv1.Role_ROLE_ASSISTANT && len(kind.Thinking.GetText()) <= mostText
	case *compactordv1.Part_ToolCall:
		call := kind.ToolCall
		return role == compactordv1.Role_ROLE_ASSISTANT && len(call.GetId()) <= mostID && call.GetName() != "" &&
			len(call.GetName()) <= mostName && len(call.GetArguments()) <= mostText
	case *compactordv1.Part_ToolResult:
		return role == compactordv1.Role_ROLE_TOOL && resultKeepsRules(kind.ToolResult)
	default:
		return false
	}
}

func resultKeepsRules(r *compactordv1.ToolResult) bool {
	if len(r.GetCallId()) > mostID || len(r.GetName()) > mostName || len(r.GetParts()) > mostOfResult || len(r.GetFiles()) > 0 {
		return false
	}
	for _, p := range r.GetParts() {
		text, is := p.GetKind().(*compactordv1.ResultPart_Text)
		if !is || len(text.Text.GetText()) > mostText || !attachmentsKeepRules(p.GetAttachments()) {
			return false
		}
	}
	return true
}

func attachmentsKeepRules(attachments []*compactordv1.Attachment) bool {
	if len(attachments) > mostAttachment {
		return false
	}
	for _, a := range attachments {
		if !isDialect(a.GetDialect()) || a.GetKey() == "" || len(a.GetKey()) > mostName || len(a.GetJson()) > mostText {
			return false
		}
	}
	return true
}
