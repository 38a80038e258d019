package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/access/jwt/jwttest"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
	"github.com/compactord/compactord/storage/anystore"
)

// bearer is a token, and what it opens.
type bearer struct {
	token  string
	role   access.Role
	tenant string
}

// bearers returns tokens of every kind by their names, and the settings of a daemon that knows them.
func bearers(t *testing.T) (all map[string]bearer, settings string) {
	t.Helper()
	folder := t.TempDir()
	tokens, keys := filepath.Join(folder, "tokens"), filepath.Join(folder, "keys.json")
	all = map[string]bearer{"no token": {}, "malformed": {token: "x"}, "wrong": {token: access.NewToken()}}
	var lines strings.Builder
	add := func(name string, opens access.Role, e access.Entry) {
		token := access.NewToken()
		hash, err := access.HashOf(token)
		require.NoError(t, err)
		e.Subject, e.Hash = "x", hash
		lines.WriteString(e.Line() + "\n")
		all[name] = bearer{token, opens, e.Tenant}
	}
	add("expired", access.Everybody, access.Entry{Role: access.Admin, Expires: time.Now().Add(-time.Hour)})
	for role := access.Read; role <= access.Admin; role++ {
		add(role.String(), role, access.Entry{Role: role})
		add(role.String()+" of a tenant", role, access.Entry{Role: role, Tenant: "acme"})
	}
	require.NoError(t, os.WriteFile(tokens, []byte(lines.String()), 0o600))
	key, stranger := jwttest.NewKey(t, "k"), jwttest.NewKey(t, "k")
	jwttest.Write(t, keys, key)
	sign := func(name string, by jwttest.Key, opens access.Role, claims map[string]any) {
		all[name] = bearer{by.Sign(t, jwttest.Claims(time.Now(), claims)), opens, "acme"}
	}
	for role := access.Read; role <= access.Admin; role++ {
		sign("JWT to "+role.String(), key, role, map[string]any{"scope": "compactord:" + role.String()})
	}
	sign("JWT of a stranger", stranger, access.Everybody, nil)
	sign("JWT that has expired", key, access.Everybody, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})
	sign("JWT without a role", key, access.Everybody, map[string]any{"scope": "openid"})
	sign("JWT without a tenant", key, access.Everybody, map[string]any{"tenant": nil})
	return all, "tokens: " + tokens + "\nreflection: true\njwt: {keys: " + keys + ", issuer: " + jwttest.Name + ", audience: " + jwttest.Audience + "}\n"
}

// rpcs are all RPCs of a daemon: those of the contract, as its descriptors have them, and of health and reflection.
func rpcs() (all []protoreflect.MethodDescriptor) {
	for _, in := range []protoreflect.FullName{"compactord.v1", "grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha"} {
		protoregistry.GlobalFiles.RangeFilesByPackage(in, func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				for n := range file.Services().Get(i).Methods().Len() {
					all = append(all, file.Services().Get(i).Methods().Get(n))
				}
			}
			return true
		})
	}
	return all
}

// answer returns the error of the first answer to an empty request.
func answer(ctx context.Context, conn grpc.ClientConnInterface, m protoreflect.MethodDescriptor) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	if !m.IsStreamingServer() {
		return conn.Invoke(ctx, name, dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output()))
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: m.IsStreamingClient()}, name)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(dynamicpb.NewMessage(m.Input())); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !m.IsStreamingClient() {
		_ = stream.CloseSend()
	}
	return stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
}

// overHTTP returns a client of the address of --http-listen, and the URL for it.
func overHTTP(t *testing.T, listen string, encrypted *tls.Config) (client *http.Client, base string) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: encrypted, ForceAttemptHTTP2: true}
	base = "http://" + listen
	if path, is := strings.CutPrefix(listen, "unix:"); is {
		base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	if encrypted != nil {
		base = "https://" + listen
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, base
}

// requireAdmission requires that a call with a token got in, or not, as its role says.
func requireAdmission(t *testing.T, err error, b bearer, m protoreflect.MethodDescriptor, role access.Role, what string) {
	t.Helper()
	code := status.Code(err)
	switch {
	case m.Name() == "Backup" && b.tenant != "" && b.role == access.Admin:
		require.Equal(t, codes.PermissionDenied, code, what)
	case b.role >= role:
		require.NotContains(t, []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.Unavailable}, code, "%s: %v", what, err)
	case b.role == access.Everybody:
		require.Equal(t, codes.Unauthenticated, code, what)
	default:
		require.Equal(t, codes.PermissionDenied, code, what)
	}
}

