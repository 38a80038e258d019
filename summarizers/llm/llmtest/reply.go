package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Reply is an answer to a request.
type Reply struct {
	write   func(*answering, wire)
	header  http.Header
	usage   *Usage
	noUsage bool
}

// Header returns the reply with an additional header, such as Retry-After.
func (r Reply) Header(name, value string) Reply {
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Add(name, value)
	r.header = header
	return r
}

// Took returns the reply with another usage.
func (r Reply) Took(u Usage) Reply {
	r.usage = &u
	return r
}

// NoUsage returns the reply without a usage.
func (r Reply) NoUsage() Reply {
	r.noUsage = true
	return r
}

// pieceRunes is the length of the pieces in which texts are streamed.
const pieceRunes = 23

// pieces cuts a text into pieces to stream.
func pieces(text string) []string {
	var all []string
	for text != "" {
		at := 0
		for range pieceRunes {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		all = append(all, text[:at])
		text = text[at:]
	}
	return all
}

func writeText(w wire, text string) {
	for _, piece := range pieces(text) {
		w.text(piece)
	}
}

// Text is a whole answer, streamed in pieces.
func Text(text string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		writeText(w, text)
		w.end(finished)
	}}
}

// Empty is a whole answer without text.
func Empty() Reply { return Text("") }

// Thought is a whole answer that thinks before it writes.
func Thought(thinking, text string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		for _, piece := range pieces(thinking) {
			w.thinking(piece)
		}
		writeText(w, text)
		w.end(finished)
	}}
}

// ThinkingOnly is an answer with thinking and no text.
func ThinkingOnly(thinking string) Reply { return Thought(thinking, "") }

// CutOff is an answer that the output limit ended.
func CutOff(text string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		writeText(w, text)
		w.end(atLimit)
	}}
}

// ToolCall is an answer with a tool call.
func ToolCall(name, arguments string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		w.call(name, arguments)
		w.end(calling)
	}}
}

// Refusal is a refusal in the provider's format.
func Refusal() Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		w.refuse("I can't help with that.")
		w.end(declined)
	}}
}

// Slow streams the pieces that the channel delivers, and ends when the channel is closed. It begins the stream at once.
// It receives a piece after it has sent the one before. After the client has closed the request it receives no more.
func Slow(pieces <-chan string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		for {
			select {
			case piece, more := <-pieces:
				if !more {
					w.end(finished)
					return
				}
				w.text(piece)
			case <-a.gone:
				return
			case <-a.server.down:
				a.tear()
			}
		}
	}}
}

// Stall streams a text and then nothing, until the client closes the request.
func Stall(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.wait()
	}}
}

// Hang never answers, and waits until the client closes the request.
func Hang() Reply {
	return Reply{write: func(a *answering, _ wire) { a.wait() }}
}

// HangUp closes the connection instead of answering.
func HangUp() Reply {
	return Reply{write: func(a *answering, _ wire) { a.tear() }}
}

// Endless streams text until the client closes the request.
func Endless() Reply {
	line := "- " + strings.Repeat("and so on ", 100) + "\n"
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		for !a.broken {
			w.text(line)
		}
		a.wait()
	}}
}

// Cut streams a text and then breaks the connection.
func Cut(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.tear()
	}}
}

// NoEnd streams a text and ends the HTTP response correctly, but without the event that ends an answer.
func NoEnd(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
	}}
}

// HalfEvent streams a text and ends the stream in the middle of an event.
func HalfEvent(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
		a.raw(`data: {"id":"half","choi`)
	}}
}

// MalformedSSE streams a text, an event whose data is not JSON, and the end of the answer.
func MalformedSSE(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		event := ""
		switch a.req.Protocol {
		case Responses:
			event = "event: response.output_text.delta\n"
		case Messages:
			event = "event: content_block_delta\n"
		case Chat, Gemini:
		}
		a.raw(event + "data: {\"delta\": {\"text\": \"never clo\n\n")
		w.end(finished)
	}}
}

// StreamError streams a text and then a provider's error within the stream.
func StreamError(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
		w.fault()
	}}
}

// WrongContentType is an HTML page with status 200, like the answers of gateways and captive portals.
func WrongContentType() Reply {
	return Body(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html><html><body><h1>Welcome</h1></body></html>")
}

// Body is an answer with exactly this body.
func Body(status int, contentType, body string) Reply {
	return Reply{write: func(a *answering, _ wire) {
		a.head(status, contentType)
		a.whole()
		// A failed write means that the client has gone.
		_, _ = a.w.Write([]byte(body))
	}}
}

// Status is an error in the provider's format. Its text quotes the request, as some providers do, so it must not be
// passed on.
func Status(status int) Reply {
	return Reply{write: func(a *answering, _ wire) {
		text := http.StatusText(status) + ": " + Quoted
		Body(status, "application/json", errorBody(a.req.Protocol, status, "", text)).write(a, nil)
	}}
}

// Quoted is in the text of every error of Status and StreamError, as an example of a quotation from the request. Tests
// check that it appears nowhere else.
const Quoted = "quoted-by-the-provider"

// Overflow refuses the request as too long, with the provider's own error.
func Overflow() Reply { return overflowOf(210_000, 200_000) }

func overflowOf(tokens, window uint32) Reply {
	return Reply{write: func(a *answering, _ wire) {
		text, code := "", ""
		switch a.req.Protocol {
		case Chat:
			code = "context_length_exceeded"
			text = fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
				"Please reduce the length of the messages.", window, tokens)
		case Responses:
			code = "context_length_exceeded"
			text = "Your input exceeds the context window of this model. Please adjust your input and try again."
		case Messages:
			text = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, window)
		case Gemini:
			text = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens, window)
		}
		body := errorBody(a.req.Protocol, http.StatusBadRequest, code, text)
		Body(http.StatusBadRequest, "application/json", body).write(a, nil)
	}}
}
