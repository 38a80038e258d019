package wording

import "fmt"

// Texts that stand in for what a provider's list cannot hold. They are drawn and never stored.
const (
	// EmptyUser is what a USER message without content says, where the provider wants some.
	EmptyUser = "(empty message)"
	// Opening is what the user says before an ASSISTANT message that the provider does not want first.
	Opening = "(The conversation begins with the assistant.)"
)

// Instruction is a SYSTEM or DEVELOPER message where only the user can speak.
func Instruction(text string) string {
	return "[Instruction of the application, not of the user]\n" + text
}

// FailedResult is the result of a tool that failed, where the provider has no flag for that.
func FailedResult(text string) string {
	if text == "" {
		return "[The tool failed]"
	}
	return "[The tool failed]\n" + text
}

// Unreadable stands in for a part, or a message, of a request or response that cannot be read.
func Unreadable(what, why string) string { return fmt.Sprintf("[Unreadable %s: %s]", what, why) }
