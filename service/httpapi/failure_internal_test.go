package httpapi

import (
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// What a client may do again later says when, in whole seconds, as HTTP has it.
func TestFailuresSayWhenToTryAgain(t *testing.T) {
	for wait, want := range map[time.Duration]string{time.Millisecond: "1", time.Second: "1", 1500 * time.Millisecond: "2", time.Minute: "60"} {
		st, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
		require.NoError(t, err)
		c := &call{form: form{bare: true}, trailer: metadata.Pairs("x-request-id", "r")}
		failed := c.failure(st.Err())
		require.Equal(t, want, failed.Meta().Get("Retry-After"), wait)
		require.Equal(t, connect.CodeResourceExhausted, failed.Code())
		require.Equal(t, []string{"r"}, failed.Meta().Values("X-Request-Id"))
		require.Len(t, failed.Details(), 1)
	}
	c := &call{form: form{bare: true}}
	require.Empty(t, c.failure(status.Error(codes.NotFound, "none")).Meta().Get("Retry-After"))
}

func TestFormsOfContentTypes(t *testing.T) {
	for text, want := range map[string]form{
		"application/json":                {json: true, bare: true},
		"application/json; charset=utf-8": {json: true, bare: true},
		"APPLICATION/JSON":                {json: true, bare: true},
		"application/proto":               {bare: true},
		"application/connect+json":        {json: true},
		"application/connect+proto":       {},
		"application/grpc":                {},
		"application/grpc+proto":          {},
		"application/grpc-web":            {},
		"application/grpc-web+json":       {json: true},
	} {
		f, known := formOf(text)
		require.True(t, known, text)
		require.Equal(t, want, f, text)
	}
	for _, text := range []string{
		"", "text/plain", "json", "application/", "application/xml", "application/connect", "application/grpc-web-text", "text/json",
		"application/grpc+thrift", "application/x-www-form-urlencoded", "application/json; charset=", "multipart/form-data; boundary=x",
	} {
		_, known := formOf(text)
		require.False(t, known, text)
	}
}
