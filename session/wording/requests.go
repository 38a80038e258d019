package wording

import "fmt"

// Texts that replace what a provider's message list cannot hold. They are never stored.
const (
	// EmptyUser is the content of a USER message without content, where the provider requires some.
	EmptyUser = "(empty message)"
	// Opening is the USER message before an ASSISTANT message, where the provider does not accept that one first.
	Opening = "(The conversation begins with the assistant.)"
)

// Instruction is the text of a SYSTEM or DEVELOPER message in a USER message, where the provider has no other role for
// it.
func Instruction(text string) string {
	return "[Instruction of the application, not of the user]\n" + text
}

// FailedResult is the text of a failed tool's result, where the provider has no flag for that.
func FailedResult(text string) string {
	if text == "" {
		return "[The tool failed]"
	}
	return "[The tool failed]\n" + text
}

// Unreadable replaces a part, or a message, of a request or response that cannot be read.
func Unreadable(what, why string) string { return fmt.Sprintf("[Unreadable %s: %s]", what, why) }
