package llmtest

import "strings"

// Protocol is a provider's streaming protocol.
type Protocol int

// The protocols of a server, all on one address.
const (
	// Chat is OpenAI's Chat Completions: POST /v1/chat/completions.
	Chat Protocol = iota
	// Responses is OpenAI's Responses: POST /v1/responses.
	Responses
	// Messages is Anthropic's Messages: POST /v1/messages.
	Messages
	// Gemini is Google's: POST /v1beta/models/MODEL:streamGenerateContent.
	Gemini
)

// Protocols returns all protocols.
func Protocols() []Protocol { return []Protocol{Chat, Responses, Messages, Gemini} }

func (p Protocol) String() string {
	switch p {
	case Chat:
		return "chat"
	case Responses:
		return "responses"
	case Messages:
		return "messages"
	default:
		return "gemini"
	}
}

const geminiModels = "/v1beta/models/"

// protocolOf returns the protocol of a path.
func protocolOf(path string) (Protocol, bool) {
	switch {
	case path == "/v1/chat/completions":
		return Chat, true
	case path == "/v1/responses":
		return Responses, true
	case path == "/v1/messages":
		return Messages, true
	case strings.HasPrefix(path, geminiModels) && strings.HasSuffix(path, ":streamGenerateContent"):
		return Gemini, true
	default:
		return 0, false
	}
}

// stop is the reason why an answer ended.
type stop int

const (
	finished stop = iota
	atLimit
	calling
	declined
)

// Usage is the usage that an answer reports. Input includes CacheRead and CacheWrite, and Output includes Thinking.
// Each protocol reports them like its provider.
type Usage struct {
	Input, CacheRead, CacheWrite, Output, Thinking uint32
}

// DefaultUsage is the usage that an answer reports, unless Reply.Took changes it.
var DefaultUsage = Usage{Input: 1000, Output: 100}

// wire writes one answer in a provider's format. Its first call also sends the head of the response.
type wire interface {
	begin()
	text(delta string)
	thinking(delta string)
	call(name, arguments string)
	refuse(text string)
	// fault writes an error within the stream.
	fault()
	end(why stop)
}

func newWire(a *answering) wire {
	switch a.req.Protocol {
	case Chat:
		return &chatWire{answering: a}
	case Responses:
		return &responsesWire{answering: a}
	case Messages:
		return &messagesWire{answering: a}
	default:
		return &geminiWire{answering: a}
	}
}

// object is a JSON object.
type object = map[string]any
