package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// callTimeout bounds every call that is answered at once. What streams has heartbeats instead.
	callTimeout = 2 * time.Minute
	// maxAnswer is more than the largest message that a log takes.
	maxAnswer = 256 << 20
	// ownPageBytes is what is asked for at a time of what comes in pages, where the service runs in this process: each
	// page of a view costs drawing it anew. A daemon has limits of its own, and knows what fits.
	ownPageBytes = 32 << 20
)

// Client talks to a daemon, or to the service in this process.
type Client struct {
	Sessions    compactordv1.SessionServiceClient
	Compactions compactordv1.CompactionServiceClient

	conn *grpc.ClientConn
	// Address is the daemon's; empty where the service runs in this process.
	Address string
	// PageBytes is how large the pages of answers are to be; 0 leaves it to the daemon.
	PageBytes uint32
	// end stops the service that runs in this process.
	end func() error
}

// Where says which daemon or store a command works with.
type Where struct {
	Addr  string `env:"COMPACTORD_ADDR" help:"Daemon to talk to (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	Store string `help:"Work on this store without a daemon." placeholder:"PATH" type:"path"`
}

// Open connects to what the flags name. A store is made only where that is what the command is for.
func (w *Where) Open(ctx context.Context, a *App, makeStore bool) (*Client, error) {
	switch {
	case w.Store != "" && a.Given["addr"]:
		return nil, terminal.Usagef("--addr and --store exclude each other: a daemon has its own store")
	case w.Store != "" && !makeStore && !Exists(w.Store):
		return nil, fmt.Errorf("there is no store %s", w.Store)
	case w.Store != "":
		return a.embed(ctx, w.Store)
	case w.Addr == "":
		return Dial(DefaultListen)
	default:
		return Dial(w.Addr)
	}
}

// Dial makes a client of the daemon at an address. It does not connect yet: the first call does.
func Dial(text string) (*Client, error) {
	addr, err := ParseAddress(text)
	if err != nil {
		return nil, terminal.Usagef("--addr: %w", err)
	}
	target := "passthrough:///" + addr.Where
	if addr.Network == "unix" {
		target = "unix:" + addr.Where
	}
	return newClient(target, addr.String())
}

func newClient(target, address string, options ...grpc.DialOption) (*Client, error) {
	c := &Client{Address: address, end: func() error { return nil }}
	options = append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithUnaryInterceptor(c.unary),
	)
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	c.conn = conn
	c.Sessions = compactordv1.NewSessionServiceClient(conn)
	c.Compactions = compactordv1.NewCompactionServiceClient(conn)
	return c, nil
}

// CheckPolicy has whoever will carry a policy out say what is wrong with it, before anything is read or written for it.
func (c *Client) CheckPolicy(ctx context.Context, policy *compactordv1.Policy) error {
	if policy == nil {
		return nil
	}
	stream, err := c.Compactions.Compact(ctx, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{}}, Policy: policy, DryRun: true,
	})
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return RefusedFlags(c.Explain(ctx, err))
}

func (c *Client) Close() error { return errors.Join(c.conn.Close(), c.end()) }

func (c *Client) unary(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.Explain(ctx, invoke(limited, method, req, reply, cc, options...))
}

// Explain puts an error of a call into our own words, and says instead that the user interrupted it where that is so.
func (c *Client) Explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	default:
		return &CallError{address: c.Address, status: status.Convert(err)}
	}
}
