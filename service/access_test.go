package service_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/access/jwt"
	"github.com/compactord/compactord/service/access/jwt/jwttest"
)

// guardWithTokens makes a guard with a token for each role, and one that has expired.
func guardWithTokens(t *testing.T, logger *slog.Logger) (*access.Guard, map[string]string) {
	t.Helper()
	tokens := map[string]string{"no token": "", "wrong": access.NewToken(), "malformed": "x"}
	var entries []access.Entry
	add := func(name string, role access.Role, expires time.Time) {
		tokens[name] = access.NewToken()
		hash, err := access.HashOf(tokens[name])
		require.NoError(t, err)
		entries = append(entries, access.Entry{Subject: "x", Role: role, Hash: hash, Expires: expires})
	}
	add("expired", access.Admin, time.Now().Add(-time.Hour))
	add("read", access.Read, time.Time{})
	add("write", access.Write, time.Now().Add(time.Hour))
	add("admin", access.Admin, time.Time{})
	guard, err := access.New(access.Options{
		Files:  []access.File{{Flag: "tokens", Read: func(string) ([]access.Entry, error) { return entries, nil }}},
		Logger: logger, Metrics: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	return guard, tokens
}

// methods are all RPCs of a server with reflection, as the descriptors have them.
func methods(t *testing.T) (all []protoreflect.MethodDescriptor) {
	t.Helper()
	for _, name := range []protoreflect.FullName{
		"compactord.v1.SessionService", "compactord.v1.CompactionService", "compactord.v1.StoreService", "grpc.health.v1.Health",
		"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
	} {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
		require.NoError(t, err)
		described, ok := found.(protoreflect.ServiceDescriptor)
		require.True(t, ok)
		for i := range described.Methods().Len() {
			all = append(all, described.Methods().Get(i))
		}
	}
	return all
}

func fullName(m protoreflect.MethodDescriptor) string {
	return "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
}

// A new RPC needs a decision who may call it.
func TestEveryRPCHasARole(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, m := range methods(t) {
		require.Contains(t, access.Roles, fullName(m))
		named[fullName(m)] = true
	}
	for name := range access.Roles {
		require.Contains(t, named, name, "there is no such RPC")
	}
	require.Equal(t, access.Everybody, access.Roles["/grpc.health.v1.Health/Check"])
}

// serveOn serves on a real listener until the test ends.
func serveOn(t *testing.T, network, address string, options ...option) (target string) {
	t.Helper()
	o := optionsOf(t, options...)
	server, err := service.NewServer(o)
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, o.Store.Close())
	})
	if network == "unix" {
		return "unix:" + address
	}
	return listener.Addr().String()
}

func connectTo(t *testing.T, target string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func with(ctx context.Context, token string) context.Context {
	if token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// callEmpty calls an RPC with an empty request, and returns the error of its first answer.
func callEmpty(ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor) error {
	return callWith(ctx, conn, m, dynamicpb.NewMessage(m.Input()))
}

// callWith calls an RPC with a request, and returns the error of its first answer.
func callWith(ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, req proto.Message) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, fullName(m))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(req); err != nil {
		return stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
	}
	if m.Parent().FullName() != "grpc.reflection.v1.ServerReflection" {
		_ = stream.CloseSend()
	}
	return stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
}

// Every RPC with every kind of token, over TCP and a Unix socket.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			log := &journal{}
			logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			guard, tokens := guardWithTokens(t, logger)
			conn := connectTo(t, serveOn(t, network, address, func(o *service.ServerOptions) {
				o.Access, o.Reflection, o.Logger = guard, true, logger
			}))
			have := map[string]access.Role{"read": access.Read, "write": access.Write, "admin": access.Admin}
			refusals := map[string]bool{}
			for _, m := range methods(t) {
				role := access.Roles[fullName(m)]
				for kind, token := range tokens {
					err := callEmpty(with(t.Context(), token), conn, m)
					what := kind + " " + fullName(m)
					switch {
					case role <= have[kind]:
						require.NotContains(t, []codes.Code{codes.Unauthenticated, codes.PermissionDenied}, statusCode(err), what)
					case have[kind] == access.Everybody:
						requireReason(t, err, codes.Unauthenticated, "UNAUTHENTICATED")
						refusals[err.Error()] = true
					default:
						info := requireReason(t, err, codes.PermissionDenied, "PERMISSION_DENIED")
						require.Equal(t, role.String(), info.GetMetadata()["role"], what)
					}
				}
			}
			require.Len(t, refusals, 1, "one answer for all")
			for kind, token := range tokens {
				if len(token) > 1 {
					require.NotContains(t, log.String(), token[len(access.Prefix):], kind)
				}
			}
			require.Contains(t, log.String(), "Unauthenticated")
		})
	}
}

