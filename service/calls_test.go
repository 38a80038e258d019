package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/calls"
)

const trace = "4bf92f3577b34da6a3ce929d0e0e4736"

// identified is the context of a call with a request id and a trace.
func identified(t *testing.T, id string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(), calls.RequestIDHeader, id, "traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
}

// lineOf returns the line of the log with which a method ended.
func (k *kept) lineOf(t *testing.T, method string) map[string]any {
	t.Helper()
	for _, line := range k.lines(t, "call") {
		if line["grpc.method"] == method {
			return line
		}
	}
	require.Fail(t, "no line of "+method)
	return nil
}

// Each call has an id, its client's or a new one, in the answer and in its lines of the log, with its trace and session.
func TestCallsCanBeFoundInTheLog(t *testing.T) {
	t.Parallel()
	log := &kept{}
	d := start(t, log.option())
	var header metadata.MD
	_, err := d.sessions.CreateSession(identified(t, "mine-1"), &compactordv1.CreateSessionRequest{SessionId: "s-1"}, grpc.Header(&header))
	require.NoError(t, err)
	require.Equal(t, []string{"mine-1"}, header.Get(calls.RequestIDHeader))

	stream, err := d.compactions.Compact(identified(t, "mine-2"), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s-1"},
	})
	require.NoError(t, err)
	header, err = stream.Header()
	require.NoError(t, err)
	require.Equal(t, []string{"mine-2"}, header.Get(calls.RequestIDHeader))
	for err == nil {
		_, err = stream.Recv()
	}

	_, err = d.sessions.GetSession(identified(t, "not an id"), &compactordv1.GetSessionRequest{SessionId: "not an id either"}, grpc.Header(&header))
	require.Equal(t, codes.InvalidArgument, statusCode(err))
	made := header.Get(calls.RequestIDHeader)
	require.Len(t, made, 1)
	require.NotContains(t, made[0], " ")
	d.stop()

	for method, want := range map[string]string{"CreateSession": "mine-1", "Compact": "mine-2"} {
		line := log.lineOf(t, method)
		require.Equal(t, want, line["request_id"], method)
		require.Equal(t, trace, line["trace_id"], method)
		require.Equal(t, "s-1", line["session_id"], method)
	}
	line := log.lineOf(t, "GetSession")
	require.Equal(t, made[0], line["request_id"])
	require.NotContains(t, line, "session_id", "it is not known to be one")
	require.NotContains(t, strings.ReplaceAll(log.all(), "must", ""), "not an id", "what a client invents is not logged")
}

// A client that sends no request id gets one with an error, and none with other answers: they are many.
func TestOnlyErrorsHaveIDsThatNobodySent(t *testing.T) {
	t.Parallel()
	notOverHTTP(t, "there an error has headers in place of trailers; TestRequestIDsOverHTTP looks at them")
	d := start(t)
	for _, exists := range []bool{false, true} {
		if exists {
			d.create("s", nil)
		}
		var header, trailer metadata.MD
		_, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"}, grpc.Header(&header), grpc.Trailer(&trailer))
		require.Equal(t, exists, err == nil)
		require.Empty(t, header.Get(calls.RequestIDHeader))
		require.Equal(t, exists, len(trailer.Get(calls.RequestIDHeader)) == 0)
		stream, err := d.sessions.WatchSession(t.Context(), &compactordv1.WatchSessionRequest{SessionId: "none"})
		require.NoError(t, err)
		_, err = stream.Recv()
		require.Equal(t, codes.NotFound, statusCode(err))
		require.Len(t, stream.Trailer().Get(calls.RequestIDHeader), 1)
	}
}
