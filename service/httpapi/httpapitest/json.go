package httpapitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Failure is an error as an answer has it.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Type  string          `json:"type"`
		Value string          `json:"value"`
		Debug json.RawMessage `json:"debug"`
	} `json:"details"`
}

// lines is an answer in JSON: of a unary call, or with a line for each message.
type lines struct {
	context func() context.Context
	status  int
	header  http.Header
	body    *io.PipeReader
	reader  *bufio.Reader
}

// post sends a request in JSON.
func (c *Conn) post(ctx context.Context, method string, message proto.Message) (*lines, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	addHeaders(ctx, request.Header)
	request.Header.Set("Content-Type", string(JSON))
	if deadline, limited := ctx.Deadline(); limited {
		request.Header.Set("Connect-Timeout-Ms", strconv.FormatInt(max(0, time.Until(deadline).Milliseconds()), 10))
	}
	body, into := io.Pipe()
	begun := make(chan begin, 1)
	go c.fetch(request, into, begun)
	context.AfterFunc(ctx, func() { _ = body.CloseWithError(ctx.Err()) })
	answer := <-begun
	if answer.err != nil {
		return nil, broken(ctx, answer.err)
	}
	return &lines{
		context: func() context.Context { return ctx }, status: answer.status, header: answer.header, body: body, reader: bufio.NewReader(body),
	}, nil
}

// begin is how an answer begins.
type begin struct {
	status int
	header http.Header
	err    error
}

// fetch sends a request, and passes on the answer.
func (c *Conn) fetch(request *http.Request, into *io.PipeWriter, begun chan<- begin) {
	response, err := c.http.Do(request)
	if err != nil {
		begun <- begin{err: err}
		return
	}
	defer func() { _ = response.Body.Close() }()
	begun <- begin{status: response.StatusCode, header: response.Header}
	_, err = io.Copy(into, response.Body)
	_ = into.CloseWithError(err)
}

func (l *lines) note(options []grpc.CallOption) { note(options, l.header, l.header) }

// whole reads the answer of a unary call.
func (l *lines) whole(into proto.Message) error {
	content, err := io.ReadAll(l.reader)
	if err = errors.Join(err, l.body.Close()); err != nil {
		return broken(l.context(), err)
	}
	if l.status != http.StatusOK {
		return l.failed(content)
	}
	return protojson.Unmarshal(content, into)
}

// next reads a line.
func (l *lines) next(into proto.Message) error {
	if l.status != http.StatusOK {
		return l.whole(nil)
	}
	line, err := l.reader.ReadBytes('\n')
	if err != nil {
		_ = l.body.Close()
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return io.EOF
		}
		return broken(l.context(), err)
	}
	var end struct {
		Error *Failure `json:"error"`
	}
	if err := json.Unmarshal(line, &end); err == nil && end.Error != nil {
		return end.Error.status()
	}
	return protojson.Unmarshal(line, into)
}

func (l *lines) failed(content []byte) error {
	var failure Failure
	if err := json.Unmarshal(content, &failure); err != nil {
		return fmt.Errorf("HTTP status %d: %s", l.status, content)
	}
	return failure.status()
}

// status returns the error that gRPC has.
func (f *Failure) status() error {
	var code codes.Code
	if err := code.UnmarshalJSON([]byte(`"` + strings.ToUpper(strings.Replace(f.Code, "canceled", "cancelled", 1)) + `"`)); err != nil {
		return err
	}
	st := status.New(code, f.Message)
	for _, detail := range f.Details {
		kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(detail.Type))
		if err != nil {
			return err
		}
		value, err := base64.RawStdEncoding.DecodeString(detail.Value)
		if err != nil {
			return err
		}
		made, readable := kind.New().Interface(), kind.New().Interface()
		if err := errors.Join(proto.Unmarshal(value, made), protojson.Unmarshal(detail.Debug, readable)); err != nil {
			return err
		}
		if !proto.Equal(made, readable) {
			return fmt.Errorf("a detail that is readable as %v is %v", readable, made)
		}
		st = withDetail(st, made)
	}
	return st.Err()
}

func withDetail(st *status.Status, detail proto.Message) *status.Status {
	if with, err := st.WithDetails(protoadapt.MessageV1Of(detail)); err == nil {
		return with
	}
	return st
}

// broken is the error of a call whose connection broke, or that its caller has ended.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Error(codes.Unavailable, err.Error())
}
