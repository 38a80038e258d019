//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// identity is what a client shows: its token and its certificate.
type identity struct {
	token     string
	encrypted credentials.TransportCredentials
}

// rotated is a daemon whose tokens, certificates, authorities, model keys and limits are replaced while it serves.
type rotated struct {
	*reloaded
	addr string
	// server signs the daemon's certificates. The files are those that the daemon reads.
	server                         *certificatestest.Authority
	pair                           certificatestest.Pair
	tokens, clientCAs, key, socket string
	storeKeys                      string
	model                          *llmtest.Server
	admin                          *http.Client

	// using is held for reading while a call uses the current identity.
	using sync.RWMutex
	now   identity
	// keys are those that the provider takes.
	keys sync.Map
	// said is what the log has said.
	said strings.Builder
}

func startRotated(t *testing.T) *rotated {
	t.Helper()
	folder := t.TempDir()
	r := &rotated{
		server: certificatestest.NewAuthority(t), model: llmtest.New(t), socket: filepath.Join(folder, "admin.sock"),
		tokens: filepath.Join(folder, "tokens"), clientCAs: filepath.Join(folder, "clients.pem"), key: filepath.Join(folder, "key"),
		storeKeys: filepath.Join(folder, "store.keys"),
	}
	r.pair = r.server.Sign(1, time.Now().Add(time.Hour))
	r.model.Handle(func(req *llmtest.Request) llmtest.Reply {
		if _, takes := r.keys.Load(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")); !takes {
			return llmtest.Status(http.StatusUnauthorized)
		}
		return llmtest.Summary(llmtest.Written{})
	})
	r.admin = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
		},
	}}
	authority := certificatestest.NewAuthority(t)
	r.now = r.identity(access.NewToken(), authority)
	r.put(t, r.tokens, tokenLine(t, r.now.token))
	certificatestest.Replace(t, r.clientCAs, authority.Path)
	r.put(t, r.key, "key-0")
	r.put(t, r.storeKeys, storeKey(0))
	r.keys.Store("key-0", true)
	r.reloaded, r.addr = serveReloaded(t, r.settings(0))
	return r
}

func (r *rotated) settings(round int) string {
	return fmt.Sprintf("store_keys: %s\ntokens: %s\ntls_cert: %s\ntls_key: %s\ntls_client_ca: %s\nadmin_listen: unix:%s\nmax_connections: %d\n"+
		"summarizers:\n  paid: {kind: openai, model: m, base_url: %q, context_window: 200000, api_key_file: %s}\n",
		r.storeKeys, r.tokens, r.pair.Cert, r.pair.Key, r.clientCAs, r.socket, 1000+round, r.model.BaseURL(llmtest.Chat), r.key)
}

func (r *rotated) identity(token string, by *certificatestest.Authority) identity {
	own := by.Sign(time.Now().UnixNano(), time.Now().Add(time.Hour))
	return identity{token: token, encrypted: credentials.NewTLS(r.server.ClientConfig(own))}
}

// storeKey is the line of a key of the store that follows from its number.
func storeKey(n int) string {
	return fmt.Sprintf("k%d:%s\n", n, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(fmt.Sprintf("secret-%d ", n)), 4)[:32]))
}

func tokenLine(t *testing.T, token string) string {
	t.Helper()
	hash, err := access.HashOf(token)
	require.NoError(t, err)
	return access.Entry{Subject: "ci", Role: access.Write, Hash: hash}.Line() + "\n"
}

// put replaces a file in one step.
func (r *rotated) put(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(content), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// with calls over a new connection.
func (r *rotated) with(as identity, call func(sessions compactordv1.SessionServiceClient, compactions compactordv1.CompactionServiceClient) error) error {
	conn, err := grpc.NewClient(r.addr, grpc.WithTransportCredentials(as.encrypted), grpc.WithPerRPCCredentials(access.Bearer(as.token)))
	if err != nil {
		return err
	}
	return errors.Join(call(compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)), conn.Close())
}

