package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

func google(status, reason string) string {
	return `{"error":{"code":400,"message":"m","status":"` + status + `","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","domain":"googleapis.com"}]}}`
}

func anthropic(message string) string {
	return `{"type":"error","error":{"type":"invalid_request_error","message":"` + message + `"}}`
}

// Errors about the key or the account are recognized by name, whatever their status: no other request would succeed.
func TestRefusesAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status                int
		document, code, param string
		all, retryable        bool
	}{
		{status: 400, document: google("INVALID_ARGUMENT", "API_KEY_INVALID"), code: "API_KEY_INVALID", all: true},
		{status: 400, document: google("INVALID_ARGUMENT", "no name"), code: "INVALID_ARGUMENT"},
		{status: 400, document: google("INVALID_ARGUMENT", "FIELD"), code: "FIELD"},
		{status: 400, document: `{"error":{"message":"m","status":"PERMISSION_DENIED"}}`, code: "PERMISSION_DENIED", all: true},
		{
			status: 400, document: anthropic("Your credit balance is too low to access the API."),
			code: "credit_balance_too_low", all: true,
		},
		{status: 400, document: anthropic("messages.3: they wrote: your credit balance is too low"), code: "invalid_request_error"},
		{
			status: 429, document: `{"error":{"message":"m","type":"insufficient_quota","code":"quota"}}`,
			code: "insufficient_quota", all: true,
		},
		{status: 429, document: `{"error":{"message":"m","code":"rate_limit_exceeded"}}`, code: "rate_limit_exceeded", retryable: true},
		{status: 404, document: `{"error":{"message":"m","code":"model_not_found"}}`, code: "model_not_found", all: true},
		{
			status: 400, document: `{"error":{"message":"m","code":"unsupported_value","param":"reasoning_effort"}}`,
			code: "unsupported_value", param: "reasoning_effort",
		},
		{status: 400, document: `{"error":{"message":"m","code":"c","param":"what they said"}}`, code: "c"},
	} {
		got := New(Options{}).refused(&http.Response{StatusCode: c.status}, []byte(c.document))
		require.Equal(t, &summarizers.ProviderError{
			Status: c.status, Code: c.code, RefusesAll: c.all, Retryable: c.retryable, Param: c.param,
		}, got, c.document)
	}
}

// The status that an error would have had decides whether it is transient. The error reports the status that it had.
func TestErrorsBehindAGoodStatus(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]summarizers.ProviderError{
		`{"error":{"code":429,"message":"m"}}`:                 {Code: "429", Retryable: true},
		`{"error":{"code":401,"message":"m"}}`:                 {Code: "401", RefusesAll: true},
		`{"error":{"type":"overloaded_error","message":"m"}}`:  {Code: "overloaded_error", Retryable: true},
		`{"error":{"type":"invalid_request_error"}}`:           {Code: "invalid_request_error"},
		`{"error":{"type":"authentication_error"}}`:            {Code: "authentication_error", RefusesAll: true},
		`{"error":{"code":"insufficient_quota","type":"x"}}`:   {Code: "insufficient_quota", RefusesAll: true},
		`{"error":{"code":"something_else","message":"what"}}`: {Code: "something_else", Retryable: true},
	} {
		got := New(Options{}).errorFrom(http.StatusOK, readFailure([]byte(document)))
		want.Status = http.StatusOK
		require.Equal(t, &want, got, document)
		require.Equal(t, "the provider reported an error in its stream ("+want.Code+")", got.Error())
	}
}

// Failed connections have a code.
func TestNotConnected(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"refused":    {dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection_refused"},
		"no name":    {dial(&net.DNSError{Err: "no such host", IsNotFound: true}), "name_not_found"},
		"too late":   {dial(context.DeadlineExceeded), "connect_timeout"},
		"late names": {dial(&net.DNSError{Err: "timeout", IsTimeout: true}), "connect_timeout"},
		"reset":      {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "connection_failed"},
		"other":      {errors.New("x"), "connection_failed"},
	} {
		got := notConnected(fmt.Errorf("in between: %w", c.err))
		require.Equal(t, c.code, got.Code, name)
		require.True(t, got.Retryable, name)
		require.Equal(t, "there is no connection to the provider ("+c.code+")", got.Error())
	}
}
