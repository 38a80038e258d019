package jwt

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access/jwt/jwttest"
)

func TestKeysFromAServer(t *testing.T) {
	t.Parallel()
	set := jwttest.Set(t, jwttest.NewKey(t, "k"))
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) }))
	defer plain.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) })
	mux.HandleFunc("/around", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/around", http.StatusFound) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(set[:20])
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = w.Write(make([]byte, maxSetBytes))
		}
	})
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	client := newClient()
	client.Transport = server.Client().Transport
	require.NotZero(t, client.Timeout)
	for path, good := range map[string]bool{
		"/keys": true, "/moved": true, "/around": false, "/plain": false, "/away": false, "/cut": false, "/large": false, "/none": false,
	} {
		text, err := (&remote{url: server.URL + path, client: client}).read(t.Context())
		if path == "/large" {
			require.Len(t, text, maxSetBytes+1)
		}
		if err == nil {
			_, err = parseKeySet(text)
		}
		require.Equal(t, good, err == nil, "%s: %v", path, err)
	}
	_, err := (&remote{url: server.URL + "/keys", client: newClient()}).read(t.Context())
	require.ErrorContains(t, err, "certificate", "only what the system trusts")
}

func TestPlacesOfKeys(t *testing.T) {
	t.Parallel()
	for place, good := range map[string]bool{
		"https://a.example/keys?p=1": true, "/etc/keys.json": true, "keys.json": true,
		"": false, "http://a.example/keys": false, "https://": false, "https://u:p@a.example": false, "file:///x": false, "https://a.example/%zz": false,
	} {
		require.Equal(t, good, CheckPlace(place) == nil, place)
	}
}

// A file is read again when it has changed, and what is broken changes nothing.
func TestKeysFromAFile(t *testing.T) {
	t.Parallel()
	first, second := jwttest.NewKey(t, "first"), jwttest.NewKey(t, "second")
	path := filepath.Join(t.TempDir(), "keys.json")
	require.Error(t, CheckFile(path))
	_, err := newKeys(&file{path: path}, slog.New(slog.DiscardHandler), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = newKeys(&file{path: path}, slog.New(slog.DiscardHandler), nil)
	require.ErrorContains(t, err, "no JSON Web Key Set")
	jwttest.Write(t, path, first)
	require.NoError(t, CheckFile(path))
	require.NoError(t, CheckFile("https://nowhere.invalid/"), "nothing is fetched")
	synctest.Test(t, func(t *testing.T) {
		failing := false
		k, err := newKeys(&file{path: path}, slog.New(slog.DiscardHandler), func(is bool) { failing = is })
		require.NoError(t, err)
		require.Len(t, k.current()["first"], 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); k.run(ctx) }()
		require.NoError(t, os.WriteFile(path, jwttest.Set(t, second)[:30], 0o600))
		<-time.After(2*lookEvery + 1)
		synctest.Wait()
		require.True(t, failing)
		require.Len(t, k.current()["first"], 1)
		jwttest.Write(t, path, first, second)
		require.Len(t, k.named(t.Context(), "second"), 1, "an unknown key has the file read at once")
		jwttest.Write(t, path, second)
		<-time.After(2*lookEvery + 1)
		synctest.Wait()
		require.False(t, failing)
		require.Empty(t, k.current()["first"])
		cancel()
		<-done
	})
}
