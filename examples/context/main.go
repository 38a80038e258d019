// Command context tells one story of a coding agent, and prints the view after each of its steps: what the agent writes
// into its context, selects for one request, compresses where it stands, and isolates in a session of its own.
//
//	go run ./cmd/compactord serve          # in one terminal
//	go run ./examples/context              # in another
//
// docs/context.md explains the steps with the views that this program prints.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:7440", "the daemon's `address`, host:port or unix:/path")
	session := flag.String("session", "", "the `id` of the session that is created; default: shop and random letters")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *addr, cmp.Or(*session, "shop-"+rand.Text())); err != nil {
		fmt.Fprintln(os.Stderr, "context:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, addr, session string) error {
	token, err := access.Find("", addr, false)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(access.Bearer(token)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	a := &agent{
		sessions:    compactordv1.NewSessionServiceClient(conn),
		compactions: compactordv1.NewCompactionServiceClient(conn),
		out:         out,
		session:     session,
	}
	for _, step := range []func(context.Context) error{a.begin, a.write, a.selects, a.compress, a.isolate} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// agent is what the agent's program keeps.
type agent struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
	out         io.Writer
	session     string
}
