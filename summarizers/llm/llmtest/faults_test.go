package llmtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// ends are the ends of complete answers.
var ends = map[llmtest.Protocol]string{
	llmtest.Chat: "[DONE]", llmtest.Responses: "event: response.completed", llmtest.Messages: "message_stop",
	llmtest.Gemini: `"finishReason":"STOP"`,
}

func TestCutBreaksTheConnection(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Cut("half of it"), llmtest.Text("again"))
			answer := ask(t, s, p)
			require.Equal(t, http.StatusOK, answer.status)
			require.ErrorIs(t, answer.err, io.ErrUnexpectedEOF)
			require.Contains(t, answer.body, "half of it")
			require.NotContains(t, answer.body, ends[p])
			require.Equal(t, "half of it", s.Requests()[0].Wrote())
			answer = ask(t, s, p)
			require.NoError(t, answer.err)
			require.Contains(t, answer.body, ends[p])
			<-s.Requests()[0].Ended()
			require.False(t, isClosed(s.Requests()[0].Closed()), "it was the server that left")
		})
	}
}

func TestStreamsThatEndTooEarly(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.NoEnd("half of it"), llmtest.HalfEvent("half of it"))
			answer := ask(t, s, p)
			require.NoError(t, answer.err, "HTTP has no fault to find")
			require.Contains(t, answer.body, "half of it")
			require.NotContains(t, answer.body, ends[p])
			require.True(t, strings.HasSuffix(answer.body, "\n\r\n") || strings.HasSuffix(answer.body, "\n\n"))
			answer = ask(t, s, p)
			require.NoError(t, answer.err)
			require.NotContains(t, answer.body, ends[p])
			require.True(t, strings.HasSuffix(answer.body, `"choi`))
		})
	}
}

func TestMalformedEventStandsAmongOthers(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.MalformedSSE("half of it"))
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Contains(t, answer.body, `data: {"delta": {"text": "never clo`+"\n\n")
			require.Contains(t, answer.body, ends[p])
		})
	}
}

func TestStreamErrorQuotesTheRequest(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.StreamError("half of it"))
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusOK, answer.status)
			require.Contains(t, answer.body, "half of it")
			require.Contains(t, answer.body, llmtest.Quoted)
			require.Contains(t, answer.body, map[llmtest.Protocol]string{
				llmtest.Chat: `"code":"server_error"`, llmtest.Responses: "event: error\n",
				llmtest.Messages: `"type":"overloaded_error"`, llmtest.Gemini: `"status":"UNAVAILABLE"`,
			}[p])
			require.NotContains(t, answer.body, ends[p])
		})
	}
}

func TestHangUpAnswersNothing(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.HangUp())
			answer := ask(t, s, p)
			require.ErrorIs(t, answer.err, io.EOF)
			require.Len(t, s.Requests(), 1)
		})
	}
}

func TestStatusHasHeadersAndTheProvidersShape(t *testing.T) {
	t.Parallel()
	wants := map[llmtest.Protocol]string{
		llmtest.Chat:      `{"error":{"code":"rate_limit_exceeded","message":"Too Many Requests: quoted-by-the-provider","param":null,"type":"requests"}}`,
		llmtest.Responses: `{"error":{"code":"rate_limit_exceeded","message":"Too Many Requests: quoted-by-the-provider","param":null,"type":"requests"}}`,
		llmtest.Messages:  `{"error":{"message":"Too Many Requests: quoted-by-the-provider","type":"rate_limit_error"},"request_id":"req_0","type":"error"}`,
		llmtest.Gemini:    `{"error":{"code":429,"message":"Too Many Requests: quoted-by-the-provider","status":"RESOURCE_EXHAUSTED"}}`,
	}
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			s.Script(llmtest.Status(http.StatusTooManyRequests).Header("Retry-After", "7"), llmtest.WrongContentType())
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusTooManyRequests, answer.status)
			require.Equal(t, "7", answer.header.Get("Retry-After"))
			require.Equal(t, "application/json", answer.header.Get("Content-Type"))
			require.Equal(t, wants[p], answer.body)
			answer = ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusOK, answer.status)
			require.Equal(t, "text/html; charset=utf-8", answer.header.Get("Content-Type"))
			require.Contains(t, answer.body, "<html>")
		})
	}
}

func TestWindowRefusesInTheProvidersWords(t *testing.T) {
	t.Parallel()
	wants := map[llmtest.Protocol]string{
		llmtest.Chat:      "This model's maximum context length is 20 tokens. However, your messages resulted in 21 tokens.",
		llmtest.Responses: "Your input exceeds the context window of this model.",
		llmtest.Messages:  "prompt is too long: 21 tokens \\u003e 20 maximum",
		llmtest.Gemini:    "The input token count (21) exceeds the maximum number of tokens allowed (20).",
	}
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t)
			bytes := func(text string) uint32 { return uint32(len(text)) }
			s.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Text("fits") })
			s.Window(21, bytes)
			answer := ask(t, s, p)
			require.NoError(t, answer.err)
			require.Contains(t, answer.body, "fits")
			require.EqualValues(t, len("Be brief.\nHello there"), s.Requests()[0].Tokens)
			s.Window(20, bytes)
			answer = ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusBadRequest, answer.status)
			require.Contains(t, answer.body, wants[p])
			require.EqualValues(t, 21, s.Largest())
			s.Window(1000, bytes)
			s.Script(llmtest.Overflow())
			answer = ask(t, s, p)
			require.NoError(t, answer.err)
			require.Equal(t, http.StatusBadRequest, answer.status)
		})
	}
}

var errEnough = errors.New("enough")

// A reply that waits for the client ends when the client closes the request, and the test sees that.
func TestClosedByTheClient(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"hang": llmtest.Hang(), "stall": llmtest.Stall("so far"), "endless": llmtest.Endless(), "slow": llmtest.Slow(make(chan string)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range llmtest.Protocols() {
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					s := llmtest.New(t)
					s.Script(reply)
					ctx, cancel := context.WithCancelCause(t.Context())
					ended := make(chan error, 1)
					go func() { ended <- askWith(ctx, t, s, p, bodies[p]).err }()
					asked := s.Await(0)
					require.False(t, isClosed(asked.Closed()))
					require.False(t, isClosed(asked.Ended()))
					cancel(errEnough)
					<-asked.Closed()
					<-asked.Ended()
					require.Error(t, <-ended)
				})
			}
		})
	}
}

// The end of the server does not count as the client closing the request.
func TestServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var asked *llmtest.Request
	ended := make(chan error, 1)
	t.Run("test", func(t *testing.T) {
		s := llmtest.New(t)
		s.Script(llmtest.Hang())
		ctx := context.WithoutCancel(t.Context())
		go func() { ended <- askWith(ctx, t, s, llmtest.Chat, bodies[llmtest.Chat]).err }()
		asked = s.Await(0)
	})
	require.Error(t, <-ended)
	<-asked.Ended()
	require.False(t, isClosed(asked.Closed()))
}
