package torture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mostGrowth is how many times as much memory a daemon may have at its peak under an attack as without it. Before requests
// were counted, it was ten times and more.
const mostGrowth = 4

// Requests of very many empty messages take no more memory than usual ones of as many bytes, also where clients leave.
func TestMemoryOfEmptyMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts six daemons, and sends them large requests")
	}
	for _, mib := range []int{2, 8, 16} {
		t.Run(fmt.Sprintf("%d MiB", mib), func(t *testing.T) {
			usual := serve(t)
			usual.create(t, "s", said(strings.Repeat("some text ", mib<<20/10)))
			attacked := serve(t)
			attacked.create(t, "s")
			request := append([]byte{0x0a, 1, 's'}, bytes.Repeat([]byte{0x12, 0}, mib<<20/2)...)
			for range 3 {
				p := attacked.poster(t)
				ctx, leave := context.WithCancel(t.Context())
				_, _ = p.append(ctx, io.MultiReader(announced(len(request)), bytes.NewReader(request), atEnd(leave)))
			}
			code, err := attacked.poster(t).append(t.Context(), io.MultiReader(announced(len(request)), bytes.NewReader(request)))
			require.NoError(t, err)
			require.Equal(t, codes.InvalidArgument, code)
			requireMuchLike(t, usual, attacked)
		})
	}
}

// Twenty times as many requests that are not sent to their end take as much memory.
func TestMemoryOfUnfinishedRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two daemons, and sends them hundreds of large requests")
	}
	unfinished := func(requests int) *daemon {
		d := serve(t, "--max-message-bytes", "4194304", "--max-inflight-bytes", "33554432")
		p := d.poster(t)
		ctx, end := context.WithCancel(t.Context())
		var all, sent sync.WaitGroup
		for range requests {
			sent.Add(1)
			all.Go(func() {
				body := io.MultiReader(announced(1<<20), io.LimitReader(zeros{}, 1<<20-1), atEnd(sent.Done), untilEnd(ctx.Done()))
				_, err := p.append(ctx, body)
				if err == nil {
					t.Error("an unfinished request was answered")
				}
			})
		}
		sent.Wait()
		// The daemon serves others meanwhile.
		d.create(t, "bystander", said("one line"))
		end()
		all.Wait()
		return d
	}
	requireMuchLike(t, unfinished(40), unfinished(800))
}

// requireMuchLike fails where one daemon had far more memory than another one.
func requireMuchLike(t *testing.T, usual, attacked *daemon) {
	t.Helper()
	few, many := usual.peakMiB(), attacked.peakMiB()
	t.Logf("peak %d MiB as usual, %d MiB under the attack", few, many)
	require.LessOrEqual(t, many, mostGrowth*few)
}

// poster is a client on a connection of its own that sends what it likes.
type poster struct {
	transport      *http.Transport
	address, token string
}

func (d *daemon) poster(t *testing.T) *poster {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	token, err := daemontest.Token(d.address)
	require.NoError(t, err)
	p := &poster{&http.Transport{Protocols: protocols}, d.address, token}
	t.Cleanup(p.transport.CloseIdleConnections)
	return p
}

// append calls AppendMessages, and returns the status.
func (p *poster) append(ctx context.Context, body io.Reader) (codes.Code, error) {
	url := "http://" + p.address + compactordv1.SessionService_AppendMessages_FullMethodName
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	request.Header = http.Header{
		"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Authorization": {"Bearer " + p.token},
	}
	answer, err := p.transport.RoundTrip(request)
	if err != nil {
		return 0, fmt.Errorf("send a request: %w", err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return 0, fmt.Errorf("read an answer: %w", err)
	}
	code, err := strconv.ParseUint(answer.Header.Get("Grpc-Status")+answer.Trailer.Get("Grpc-Status"), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("read a status: %w", err)
	}
	return codes.Code(code), nil
}

// announced is the header of a message of so many bytes.
func announced(length int) io.Reader {
	return bytes.NewReader([]byte{0, byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)})
}

// zeros is a text without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// atEnd is an empty text, and tells when it is read.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// untilEnd is a text of which nothing comes.
type untilEnd <-chan struct{}

func (end untilEnd) Read([]byte) (int, error) {
	<-end
	return 0, errors.New("the test is over")
}