// A request of a caller without a token takes no memory: it is refused before any of it is received.
func TestRefusedRequestsAreNotReceived(t *testing.T) {
	t.Parallel()
	guard, _ := guardWithTokens(t, slog.New(slog.DiscardHandler))
	metrics := prometheus.NewRegistry()
	conn := connectTo(t, serveOn(t, "tcp", "127.0.0.1:0", func(o *service.ServerOptions) { o.Access, o.Metrics = guard, metrics }))
	_, err := compactordv1.NewSessionServiceClient(conn).AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user(strings.Repeat("x", 100<<20))},
	})
	// A request that were received would be too large.
	requireReason(t, err, codes.Unauthenticated, "UNAUTHENTICATED")
}

// A watch ends when its token does: one that expires, and a JWT whose key the issuer withdraws. Both change after the watch
// has begun, whatever time that takes.
func TestWatchesEndWithTheirToken(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tokens, keys := filepath.Join(folder, "tokens"), filepath.Join(folder, "keys")
	token, key := access.NewToken(), jwttest.NewKey(t, "k")
	hash, err := access.HashOf(token)
	require.NoError(t, err)
	write := func(e access.Entry) {
		require.NoError(t, os.WriteFile(tokens+".new", []byte(e.Line()+"\n"), 0o600))
		require.NoError(t, os.Rename(tokens+".new", tokens))
	}
	mine := access.Entry{Subject: "x", Role: access.Write, Hash: hash}
	write(mine)
	jwttest.Write(t, keys, key)
	guard, err := access.New(access.Options{
		Files: []access.File{{Flag: "tokens", Path: tokens, Read: func(path string) ([]access.Entry, error) {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			return access.ParseTokens(content)
		}}},
		JWT:    jwtsBy(keys),
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Interval: 10 * time.Millisecond,
	})
	require.NoError(t, err)
	conn := connectTo(t, serveOn(t, "tcp", "127.0.0.1:0", func(o *service.ServerOptions) { o.Access = guard }))
	sessions := compactordv1.NewSessionServiceClient(conn)
	for _, c := range []struct {
		token string
		end   func()
	}{
		{token, func() { mine.Expires = time.Now().Add(-time.Second); write(mine) }},
		{key.Sign(t, jwttest.Claims(time.Now(), nil)), func() { jwttest.Write(t, keys, jwttest.NewKey(t, "next")) }},
	} {
		ctx := with(t.Context(), c.token)
		_, err = sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s"})
		require.NoError(t, err)
		_, err = sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{user("x")}})
		require.NoError(t, err)
		watch, err := sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: "s"})
		require.NoError(t, err)
		_, err = watch.Recv()
		require.NoError(t, err, "the watch has begun")
		c.end()
		for err == nil {
			_, err = watch.Recv()
		}
		requireReason(t, err, codes.Unauthenticated, "UNAUTHENTICATED")
		_, err = sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: "s"})
		requireReason(t, err, codes.Unauthenticated, "UNAUTHENTICATED")
	}
}

// jwtsBy says that JWTs of the issuer of tests are taken, by a file of keys.
func jwtsBy(keys string) *access.JWT {
	return &access.JWT{
		Settings: jwt.Settings{
			Keys: keys, Issuer: jwttest.Name, Audiences: []string{jwttest.Audience}, Algorithms: jwt.Algorithms(),
			SubjectClaim: "sub", TenantClaim: "tenant", RoleClaim: "scope",
		},
		Roles: map[string]access.Role{"compactord:read": access.Read, "compactord:write": access.Write, "compactord:admin": access.Admin},
	}
}
