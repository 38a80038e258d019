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

// Header returns the reply with a header more, such as Retry-After.
func (r Reply) Header(name, value string) Reply {
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Add(name, value)
	r.header = header
	return r
}

// Took returns the reply with another usage than DefaultUsage.
func (r Reply) Took(u Usage) Reply {
	r.usage = &u
	return r
}

// NoUsage returns the reply without a word on what it took.
func (r Reply) NoUsage() Reply {
	r.noUsage = true
	return r
}

// pieceRunes is how long the pieces are in which texts are streamed.
const pieceRunes = 23

// pieces cuts a text into what is streamed at once.
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

// ThinkingOnly thinks, and ends.
func ThinkingOnly(thinking string) Reply { return Thought(thinking, "") }

// CutOff is an answer that ends where the output limit was.
func CutOff(text string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		writeText(w, text)
		w.end(atLimit)
	}}
}

// ToolCall calls a tool in place of an answer.
func ToolCall(name, arguments string) Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		w.call(name, arguments)
		w.end(calling)
	}}
}

// Refusal declines to answer, in the provider's way.
func Refusal() Reply {
	return Reply{write: func(_ *answering, w wire) {
		w.begin()
		w.refuse("I can't help with that.")
		w.end(declined)
	}}
}

// Slow streams what the channel gives, piece by piece, and ends with the channel. It begins the stream at once. A piece
// is taken when the one before has been sent. Where the client goes, nothing more is taken.
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

// Stall streams a text and then nothing, until the client goes.
func Stall(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.wait()
	}}
}

// Hang takes the request and never answers, until the client goes.
func Hang() Reply {
	return Reply{write: func(a *answering, _ wire) { a.wait() }}
}

// HangUp closes the connection in place of an answer.
func HangUp() Reply {
	return Reply{write: func(a *answering, _ wire) { a.tear() }}
}

// Endless streams text until the client goes.
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

// NoEnd streams a text and ends the stream as HTTP wants it, but without the event that ends an answer.
func NoEnd(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
	}}
}

// HalfEvent streams a text and ends the stream within an event.
func HalfEvent(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
		a.raw(`data: {"id":"half","choi`)
	}}
}

// MalformedSSE streams a text, an event whose data is not JSON, and the rest of the answer.
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

// StreamError streams a text and then an error of the provider inside the stream.
func StreamError(text string) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, text)
		a.whole()
		w.fault()
	}}
}

// WrongContentType is a page of HTML with status 200, as gateways and captive portals answer.
func WrongContentType() Reply {
	return Body(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html><html><body><h1>Welcome</h1></body></html>")
}

// Body answers this, word for word.
func Body(status int, contentType, body string) Reply {
	return Reply{write: func(a *answering, _ wire) {
		a.head(status, contentType)
		a.whole()
		// A client that has gone needs no answer.
		_, _ = a.w.Write([]byte(body))
	}}
}

// Status answers an error in the provider's shape. Its text quotes the request, as some providers' do: what must not be
// passed on.
func Status(status int) Reply {
	return Reply{write: func(a *answering, _ wire) {
		text := http.StatusText(status) + ": " + Quoted
		Body(status, "application/json", errorBody(a.req.Protocol, status, "", text)).write(a, nil)
	}}
}

// Quoted stands in the text of every error of Status and StreamError, for what a provider quotes of a request: a test can
// look for it where it must not be.
const Quoted = "quoted-by-the-provider"

// Overflow refuses the request as too long, in the provider's own words.
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
