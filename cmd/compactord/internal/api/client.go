package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/tenant"
)

const (
	// callTimeout is the timeout of every unary call. Streams have heartbeats instead.
	callTimeout = 2 * time.Minute
	// maxAnswer is larger than the largest message that a log accepts.
	maxAnswer = 256 << 20
	// ownPageBytes is the page size that is asked of a service in this process: each page of a view costs building the
	// whole view. A daemon chooses the size itself.
	ownPageBytes = 32 << 20
)

// Client calls a daemon, or the service in this process.
type Client struct {
	Sessions    compactordv1.SessionServiceClient
	Compactions compactordv1.CompactionServiceClient
	Stores      compactordv1.StoreServiceClient
	Health      healthv1.HealthClient

	conn *grpc.ClientConn
	// Address is the daemon's address. It is empty where the service runs in this process.
	Address string
	// PageBytes is the size of pages to ask for. 0 lets the daemon choose.
	PageBytes uint32
	// reached reports that the last attempt to connect has found a listener.
	reached atomic.Bool
	// encrypted reports that the client speaks TLS.
	encrypted bool
	// token is what the client sends.
	token access.Found
	// listener is where the daemon listens.
	listener Address
	// end stops the service that runs in this process.
	end func() error
}

// Where holds the flags that name a daemon or a store.
type Where struct {
	Addr string `env:"COMPACTORD_ADDR" help:"Address of the daemon (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	Security
	Store  string `help:"Use this store, without a daemon." placeholder:"PATH|URL" type:"store"`
	Tenant Tenant `help:"With --store: whose sessions to use (default: those of callers without a tenant)." placeholder:"NAME"`
	StoreKeys
}

// Open connects to the daemon or opens the store that the flags name. It creates a store only with makeStore.
func (w *Where) Open(ctx context.Context, a *App, makeStore bool) (*Client, error) {
	switch {
	case w.Tenant != tenant.Default && w.Store == "":
		return nil, terminal.Usagef("--tenant goes with --store: to a daemon, the token says who the tenant is")
	case w.Store != "" && a.Given["addr"]:
		return nil, terminal.Usagef("--addr and --store exclude each other: a daemon has its own store")
	case w.Store != "" && !makeStore && !Exists(w.Store):
		return nil, fmt.Errorf("there is no store %s", w.Store)
	case w.Store != "":
		keys, err := w.Ring()
		if err != nil {
			return nil, err
		}
		return a.embed(ctx, w.Store, keys, string(w.Tenant))
	case w.Addr == "":
		return a.Dial(DefaultListen, w.Security)
	default:
		return a.Dial(w.Addr, w.Security)
	}
}

// Tenant is a tenant's name that a flag gives.
type Tenant string

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Tenant) UnmarshalText(text []byte) error {
	*t = Tenant(text)
	return tenant.Check(string(text))
}

// Dial returns a client of the daemon at an address, that of --addr. The first call connects.
func (a *App) Dial(text string, security Security) (*Client, error) {
	addr, err := a.address(text)
	if err != nil {
		return nil, err
	}
	token, err := a.token(addr, security)
	if err != nil {
		return nil, err
	}
	return a.dial(addr, security.Encryption, token)
}

// DialHealth returns a client that sends no token, which the health of a daemon does not need.
func (a *App) DialHealth(text string, encryption Encryption) (*Client, error) {
	addr, err := a.address(cmp.Or(text, DefaultListen))
	if err != nil {
		return nil, err
	}
	return a.dial(addr, encryption, access.Found{})
}

func (a *App) address(text string) (Address, error) {
	addr, err := ParseAddress(text)
	if err != nil {
		return addr, terminal.Usagef("%s: %w", a.NameOf("addr"), err)
	}
	return addr, nil
}

func (a *App) dial(addr Address, encryption Encryption, token access.Found) (*Client, error) {
	secured, err := encryption.credentials(a)
	if err != nil {
		return nil, err
	}
	target := "passthrough:///" + addr.Where
	if addr.Network == "unix" {
		target = "unix:" + addr.Where
	}
	c, dial := &Client{Address: addr.String(), encrypted: encryption.used(), token: token, listener: addr}, (&net.Dialer{}).DialContext
	dialer := func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := dial(ctx, addr.Network, addr.Where)
		c.reached.Store(err == nil)
		return conn, err
	}
	return c.connect(target, secured, grpc.WithPerRPCCredentials(access.Bearer(token.Token)), grpc.WithContextDialer(dialer))
}

func (c *Client) connect(target string, secured credentials.TransportCredentials, options ...grpc.DialOption) (*Client, error) {
	c.end = func() error { return nil }
	options = append(options,
		grpc.WithTransportCredentials(secured),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithUnaryInterceptor(c.unary),
	)
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", c.Address, err)
	}
	c.conn = conn
	c.Sessions = compactordv1.NewSessionServiceClient(conn)
	c.Compactions = compactordv1.NewCompactionServiceClient(conn)
	c.Stores = compactordv1.NewStoreServiceClient(conn)
	c.Health = healthv1.NewHealthClient(conn)
	return c, nil
}

// CheckPolicy asks the service whether it accepts a policy, before anything is read or written for it.
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

// Conn is the connection to the service, for who repeats calls of others over it.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// Close ends the connection and, where there is one, the service in this process.
func (c *Client) Close() error { return errors.Join(c.conn.Close(), c.end()) }

func (c *Client) unary(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.Explain(ctx, invoke(limited, method, req, reply, cc, options...))
}

// Explain turns an error of a call into a CallError, or into ErrInterrupted where the user interrupted the call.
func (c *Client) Explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), terminal.ErrInterrupted):
		return terminal.ErrInterrupted
	default:
		failed := &CallError{address: c.Address, status: status.Convert(err), reached: c.reached.Load(), encrypted: c.encrypted, token: c.token}
		closed := failed.status.Code() == codes.Unavailable && reasonOf(failed.status) == ""
		failed.speaksTLS = closed && failed.reached && !c.encrypted && c.listener.speaksTLS(context.WithoutCancel(ctx))
		return failed
	}
}
