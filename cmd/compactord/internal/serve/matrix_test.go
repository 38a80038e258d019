package serve_test

import (
	"context"
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
func answer(ctx context.Context, conn *grpc.ClientConn, m protoreflect.MethodDescriptor) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, name)
	if err != nil {
		return err
	}
	_ = stream.SendMsg(dynamicpb.NewMessage(m.Input()))
	if !m.IsStreamingClient() {
		_ = stream.CloseSend()
	}
	return stream.RecvMsg(dynamicpb.NewMessage(m.Output()))
}

// Every RPC with every kind of token over every kind of connection: nobody gets in where they do not belong.
func TestNobodyGetsInWhereTheyDoNotBelong(t *testing.T) {
	a, clients := certificatestest.NewAuthority(t), certificatestest.NewAuthority(t)
	pair, own := signed(a, 1), signed(clients, 2)
	encrypted := []string{"--tls-cert", pair.Cert, "--tls-key", pair.Key}
	mutual := append(encrypted[:4:4], "--tls-client-ca", clients.Path)
	for name, c := range map[string]struct {
		listen string
		flags  []string
		how    credentials.TransportCredentials
	}{
		"TCP":  {"127.0.0.1:0", nil, insecure.NewCredentials()},
		"unix": {"unix:" + filepath.Join(t.TempDir(), "d.sock"), nil, insecure.NewCredentials()},
		"TLS":  {"127.0.0.1:0", encrypted, credentials.NewTLS(a.ClientConfig())},
		"mTLS": {"127.0.0.1:0", mutual, credentials.NewTLS(a.ClientConfig(own))},
	} {
		t.Run(name, func(t *testing.T) {
			tokens, settings := bearers(t)
			path := sample.File(t, "config.yaml", settings)
			d := programtest.Serving(t, append([]string{"--listen", c.listen, "--store", sample.StorePath(t), "--config", path}, c.flags...)...)
			conn, err := grpc.NewClient(d.Addr, grpc.WithTransportCredentials(c.how))
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close()) }()
			refusals := map[string]bool{}
			for _, m := range rpcs() {
				role, known := access.Roles["/"+string(m.Parent().FullName())+"/"+string(m.Name())]
				require.True(t, known, m.FullName())
				for kind, b := range tokens {
					ctx := t.Context()
					if b.token != "" {
						ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+b.token)
					}
					err, what := answer(ctx, conn, m), kind+" "+string(m.FullName())
					code := status.Code(err)
					switch {
					case m.Name() == "Backup" && b.tenant != "" && b.role == access.Admin:
						require.Equal(t, codes.PermissionDenied, code, what)
					case b.role >= role:
						require.NotContains(t, []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.Unavailable}, code, "%s: %v", what, err)
					case b.role == access.Everybody:
						require.Equal(t, codes.Unauthenticated, code, what)
						refusals[err.Error()] = true
					default:
						require.Equal(t, codes.PermissionDenied, code, what)
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
		d := programtest.Serving(t, append([]string{
			"--listen", "127.0.0.1:0", "--store", sample.StorePath(t), "--config", sample.File(t, "config.yaml", settings),
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
	})
}
