package httpapi

import (
	"context"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/unread"
)

// answerTimes is how many times its size an answer takes here while its client reads it: the message, and its encoding,
// which is larger in JSON.
const answerTimes = 3

// call is a call while it runs. For gRPC's interceptors it is the transport, from which a Receiver reads the request.
type call struct {
	method string
	form   form
	body   io.Reader
	// length is that of the body; -1 where the client does not say it.
	length int
	// context is that of the call's work.
	context func() context.Context
	writer  *writer

	mu              sync.Mutex
	header, trailer metadata.MD
}

// bareCall is a call whose body is its only message, without a header.
type bareCall struct{ *call }

// form is how a client speaks.
type form struct {
	// json: in JSON; else in protobuf.
	json bool
	// bare: the body is a message; else each has a header, as with gRPC.
	bare bool
}

// formOf returns the form of a content type. known is false where the server does not speak it.
func formOf(contentType string) (f form, known bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return form{}, false
	}
	kind, encoding, _ := strings.Cut(strings.TrimPrefix(media, "application/"), "+")
	switch kind {
	case "json", "proto":
		f, encoding = form{bare: true}, kind
	case "connect":
	case "grpc", "grpc-web":
		if encoding == "" {
			encoding = "proto"
		}
	default:
		return form{}, false
	}
	f.json = encoding == "json"
	return f, strings.HasPrefix(media, "application/") && (f.json || encoding == "proto")
}

// callKey is the context's key for the call.
type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// newCall returns the call of a request, and the context in which interceptors find what they look for. The caller must call
// end.
func newCall(ctx context.Context, w http.ResponseWriter, r *http.Request, f form) (*call, context.Context) {
	c := &call{method: r.URL.Path, form: f, body: r.Body, length: int(r.ContentLength), writer: newWriter(w)}
	if c.length < 0 {
		c.length = requests.NoLength
	}
	from := &peer.Peer{}
	from.Addr, _ = ctx.Value(addressKey{}).(net.Addr)
	if r.TLS != nil {
		from.AuthInfo = credentials.TLSInfo{
			State: *r.TLS, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
		}
	}
	ctx = peer.NewContext(requests.Endable(ctx), from)
	ctx = metadata.NewIncomingContext(ctx, metadataOf(r))
	ctx = unread.WithTimes(ctx, answerTimes)
	ctx = context.WithValue(ctx, callKey{}, c)
	var transport grpc.ServerTransportStream = c
	if f.bare {
		transport = bareCall{c}
	}
	ctx = grpc.NewContextWithServerTransportStream(ctx, transport)
	c.context = func() context.Context { return ctx }
	return c, ctx
}

// withoutBody returns the request for connect-go. Its body is left to a Receiver, so this one has an empty message.
func (c *call) withoutBody(ctx context.Context, r *http.Request) *http.Request {
	r = r.WithContext(ctx)
	r.Body = http.NoBody
	if !c.form.bare {
		r.Body = io.NopCloser(strings.NewReader(emptyMessage))
	}
	return r
}

// emptyMessage is an empty message with its header.
const emptyMessage = "\x00\x00\x00\x00\x00"

// begin notes the context of the call's work, which has the time that the client gives it.
func (c *call) begin(ctx context.Context) {
	c.context = func() context.Context { return ctx }
	c.writer.limit(ctx)
}

// end gives back what the call holds. The context is that of its request.
func (c *call) end(ctx context.Context) {
	c.writer.end()
	requests.End(ctx, context.Canceled)
}

// metadataOf returns the headers of a request as gRPC's metadata. Those of one connection are no part of it.
func metadataOf(r *http.Request) metadata.MD {
	md := metadata.MD{":authority": {r.Host}}
	for name, values := range r.Header {
		switch key := strings.ToLower(name); {
		case key == "connection", key == "keep-alive", key == "te", key == "transfer-encoding", key == "upgrade":
		case strings.HasSuffix(key, "-bin"):
			for _, value := range values {
				if decoded, err := connect.DecodeBinaryHeader(value); err == nil {
					md[key] = append(md[key], string(decoded))
				}
			}
		default:
			md[key] = values
		}
	}
	return md
}

// Method is part of grpc.ServerTransportStream.
func (c *call) Method() string { return c.method }

// SetHeader is part of grpc.ServerTransportStream.
func (c *call) SetHeader(md metadata.MD) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = metadata.Join(c.header, md)
	return nil
}

// SendHeader is part of grpc.ServerTransportStream. The header goes with the first message.
func (c *call) SendHeader(md metadata.MD) error { return c.SetHeader(md) }

// SetTrailer is part of grpc.ServerTransportStream.
func (c *call) SetTrailer(md metadata.MD) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trailer = metadata.Join(c.trailer, md)
	return nil
}

// JSON says whether the messages are in JSON, for a Receiver.
func (c *call) JSON() bool { return c.form.json }

// ReadMessageHeader fills the header of a message, for a Receiver.
func (c *call) ReadMessageHeader(header []byte) error {
	defer c.reading()()
	_, err := io.ReadFull(c.body, header)
	return err
}

// Read waits for n bytes, for a Receiver.
func (c *call) Read(n int) (mem.BufferSlice, error) {
	defer c.reading()()
	content := make([]byte, n)
	if _, err := io.ReadFull(c.body, content); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(content)}, nil
}

// Length is that of the message, for a Receiver.
func (c bareCall) Length() int { return c.length }

// ReadSome reads what has arrived, for a Receiver.
func (c bareCall) ReadSome(into []byte) (int, error) {
	defer c.reading()()
	return c.body.Read(into)
}

// reading lets a read end with the call. The caller must call done.
func (c *call) reading() (done func()) {
	stop := context.AfterFunc(c.context(), func() { _ = c.writer.control.SetReadDeadline(time.Now()) })
	return func() { stop() }
}
