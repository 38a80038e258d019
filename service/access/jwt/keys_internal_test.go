package jwt

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access/jwt/jwttest"
)

// scripted is a source that answers what it is told to, after a time.
type scripted struct {
	mu    sync.Mutex
	text  []byte
	err   error
	takes time.Duration
	reads int
}

func (s *scripted) read(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	select {
	case <-time.After(s.takes):
		return s.text, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *scripted) answer(text []byte, err error, takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.err, s.takes = text, err, takes
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

func (s *scripted) due() bool { return true }
func (s *scripted) wait(failed bool) time.Duration {
	return (&remote{refresh: 15 * time.Minute}).wait(failed)
}
func (s *scripted) atOnce() ([]byte, bool, error) { return nil, false, nil }
func (s *scripted) name() string                  { return "https://issuer.example/keys" }

// reading runs keys from a source in a bubble, until stop.
func reading(t *testing.T, from *scripted) (k *keys, log *strings.Builder, failing *atomic.Bool, stop func()) {
	t.Helper()
	log, failing = &strings.Builder{}, &atomic.Bool{}
	k, err := newKeys(from, slog.New(slog.NewTextHandler(log, nil)), failing.Store)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.run(ctx) }()
	return k, log, failing, func() { cancel(); <-done }
}

func TestKeysOfAURLAreKeptUpToDate(t *testing.T) {
	t.Parallel()
	first, second, third := jwttest.NewKey(t, "first"), jwttest.NewKey(t, "second"), jwttest.NewKey(t, "third")
	synctest.Test(t, func(t *testing.T) {
		from := &scripted{text: jwttest.Set(t, first), takes: time.Second}
		k, log, failing, stop := reading(t, from)
		defer stop()
		require.Len(t, k.named(t.Context(), "first"), 1, "a call before the first answer waits for it")
		require.Equal(t, 1, from.count())

		// The issuer rotates; calls with the new key, however many, wait for one reading.
		from.answer(jwttest.Set(t, first, second), nil, time.Second)
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				if len(k.named(t.Context(), "second")) != 1 {
					t.Error("a call with the new key was refused")
				}
			})
		}
		calls.Wait()
		require.Equal(t, 2, from.count())

		// Unknown keys cause no other reading for a while, and calls with them do not wait.
		began := time.Now()
		require.Empty(t, k.named(t.Context(), "junk"))
		require.Equal(t, began, time.Now())
		require.Equal(t, 2, from.count())
		<-time.After(pause)
		require.Empty(t, k.named(t.Context(), "junk"))
		require.Equal(t, 3, from.count())

		// Broken answers change nothing, are told, and are tried again sooner than in a refresh.
		for _, broken := range []struct {
			text []byte
			err  error
		}{{[]byte("<html>"), nil}, {jwttest.Set(t), nil}, {nil, errors.New("the issuer is away")}, {jwttest.Set(t, third)[:40], nil}} {
			from.answer(broken.text, broken.err, 0)
			k.lookNow()
			synctest.Wait()
			require.True(t, failing.Load())
			require.Len(t, k.named(t.Context(), "first"), 1)
			require.Len(t, k.named(t.Context(), "second"), 1)
		}
		require.Contains(t, log.String(), "the issuer is away")
		from.answer(jwttest.Set(t, second, third), nil, 0)
		<-time.After(retryAfter)
		synctest.Wait()
		require.False(t, failing.Load())
		require.Len(t, k.current()["third"], 1, "without being asked")
		require.Empty(t, k.current()["first"], "a key that the issuer has withdrawn")

		reads := from.count()
		<-time.After(15*time.Minute - time.Second)
		synctest.Wait()
		require.Equal(t, reads, from.count())
		<-time.After(time.Second)
		synctest.Wait()
		require.Equal(t, reads+1, from.count())
	})
}

// Strangers cannot have any number of calls wait for an issuer that is slow, and calls wait no longer than their context.
func TestFewCallsWaitForKeys(t *testing.T) {
	t.Parallel()
	key := jwttest.NewKey(t, "k")
	synctest.Test(t, func(t *testing.T) {
		from := &scripted{text: jwttest.Set(t, key), takes: time.Hour}
		k, _, _, stop := reading(t, from)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var calls sync.WaitGroup
		for range maxWaiting {
			calls.Go(func() { k.named(ctx, "junk") })
		}
		synctest.Wait()
		began := time.Now()
		require.Empty(t, k.named(ctx, "junk"), "one too many")
		require.Equal(t, began, time.Now())
		calls.Wait()
		require.Equal(t, time.Minute, time.Since(began))
		ended := make(chan struct{})
		go func() { defer close(ended); k.named(t.Context(), "junk") }()
		synctest.Wait()
		stop()
		<-ended
		require.Empty(t, k.named(t.Context(), "junk"), "nothing reads any more")
	})
}

// Keys rotate every minute under load, and two answers of three are broken. Each token is signed by a key that the issuer has
// shown before: no call fails.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	rotated := make([]jwttest.Key, 10)
	for i := range rotated {
		rotated[i] = jwttest.NewKey(t, string(rune('a'+i)))
	}
	synctest.Test(t, func(t *testing.T) {
		from := &scripted{text: jwttest.Set(t, rotated[0])}
		k, _, _, stop := reading(t, from)
		defer stop()
		require.Len(t, k.named(t.Context(), rotated[0].ID), 1)
		v := &Verifier{settings: settingsFor(""), algorithms: []jose.SignatureAlgorithm{jose.ES256}, now: time.Now, keys: k}
		var current atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for range 4 {
			load.Go(func() {
				for ctx.Err() == nil {
					key := rotated[current.Load()]
					if _, err := v.Verify(t.Context(), key.Sign(t, jwttest.Claims(time.Now(), nil))); err != nil {
						t.Errorf("a token of the key %s: %v", key.ID, err)
					}
					<-time.After(time.Second)
				}
			})
		}
		for next := 1; next < len(rotated); next++ {
			for _, broken := range []string{"", `{"keys":[`} {
				from.answer([]byte(broken), nil, time.Second)
				k.lookNow()
				<-time.After(20 * time.Second)
			}
			from.answer(jwttest.Set(t, rotated[next-1], rotated[next]), nil, 3*time.Second)
			<-time.After(20 * time.Second)
			// No refresh was asked for: the first call with the new key has the keys read, or the retry had.
			current.Store(int64(next))
		}
		<-time.After(time.Minute)
		cancel()
		load.Wait()
		require.Less(t, from.count(), 100)
	})
}
