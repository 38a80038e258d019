package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// linesType is the content type of a stream in lines.
const linesType = "application/x-ndjson"

// lines answers a stream with a line of JSON for each message, which a shell can read. An error before the first one is told
// as that of a unary call; a later one is the last line, as the field error of an object.
func (s *Server) lines(ctx context.Context, w http.ResponseWriter, r *http.Request, c *call, run func(*outStream) error) {
	if !c.form.json {
		s.unsupported(w)
		return
	}
	ctx, cancel, err := withTimeout(ctx, r.Header.Get("Connect-Timeout-Ms"))
	if err != nil {
		_ = s.errors.Write(w, r, err)
		return
	}
	defer cancel()
	c.begin(ctx)
	begun := false
	out := &outStream{call: c, header: w.Header(), trailer: http.Header{}}
	out.send = func(message any) error {
		m, is := message.(proto.Message)
		if !is {
			return errNoReceiver
		}
		line, err := protojson.Marshal(m)
		if err != nil {
			return err
		}
		if !begun {
			begun = true
			w.Header().Set("Content-Type", linesType)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return c.writer.control.Flush()
	}
	err = run(out)
	switch {
	case err == nil && !begun:
		w.Header().Set("Content-Type", linesType)
	case err != nil && begun:
		_, _ = w.Write([]byte(`{"error":` + string(s.inJSON(r, err)) + "}\n"))
	case err != nil:
		_ = s.errors.Write(w, r, err)
	}
}

// inJSON returns an error as Connect's JSON.
func (s *Server) inJSON(r *http.Request, err error) []byte {
	into := &buffer{header: http.Header{}}
	_ = s.errors.Write(into, r, err)
	return into.Bytes()
}

// buffer takes an answer that goes into another one.
type buffer struct {
	bytes.Buffer
	header http.Header
}

// Header is part of http.ResponseWriter.
func (b *buffer) Header() http.Header { return b.header }

// WriteHeader is part of http.ResponseWriter.
func (*buffer) WriteHeader(int) {}

// maxTimeoutDigits is the length of the longest timeout that Connect knows.
const maxTimeoutDigits = 10

// withTimeout returns a context with the time that a client gives its call, in milliseconds.
func withTimeout(ctx context.Context, text string) (context.Context, context.CancelFunc, error) {
	if text == "" {
		return ctx, func() {}, nil
	}
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > maxTimeoutDigits {
		return nil, nil, connect.NewError(connect.CodeInvalidArgument, errors.New("Connect-Timeout-Ms must be a number of up to 10 digits"))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(limit)*time.Millisecond)
	return ctx, cancel, nil
}
