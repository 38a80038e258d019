// Command clientmodel lets an agent's own model write the summaries of its sessions: compactord makes the prompts,
// checks the answers and commits them.
//
// The model is a program that reads the prompt on its standard input and writes the answer to its standard output. The
// prompt is the system prompt, an empty line, and the user message.
//
//	go run ./cmd/compactord serve                                  # in one terminal
//	go run ./examples/clientmodel -session ID my-model --fast      # in another
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:7440", "the daemon's `address`, host:port or unix:/path")
	session := flag.String("session", "", "the `id` of the session to compact")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *addr, *session, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "clientmodel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, addr, session string, program []string) error {
	if session == "" || len(program) == 0 {
		return errors.New("name the session with -session, and the program that is the model")
	}
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
	committed, err := compact(ctx, compactordv1.NewCompactionServiceClient(conn), session, byProgram(program))
	if err != nil {
		return err
	}
	if skipped := committed.GetSkipped(); skipped != nil {
		_, err := fmt.Fprintln(out, "skipped:", skipped.GetMessage())
		return err
	}
	entry := committed.GetCompleted().GetCompaction()
	_, err = fmt.Fprintf(out, "compacted from %d tokens to %d; the summary is by %s\n",
		entry.GetTokensBefore(), entry.GetTokensAfter(), entry.GetProvenance().GetSummarizer())
	return err
}

// byProgram returns a model that runs a program for each prompt.
func byProgram(program []string) model {
	return func(ctx context.Context, system, user, complaint string) (string, error) {
		if complaint != "" {
			user += "\n\nYour last answer was refused: " + complaint
		}
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(system+"\n\n"+user), os.Stderr
		answer, err := cmd.Output()
		return string(answer), err
	}
}
