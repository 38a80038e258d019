package wiretest

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// Spoken is a provider and examples of its servers' answers.
type Spoken struct {
	// New returns the provider, with Key as its API key.
	New func(o Options) (llm.Provider, error)
	// Whole is a stream with Text as its text. End is the part of it that completes the answer: a stream that is cut
	// before its end is incomplete.
	Whole, Text, End string
	// More is an event that can be repeated any number of times.
	More string
	// Error returns the body of an error.
	Error func(code string) string
	// Variables are the environment variables from which the provider's SDK takes keys, addresses and headers.
	Variables []string
}

var question = &llm.Completion{System: "Be short.", User: "Say hello.", MaxOutputTokens: 100}

// Run runs the suite.
func Run(t *testing.T, s Spoken) {
	t.Helper()
	t.Run("answers", s.answers)
	t.Run("statuses", s.statuses)
	t.Run("when to ask again", s.retryAfter)
	t.Run("a cut stream is no answer", s.cut)
	t.Run("broken streams", s.broken)
	t.Run("silence", s.silence)
	t.Run("a slow stream", s.slow)
	t.Run("an endless stream", s.endless)
	t.Run("a cancel", s.cancel)
	t.Run("no server", s.nobody)
	t.Run("redirects", s.redirects)
	t.Run("the environment", s.environment)
	t.Run("overflows", s.overflows)
}

func (s *Spoken) ask(t testing.TB, answer http.HandlerFunc, change ...func(*Options)) (*llm.Answer, *Server, error) {
	t.Helper()
	server := Serve(t, answer)
	o := server.Options()
	for _, c := range change {
		c(&o)
	}
	p, err := s.New(o)
	require.NoError(t, err)
	got, err := Ask(t, p, question)
	if err != nil {
		require.NotContains(t, err.Error(), Key)
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			require.NotContains(t, cause.Error(), Key)
		}
	}
	return got, server, err
}

// refusal sends a request and returns the error.
func (s *Spoken) refusal(t testing.TB, answer http.HandlerFunc, change ...func(*Options)) *summarizers.ProviderError {
	t.Helper()
	_, server, err := s.ask(t, answer, change...)
	var refused *summarizers.ProviderError
	require.ErrorAs(t, err, &refused)
	require.LessOrEqual(t, len(server.Seen()), 1, "it was asked again")
	return refused
}

func (s *Spoken) answers(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]string{
		"as it is":             s.Whole,
		"with CRLF":            strings.ReplaceAll(s.Whole, "\n", "\r\n"),
		"with CR":              strings.ReplaceAll(s.Whole, "\n", "\r"),
		"with comments":        ": on its way\n\n" + strings.ReplaceAll(s.Whole, "\n\n", "\n\n: alive\n\n"),
		"with a mark":          "\ufeff" + s.Whole,
		"without a last break": strings.TrimRight(s.Whole, "\n"),
		"with other fields":    strings.ReplaceAll(s.Whole, "data:", "id: 1\nretry: 10\ndata:"),
	} {
		got, server, err := s.ask(t, Stream(whole))
		require.NoError(t, err, name)
		require.Equal(t, s.Text, got.Text, name)
		require.False(t, got.CutOff, name)
		require.Len(t, server.Seen(), 1)
		require.Equal(t, "compactord", server.Seen()[0].Header.Get("User-Agent"))
	}
}

func (s *Spoken) statuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    int
		retryable bool
	}{
		{400, false},
		{401, false},
		{402, false},
		{403, false},
		{404, false},
		{408, true},
		{409, true},
		{413, false},
		{422, false},
		{429, true},
		{500, true},
		{502, true},
		{503, true},
		{504, true},
		{529, true},
	} {
		all := slices.Contains([]int{401, 402, 403, 404}, c.status)
		got := s.refusal(t, Answer(c.status, "application/json", s.Error("some_error")))
		require.Equal(t, &summarizers.ProviderError{
			Status: c.status, Code: "some_error", Retryable: c.retryable, RefusesAll: all,
		}, got)
		got = s.refusal(t, Answer(c.status, "text/html", "<html>Bad Gateway"))
		require.Equal(t, &summarizers.ProviderError{Status: c.status, Retryable: c.retryable, RefusesAll: all}, got)
	}
	got := s.refusal(t, Answer(429, "application/json", s.Error("insufficient_quota")))
	require.Equal(t, &summarizers.ProviderError{Status: 429, Code: "insufficient_quota", RefusesAll: true}, got, "it does not pass")
	got = s.refusal(t, Answer(400, "application/json", s.Error("what the user said")))
	require.Empty(t, got.Code, "a code that is none may quote the conversation")
	got = s.refusal(t, Answer(200, "application/json", s.Error("some_error")))
	require.Equal(t, &summarizers.ProviderError{Status: 200, Code: "some_error", Retryable: true}, got)
	got = s.refusal(t, Stream(Events(s.Error("rate_limit_error"))))
	require.Equal(t, &summarizers.ProviderError{Status: 200, Code: "rate_limit_error", Retryable: true}, got)
	got = s.refusal(t, Stream(Events(s.More, s.Error("invalid_request_error"))))
	require.Equal(t, &summarizers.ProviderError{Status: 200, Code: "invalid_request_error"}, got)
}

