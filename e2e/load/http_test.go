package load

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
)

// overHTTP returns the daemon as a client over HTTP/2 calls it.
func (d *daemon) overHTTP(protocol httpapitest.Protocol) *daemon {
	d.b.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	d.b.Cleanup(transport.CloseIdleConnections)
	token, err := access.Find("", strings.TrimPrefix(d.web, "http://"), false)
	require.NoError(d.b, err)
	conn := &withToken{httpapitest.New(d.web, &http.Client{Transport: transport}, protocol), token}
	web := *d
	web.sessions, web.compactions = compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)
	return &web
}

// withToken is a connection that sends a token.
type withToken struct {
	grpc.ClientConnInterface
	token string
}

// Invoke calls a unary RPC.
func (c *withToken) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token)
	return c.ClientConnInterface.Invoke(ctx, method, args, reply, options...)
}

// BenchmarkHTTP is calls over HTTP beside the same ones over gRPC: small ones, and a whole view.
func BenchmarkHTTP(b *testing.B) {
	d := start(b)
	d.create("s", nil, conversation(viewBytes)...)
	asking := &compactordv1.GetSessionRequest{SessionId: "s"}
	for _, c := range []struct {
		name string
		call func(d *daemon)
	}{
		{"call=GetSession", func(d *daemon) {
			if _, err := d.sessions.GetSession(d.b.Context(), asking); err != nil {
				d.b.Fatal(err)
			}
		}},
		{"call=GetLLMView/kB=800", func(d *daemon) { d.view("s", neutral) }},
	} {
		for _, protocol := range []httpapitest.Protocol{httpapitest.Connect, httpapitest.JSON, httpapitest.GRPCWeb, httpapitest.GRPCOverHTTP} {
			web := d.overHTTP(protocol)
			b.Run(fmt.Sprintf("%s/type=%s/base=gRPC", c.name, strings.ReplaceAll(string(protocol), "/", "_")), func(b *testing.B) {
				ours := func() { c.call(web) }
				beside(b, 2, func() { c.call(d) }, ours)
				d.allocations(b, ours)
			})
		}
	}
}