// works makes a session and has the model write a summary of it.
func (r *rotated) works(ctx context.Context, as identity, id string) error {
	return r.with(as, func(sessions compactordv1.SessionServiceClient, compactions compactordv1.CompactionServiceClient) error {
		policy := &compactordv1.Policy{
			Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
				Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(1)},
			}},
			Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("paid"), Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum()},
		}
		if _, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy}); err != nil {
			return err
		}
		var messages []*compactordv1.Message
		for range 3 {
			for _, role := range []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT} {
				messages = append(messages, &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{
					Text: &compactordv1.TextPart{Text: strings.Repeat("Rotate what there is. ", 50)},
				}}}})
			}
		}
		if _, err := sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages}); err != nil {
			return err
		}
		stream, err := compactions.Compact(ctx, &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_SessionId{SessionId: id}})
		if err != nil {
			return err
		}
		for {
			if _, err := stream.Recv(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// code is that of a small call.
func (r *rotated) code(as identity) codes.Code {
	return status.Code(r.with(as, func(sessions compactordv1.SessionServiceClient, _ compactordv1.CompactionServiceClient) error {
		_, err := sessions.ListSessions(r.t.Context(), &compactordv1.ListSessionsRequest{PageSize: 1})
		return err
	}))
}

// waitForCode calls until the answer has a code.
func (r *rotated) waitForCode(as identity, code codes.Code) {
	r.t.Helper()
	for r.code(as) != code {
		require.NoError(r.t, r.t.Context().Err())
	}
}

// waitForMetric reads the metrics until they have a line.
func (r *rotated) waitForMetric(line string) {
	r.t.Helper()
	for {
		request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://admin/metrics", nil)
		require.NoError(r.t, err)
		answer, err := r.admin.Do(request)
		require.NoError(r.t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(r.t, errors.Join(err, answer.Body.Close()))
		if strings.Contains(string(body), "\n"+line+"\n") {
			return
		}
	}
}

// saw reads the log until it has said a text.
func (r *rotated) saw(text string) {
	r.t.Helper()
	for !strings.Contains(r.said.String(), text) {
		line, more := <-r.lines
		require.True(r.t, more, "the daemon ended")
		r.said.WriteString(line + "\n")
	}
}

// harm cuts a file in the middle, in place.
func (r *rotated) harm(path string) {
	content, err := os.ReadFile(path)
	require.NoError(r.t, err)
	require.NoError(r.t, os.WriteFile(path, content[:len(content)/2], 0o600))
}

// All that a daemon in a process of its own has to know who calls, to call models and to seal its store is replaced while clients connect,
// write and have summaries written. Files that are half written or broken change nothing, and log and metrics say so. No
// call fails.
func TestRotationOfEverythingUnderLoad(t *testing.T) {
	r := startRotated(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load errgroup.Group
	for n := range 3 {
		load.Go(func() error {
			for i := 0; ctx.Err() == nil; i++ {
				r.using.RLock()
				err := r.works(context.WithoutCancel(ctx), r.now, fmt.Sprintf("%d-%d", n, i))
				r.using.RUnlock()
				if err != nil {
					t.Error(err)
					return err
				}
			}
			return nil
		})
	}
	for round := 1; round <= 3 && !t.Failed(); round++ {
		r.rotate(round)
	}
	stop()
	require.NoError(t, load.Wait())
	require.NotContains(t, r.said.String(), access.Prefix)
	require.NotContains(t, r.said.String(), "key-")
	require.NotContains(t, r.said.String(), strings.TrimPrefix(storeKey(3), "k3:"))
	r.end()
}

// rotate replaces all once.
func (r *rotated) rotate(round int) {
	t := r.t
	r.said.Reset()
	authority, key := certificatestest.NewAuthority(t), fmt.Sprint("key-", round)
	old, next := r.now, r.identity(access.NewToken(), authority)
	oldCAs, err := os.ReadFile(r.clientCAs)
	require.NoError(t, err)
	nextCAs, err := os.ReadFile(authority.Path)
	require.NoError(t, err)

	// Broken: each in another way, round by round.
	whole := tokenLine(t, old.token)
	for _, path := range []string{r.tokens, [...]string{r.pair.Cert, r.pair.Key, r.clientCAs}[round%3]} {
		r.harm(path)
	}
	r.put(t, r.key, [...]string{"", "two\nlines", " \n"}[round%3])
	r.put(t, r.storeKeys, storeKey(round)[:20])
	r.said.WriteString(r.hangUp())
	require.Contains(t, r.said.String(), "key=summarizers.paid.api_key_file")
	require.Contains(t, r.said.String(), "key=store_keys")
	require.Contains(t, r.said.String(), "the configuration was not taken")
	r.waitForMetric(`compactord_tokens_failing{flag="tokens"} 1`)
	r.waitForMetric("compactord_tls_stale 1")
	r.saw("tokens were not read again; those before apply")
	r.saw("the last good ones stay in use")
	require.Equal(t, codes.OK, r.code(old), "what was there before applies")
	require.Equal(t, codes.Unavailable, r.code(identity{old.token, next.encrypted}))

	// Taken: the old ones and the new ones.
	renewed := r.server.Sign(int64(1+round), time.Now().Add(time.Hour))
	certificatestest.Replace(t, r.pair.Cert, renewed.Cert)
	certificatestest.Replace(t, r.pair.Key, renewed.Key)
	r.put(t, r.clientCAs, string(oldCAs)+string(nextCAs))
	r.put(t, r.tokens, whole+tokenLine(t, next.token))
	r.put(t, r.key, key)
	r.put(t, r.storeKeys, storeKey(round)+storeKey(round-1))
	r.keys.Store(key, true)
	r.write(r.settings(round))
	said := r.hangUp()
	require.Contains(t, said, "configuration read again")
	require.Contains(t, said, "the key of summarizers.paid")
	require.Contains(t, said, "the keys of the store")
	require.Contains(t, said, "max_connections")
	require.Contains(t, said, "need_restart=0")
	r.waitForMetric(`compactord_tokens_failing{flag="tokens"} 0`)
	r.waitForMetric("compactord_tls_stale 0")
	r.waitForMetric("compactord_store_older_keys 0")
	r.waitForCode(next, codes.OK)
	require.Equal(t, codes.OK, r.code(old))

	// Withdrawn: only the new ones are left.
	r.using.Lock()
	r.now = next
	r.keys.Delete(fmt.Sprint("key-", round-1))
	r.using.Unlock()
	r.put(t, r.clientCAs, string(nextCAs))
	r.put(t, r.tokens, tokenLine(t, next.token))
	r.put(t, r.storeKeys, storeKey(round))
	r.said.WriteString(r.hangUp())
	r.waitForCode(identity{next.token, old.encrypted}, codes.Unavailable)
	r.waitForCode(identity{old.token, next.encrypted}, codes.Unauthenticated)
	require.Equal(t, codes.OK, r.code(next))
}
