package gemini

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

const (
	// maxFunctionName is how long the name of a function may be.
	maxFunctionName = 128
	// skipSignature is what Gemini takes in place of a thought signature for a call that it did not make itself.
	skipSignature = "skip_thought_signature_validator"
)

func isNameByte(b byte, first bool) bool {
	letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_'
	return letter || !first && ('0' <= b && b <= '9' || b == '.' || b == ':' || b == '-')
}

func isFunctionName(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i], i == 0) {
			return false
		}
	}
	return name != "" && len(name) <= maxFunctionName
}

// functionName makes a name that Gemini takes of any other.
func functionName(name string) string {
	if isFunctionName(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r), false) {
			return r
		}
		return '_'
	}, name)
	if clean == "" || !isNameByte(clean[0], true) {
		clean = "_" + clean
	}
	return clean[:min(len(clean), maxFunctionName)]
}

// isSignature says whether a thought signature can be read: it is bytes in base64, of either alphabet.
func isSignature(raw json.RawMessage) bool {
	signature, err := rawjson.Object{"": raw}.DemandText("")
	return err == nil && isBase64(signature)
}

// isBase64 says whether the API reads a text as bytes: it takes both alphabets, with and without padding.
func isBase64(text string) bool {
	digits := strings.TrimRight(text, "=")
	for i := range len(digits) {
		b := digits[i]
		letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
		if !letter && !strings.ContainsRune("+/-_", rune(b)) {
			return false
		}
	}
	return len(digits)%4 != 1 && len(text)-len(digits) <= 2
}