// Every RPC with every kind of token over every kind of connection: nobody gets in where they do not belong.
func TestNobodyGetsInWhereTheyDoNotBelong(t *testing.T) {
	a, clients := certificatestest.NewAuthority(t), certificatestest.NewAuthority(t)
	pair, own := signed(a, 1), signed(clients, 2)
	encrypted := []string{"--tls-cert", pair.Cert, "--tls-key", pair.Key}
	mutual := append(encrypted[:4:4], "--tls-client-ca", clients.Path)
	for name, c := range map[string]struct {
		listen, http string
		flags        []string
		how          credentials.TransportCredentials
		encrypted    *tls.Config
	}{
		"TCP":  {"127.0.0.1:0", freePort(t), nil, insecure.NewCredentials(), nil},
		"unix": {"unix:" + filepath.Join(t.TempDir(), "d.sock"), "unix:" + filepath.Join(t.TempDir(), "h.sock"), nil, insecure.NewCredentials(), nil},
		"TLS":  {"127.0.0.1:0", freePort(t), encrypted, credentials.NewTLS(a.ClientConfig()), a.ClientConfig()},
		"mTLS": {"127.0.0.1:0", freePort(t), mutual, credentials.NewTLS(a.ClientConfig(own)), a.ClientConfig(own)},
	} {
		t.Run(name, func(t *testing.T) {
			tokens, settings := bearers(t)
			path := sample.File(t, "config.yaml", settings)
			d := programtest.Serving(t, append([]string{
				"--listen", c.listen, "--http-listen", c.http, "--store", anystore.Place(t), "--config", path,
			}, c.flags...)...)
			conn, err := grpc.NewClient(d.Addr, grpc.WithTransportCredentials(c.how))
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close()) }()
			client, base := overHTTP(t, c.http, c.encrypted)
			ways := map[string]grpc.ClientConnInterface{"gRPC": conn}
			for _, protocol := range []httpapitest.Protocol{httpapitest.JSON, httpapitest.Connect, httpapitest.GRPCWeb} {
				ways[string(protocol)] = httpapitest.New(base, client, protocol)
			}
			refusals := map[string]bool{}
			for _, m := range rpcs() {
				role, known := access.Roles["/"+string(m.Parent().FullName())+"/"+string(m.Name())]
				require.True(t, known, m.FullName())
				for way, conn := range ways {
					if way != "gRPC" && m.IsStreamingClient() {
						continue
					}
					for kind, b := range tokens {
						ctx := t.Context()
						if b.token != "" {
							ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+b.token)
						}
						err, what := answer(ctx, conn, m), way+" "+kind+" "+string(m.FullName())
						requireAdmission(t, err, b, m, role, what)
						if b.role == access.Everybody && role != access.Everybody {
							refusals[err.Error()] = true
						}
					}
				}
			}
			require.Len(t, refusals, 1, "one answer for all")
			require.Equal(t, terminal.ExitDone, d.Stop())
			for kind, b := range tokens {
				require.False(t, len(b.token) > 1 && strings.Contains(d.Log.String(), b.token), kind)
			}
		})
	}
	t.Run("mTLS without a certificate", func(t *testing.T) {
		tokens, settings := bearers(t)
		web := freePort(t)
		d := programtest.Serving(t, append([]string{
			"--listen", "127.0.0.1:0", "--http-listen", web, "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", settings),
		}, mutual...)...)
		for name, how := range map[string]credentials.TransportCredentials{
			"none": credentials.NewTLS(a.ClientConfig()), "another authority's": credentials.NewTLS(a.ClientConfig(pair)), "plaintext": insecure.NewCredentials(),
		} {
			conn, err := grpc.NewClient(d.Addr, grpc.WithTransportCredentials(how))
			require.NoError(t, err)
			for _, m := range rpcs() {
				ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+tokens["admin"].token)
				require.Equal(t, codes.Unavailable, status.Code(answer(ctx, conn, m)), "%s %s", name, m.FullName())
			}
			require.NoError(t, conn.Close())
		}
		for name, how := range map[string]*tls.Config{"none": a.ClientConfig(), "another authority's": a.ClientConfig(pair), "plaintext": nil} {
			client, base := overHTTP(t, web, how)
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+tokens["admin"].token)
			for _, m := range rpcs() {
				if !m.IsStreamingClient() {
					require.Error(t, answer(ctx, httpapitest.New(base, client, httpapitest.Connect), m), "%s %s", name, m.FullName())
				}
			}
		}
	})
}
