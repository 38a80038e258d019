package transcript

import (
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// Format is the short id of a transcript's format in commands.
type Format string

// The formats.
const (
	// Pi is a session file of the coding agent Pi.
	Pi Format = "pi"
	// ClaudeCode is a session file of Claude Code.
	ClaudeCode Format = "claude-code"
	// Kimi is a context file of kimi-cli.
	Kimi Format = "kimi"
	// Codex is a rollout file of Codex CLI.
	Codex Format = "codex"
	// SWEAgent is a trajectory of SWE-agent.
	SWEAgent Format = "swe-agent"
	// MiniSWEAgent is a trajectory of mini-swe-agent.
	MiniSWEAgent Format = "mini-swe-agent"
	// LangChain is a dump of LangChain messages.
	LangChain Format = "langchain"
	// OpenHands is an output file of OpenHands, with a session on each line. It is also the events of one session, as
	// OpenHands stores them and as its command line prints them.
	OpenHands Format = "openhands"
	// CopilotCLI is a session file of GitHub Copilot CLI.
	CopilotCLI Format = "copilot-cli"
	// GeminiCLI is a chat of Gemini CLI.
	GeminiCLI Format = "gemini-cli"
	// OpenAIChat is messages of OpenAI's Chat Completions: JSON Lines, an array, or a body with `messages`.
	OpenAIChat Format = "openai_chat"
	// Anthropic is messages of Anthropic's Messages: JSON Lines, an array, or a body.
	Anthropic Format = "anthropic"
	// OpenAIResponses is items of OpenAI's Responses: JSON Lines, an array, or a body.
	OpenAIResponses Format = "openai_responses"
	// Gemini is Gemini's contents: JSON Lines, an array, or a body.
	Gemini Format = "gemini"
)

// String returns the format's name for people.
func (f Format) String() string {
	for _, known := range formats() {
		if known.id == f {
			return known.name
		}
	}
	return "unknown format"
}

// Formats returns the ids of all formats that can be read, in the order in which they are tried.
func Formats() []Format {
	table := formats()
	ids := make([]Format, len(table))
	for i, f := range table {
		ids[i] = f.id
	}
	return ids
}

// verdict says whether the start of an input has a format.
type verdict int

const (
	// no: it does not have this format, or shows nothing.
	no verdict = iota
	// maybe: it can have this format, unless later lines clearly have another one.
	maybe
	// yes: it has this format and no other.
	yes
)

// beginning is an object at the start of an input, by which the format is recognized.
type beginning struct {
	// Object is a line of JSON Lines, a document, or an element of a document that is an array. Where it is too long to be
	// read whole, it has the fields so far.
	rawjson.Object
	// array reports that it is an element of an array.
	array bool
	// line reports that it is a whole line.
	line bool
}

// format is a row of the table of formats.
type format struct {
	id Format
	// name is for people: it says what such an input is.
	name string
	// recognize looks at one object. The objects before it decided nothing.
	recognize func(b beginning) verdict
	// open starts to read, from the start of the input. b is the object that the format was recognized by. It returns a
	// *LineError where the input has this format but cannot be read.
	open func(in *lines, b beginning) (source, error)
}

// formats returns the table, in the order in which formats are tried: those with unique fields first, and then those
// with common ones.
func formats() []format {
	return []format{
		{Pi, "Pi session file", recognizePi, openPi},
		{ClaudeCode, "Claude Code session file", recognizeClaude, openClaude},
		{Kimi, "kimi-cli context file", recognizeKimi, openKimi},
		{Codex, "Codex rollout file", recognizeCodex, openCodex},
		{SWEAgent, "SWE-agent trajectory", recognizeSWEAgent, openSWEAgent},
		{MiniSWEAgent, "mini-swe-agent trajectory", recognizeMiniSWE, openMiniSWE},
		{OpenHands, "OpenHands events or output file", recognizeOpenHands, openOpenHands},
		{CopilotCLI, "Copilot CLI session file", recognizeCopilot, openCopilot},
		{GeminiCLI, "Gemini CLI chat", recognizeGeminiCLI, openGeminiCLI},
		{LangChain, "LangChain messages", recognizeLangChain, openLangChain},
		{OpenAIChat, "OpenAI-style messages", recognizeOpenAI, openOpenAI},
		{Anthropic, "messages of Anthropic's API", recognizeProvider(Anthropic), openAnthropic},
		{OpenAIResponses, "items of OpenAI's Responses API", recognizeProvider(OpenAIResponses), openResponses},
		{Gemini, "contents of Gemini's API", recognizeProvider(Gemini), openGemini},
	}
}

// holdsSeveral reports whether an input of the format can hold several sessions.
func (f format) holdsSeveral() bool { return f.id == OpenHands }

// formatOf returns the row of a format.
func formatOf(id Format) (format, error) {
	known := make([]string, 0, len(formats()))
	for _, f := range formats() {
		if f.id == id {
			return f, nil
		}
		known = append(known, string(f.id))
	}
	return format{}, fmt.Errorf("%w; known are %s", errNoFormat, strings.Join(known, ", "))
}