func (s *Spoken) retryAfter(t *testing.T) {
	t.Parallel()
	with := func(name, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			Answer(503, "application/json", s.Error("some_error"))(w, r)
		}
	}
	require.Equal(t, 7*time.Second, s.refusal(t, with("Retry-After", "7")).RetryAfter)
	require.Equal(t, 1500*time.Millisecond, s.refusal(t, with("Retry-After-Ms", "1500")).RetryAfter)
	require.Equal(t, 24*time.Hour, s.refusal(t, with("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")).RetryAfter)
	require.Zero(t, s.refusal(t, with("Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT")).RetryAfter)
	require.Zero(t, s.refusal(t, with("Retry-After", "soon")).RetryAfter)
	require.False(t, s.refusal(t, with("X-Should-Retry", "false")).Retryable)
	require.True(t, s.refusal(t, with("X-Should-Retry", "true")).Retryable)
}

// cut cuts the stream at each byte.
func (s *Spoken) cut(t *testing.T) {
	t.Parallel()
	end := strings.Index(s.Whole, s.End) + len(s.End)
	require.GreaterOrEqual(t, end, len(s.End))
	var at int
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) { Stream(s.Whole[:at])(w, r) })
	p, err := s.New(server.Options())
	require.NoError(t, err)
	for at = range end {
		_, err := Ask(t, p, question)
		var refused *summarizers.ProviderError
		require.ErrorAs(t, err, &refused, "cut at byte %d", at)
		require.Equal(t, &summarizers.ProviderError{Code: "stream_cut", Retryable: true}, refused, "cut at byte %d", at)
	}
}

func (s *Spoken) broken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   summarizers.ProviderError
	}{
		"no JSON":       {Stream(Events("{nonsense") + s.Whole), summarizers.ProviderError{Code: "stream_malformed"}},
		"half an event": {Stream(Events(s.More[:len(s.More)-1]) + s.Whole), summarizers.ProviderError{Code: "stream_malformed"}},
		"nothing":       {Stream(""), summarizers.ProviderError{Code: "stream_cut"}},
		"only the end":  {Stream("data: [DONE]\n\n"), summarizers.ProviderError{Code: "stream_cut"}},
		"a page":        {Answer(200, "text/html", "<html>Sign in"), summarizers.ProviderError{Status: 200, Code: "not_a_stream", RefusesAll: true}},
		"a document":    {Answer(200, "application/json", `{"ok":true}`), summarizers.ProviderError{Status: 200, Code: "not_a_stream"}},
		"no content":    {Answer(204, "text/event-stream", ""), summarizers.ProviderError{Code: "stream_cut"}},
		"no type": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, s.Whole)
		}, summarizers.ProviderError{Status: 200, Code: "not_a_stream"}},
		"a connection that breaks": {func(w http.ResponseWriter, r *http.Request) {
			Stream(Events(s.More))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, summarizers.ProviderError{Code: "connection_broken"}},
		"a connection that breaks at once": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, summarizers.ProviderError{Code: "connection_failed"}},
	} {
		got := s.refusal(t, c.answer)
		c.want.Retryable, got.Err = !c.want.RefusesAll, nil
		require.Equal(t, &c.want, got, name)
	}
}

