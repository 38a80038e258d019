package gemini

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// isSigned reports whether a part has a thought signature.
func isSigned(o rawjson.Object) bool {
	signature := either(o, "thoughtSignature", "thought_signature")
	return string(signature) != `""` && isSignature(signature)
}

// carriedSignature returns the signature of a call that Gemini made through the OpenAI Chat dialect, which has it in
// extra_content. It returns nil where there is none.
func carriedSignature(call *compactordv1.Part) json.RawMessage {
	raw, _ := dialect.Attached(call.GetAttachments(), compactordv1.Dialect_DIALECT_OPENAI_CHAT, "extra_content")
	extra, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil
	}
	google, err := extra.Sub("google")
	signature := google["thought_signature"]
	if err != nil || string(signature) == `""` || !isSignature(signature) {
		return nil
	}
	return signature
}

// mayBeUnsigned reports whether a call needs no signature as long as no call before it has one. That holds where the
// name of the model, or the list that the call came in, shows that the model signs nothing.
func mayBeUnsigned(m *compactordv1.Message, call *compactordv1.Part) bool {
	if m.GetModel() == "" {
		return hasAttachment(call.GetAttachments(), "$"+noteUnsigned)
	}
	return isUnsignedModel(m.GetModel())
}

// isUnsignedModel reports whether a model is a Gemini before version 3, whose calls need no signatures.
func isUnsignedModel(model string) bool {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, old := range []string{"gemini-1", "gemini-2", "gemini-pro"} {
		rest, found := strings.CutPrefix(model, old)
		if found && (rest == "" || rest[0] == '.' || rest[0] == '-') {
			return true
		}
	}
	return false
}

// isSignature reports whether a thought signature is valid: base64 of either alphabet.
func isSignature(raw json.RawMessage) bool {
	signature, err := rawjson.Object{"": raw}.DemandText("")
	return err == nil && isBase64(signature)
}

// reportSignature reports an invalid signature that was left out.
func (r *renderer) reportSignature(at int, p *compactordv1.Part, part rawjson.Object) {
	given, found := dialect.Attached(p.GetAttachments(), kind, "thoughtSignature")
	if found && len(given) > 0 && !isNothingOr(isSignature)(given) && !isSigned(part) {
		r.repair(ruleSignatures, at, "a thought signature that is no base64 was left out")
	}
}

// sign gives the first call of a content skipSignature where it needs a signature and has none.
func (r *renderer) sign(
	at int, m *compactordv1.Message, first *compactordv1.Part, parts []rawjson.Draft, position int,
) {
	signed := r.signed
	for _, before := range parts[:position] {
		signed = signed || isSigned(before.Object())
	}
	call := parts[position].Object()
	if isSigned(call) || !signed && mayBeUnsigned(m, first) {
		return
	}
	delete(call, "thought_signature")
	if carried := carriedSignature(first); carried != nil {
		call["thoughtSignature"] = carried
		return
	}
	call["thoughtSignature"] = rawjson.Quote(skipSignature)
	r.repair(ruleCallsSigned, at, "a call without a thought signature got the value that replaces one")
}