func (s *Spoken) silence(t *testing.T) {
	t.Parallel()
	silent := func(o *Options) { o.IdleTimeout = 20 * time.Millisecond }
	for _, begin := range []string{"", Events(s.More), "data: {"} {
		ended := make(chan struct{})
		got := s.refusal(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			Stream(begin)(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, silent)
		got.Err = nil
		require.Equal(t, &summarizers.ProviderError{Code: "idle_timeout", Retryable: true}, got)
		<-ended
	}
	got := s.refusal(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, silent)
	require.Equal(t, &summarizers.ProviderError{Status: 503, Retryable: true}, got, "an error whose body does not come")
	// A complete answer stays complete if the server does not close the connection.
	answer, _, err := s.ask(t, func(w http.ResponseWriter, r *http.Request) {
		Stream(s.Whole[:strings.Index(s.Whole, s.End)+len(s.End)]+"\n\n")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, silent)
	require.NoError(t, err)
	require.Equal(t, s.Text, answer.Text)
}

// slow sends byte by byte, for longer than an answer may be silent.
func (s *Spoken) slow(t *testing.T) {
	t.Parallel()
	answer, _, err := s.ask(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(s.Whole) {
			_, _ = io.WriteString(w, s.Whole[i:i+1])
			_ = http.NewResponseController(w).Flush()
		}
	}, func(o *Options) { o.IdleTimeout = 10 * time.Second })
	require.NoError(t, err)
	require.Equal(t, s.Text, answer.Text)
}

func (s *Spoken) endless(t *testing.T) {
	t.Parallel()
	const limit = 4096
	small := func(o *Options) { o.MaxAnswerBytes = limit }
	for _, piece := range []string{Events(s.More), ": alive\n\n"} {
		answer, _, err := s.ask(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		}, small)
		require.NoError(t, err)
		require.True(t, answer.CutOff)
		require.LessOrEqual(t, len(answer.Text), limit)
	}
	got := s.refusal(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: ")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	}, func(o *Options) { o.MaxAnswerBytes = 64 << 10 })
	require.Equal(t, "stream_malformed", got.Code, "an event without an end")
}

func (s *Spoken) cancel(t *testing.T) {
	t.Parallel()
	errStop := errors.New("enough")
	closed := make(chan struct{}, 1)
	begun := make(chan struct{}, 1)
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Early") == "" {
			Stream(Events(s.More))(w, r)
			_ = http.NewResponseController(w).Flush()
		}
		begun <- struct{}{}
		<-r.Context().Done()
		closed <- struct{}{}
	})
	early := server.Options()
	early.HTTPClient = &http.Client{Transport: header{server.Client().Transport}}
	for _, o := range []Options{server.Options(), early} {
		p, err := s.New(o)
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-begun
			cancel(errStop)
		}()
		_, err = p.Complete(ctx, question, func(string) {})
		require.Equal(t, errStop, err)
		<-closed
	}
	p, err := s.New(server.Options())
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	_, err = p.Complete(ctx, question, func(string) {})
	require.Equal(t, errStop, err)
	require.Len(t, server.Seen(), 2, "a request though the context had ended")
}

// header delays the server's response until the request is cancelled.
type header struct{ http.RoundTripper }

func (h header) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Early", "yes")
	return h.RoundTripper.RoundTrip(r)
}

func (s *Spoken) nobody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	p, err := s.New(Options{BaseURL: server.URL})
	require.NoError(t, err)
	_, err = p.Complete(t.Context(), question, func(string) {})
	var refused *summarizers.ProviderError
	require.ErrorAs(t, err, &refused)
	require.Error(t, refused.Err)
	require.NotContains(t, refused.Err.Error(), server.URL, "the cause has no need of the address")
	require.Equal(t, strings.TrimPrefix(server.URL, "http://"), refused.Host)
	require.NotContains(t, refused.Error(), refused.Host)
	refused.Err, refused.Host = nil, ""
	require.Equal(t, &summarizers.ProviderError{Code: "connection_refused", Retryable: true}, refused)

	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	p, err = s.New(Options{BaseURL: untrusted.URL})
	require.NoError(t, err)
	_, err = Ask(t, p, question)
	require.ErrorAs(t, err, &refused)
	refused.Err = nil
	require.Equal(t, &summarizers.ProviderError{Code: "certificate_refused", RefusesAll: true}, refused)
}

func (s *Spoken) redirects(t *testing.T) {
	t.Parallel()
	other := Serve(t, Stream(s.Whole))
	for _, status := range []int{301, 302, 303, 307, 308} {
		got := s.refusal(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		})
		require.Equal(t, &summarizers.ProviderError{Status: status, Code: "redirect"}, got)
	}
	require.Empty(t, other.Seen())
}

// environment sets everything that the provider's SDK would read, and that we do not.
func (s *Spoken) environment(t *testing.T) {
	other := Serve(t, Stream(s.Whole))
	for _, name := range s.Variables {
		value := "from-the-environment"
		if strings.HasSuffix(name, "URL") {
			value = other.URL
		}
		if strings.HasSuffix(name, "HEADERS") {
			value = "X-Leak: from-the-environment"
		}
		t.Setenv(name, value)
	}
	_, server, err := s.ask(t, Stream(s.Whole))
	require.NoError(t, err)
	require.Empty(t, other.Seen())
	seen := server.Seen()[0]
	require.NotContains(t, seen.Path+seen.Query+seen.Body, "from-the-environment")
	for name, values := range seen.Header {
		require.NotContains(t, strings.Join(values, " "), "from-the-environment", name)
	}
}

func (s *Spoken) overflows(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 4)
	judge := func(o *Options) {
		o.Overflow = func(status int, code, message string) bool {
			asked <- http.StatusText(status) + "|" + code + "|" + message
			return true
		}
	}
	got := s.refusal(t, Answer(400, "application/json", s.Error("some_error")), judge)
	require.Equal(t, &summarizers.ProviderError{Status: 400, Code: "some_error", Overflow: true}, got)
	require.Equal(t, "Bad Request|some_error|what it says", <-asked)
	got = s.refusal(t, Answer(500, "text/plain", "too long"), judge)
	require.Equal(t, &summarizers.ProviderError{Status: 500, Overflow: true}, got)
	require.Equal(t, "Internal Server Error||too long", <-asked)
}
